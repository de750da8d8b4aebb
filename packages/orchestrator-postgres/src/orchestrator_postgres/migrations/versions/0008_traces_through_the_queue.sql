-- Where in a trace an event was accepted, so that whoever runs it later, in another process, belongs to the same trace.
-- A column without a default: no row is rewritten, and code that doesn't know of it goes on writing.

ALTER TABLE orchestrator.execution ADD COLUMN trace_parent varchar(55);
