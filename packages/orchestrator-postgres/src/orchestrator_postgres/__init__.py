"""Keep requests, flows and executions in PostgreSQL."""
