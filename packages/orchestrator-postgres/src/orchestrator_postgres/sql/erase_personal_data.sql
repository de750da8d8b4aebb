-- Promises: each request is erased with its entry in the history, or left with the reason why.
-- Locks: request_instance first, those that are free, in the order of ids; then what hangs on it.
-- Indexes: request_instance_pkey and those on request_id and execution_id.
SELECT
  due.id,
  orchestrator.erase_personal_data(
    due.id, due.revision, %(open_requests)s,
    due.entry_id, due.actor, due.detail, due.salt, due.detail_hash, due.content_hash
  ) AS outcome
FROM (
  SELECT *
  FROM json_to_recordset(%(rows)s::json) AS given (
    id uuid, revision bigint, entry_id uuid, actor text, detail jsonb, salt text, detail_hash text, content_hash text
  )
  ORDER BY given.id
  OFFSET 0
) AS due
