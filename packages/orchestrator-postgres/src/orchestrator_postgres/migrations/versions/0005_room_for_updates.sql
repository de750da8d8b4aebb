-- Room on each page for the next version of its rows, so that an update which changes no indexed column writes no index
-- entry. It holds for pages that are filled from now on; nothing is rewritten.

-- A checkpoint moves on once as a rule, and with it all those that were added in the same batch.
ALTER TABLE orchestrator.action_execution SET (fillfactor = 45);

-- A request's data, revision and history move on at moments of their own.
ALTER TABLE orchestrator.request_instance SET (fillfactor = 70);
