"""Run claimed executions and call the integrations they need."""
