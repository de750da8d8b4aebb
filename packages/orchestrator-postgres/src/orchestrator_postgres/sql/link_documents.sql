-- Promises: each document is linked to its request, in the name of whoever sent the event; one that is linked already
--   stays as it is.
-- Locks: document_reference, the new rows. Indexes: execution_pkey,
--   document_reference_request_id_document_type_storage_document_key.
INSERT INTO orchestrator.document_reference (
  id, request_id, document_type, storage_document_id, mime_type, size_bytes, checksum, created_by
)
SELECT
  given.id, given.request_id, given.document_type, given.storage_document_id, given.mime_type, given.size_bytes,
  given.checksum, execution.actor_subject
FROM json_to_recordset(%(rows)s::json) AS given (
  id uuid, request_id uuid, execution_id uuid, document_type text, storage_document_id text, mime_type text,
  size_bytes bigint, checksum text
)
CROSS JOIN LATERAL (
  -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
  SELECT execution.actor_subject FROM orchestrator.execution WHERE execution.id = given.execution_id OFFSET 0
) AS execution
ON CONFLICT (request_id, document_type, storage_document_id) DO NOTHING
