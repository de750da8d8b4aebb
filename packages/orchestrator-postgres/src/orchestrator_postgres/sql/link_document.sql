-- Promises: the document is linked to the request; one that is linked already stays as it is.
-- Locks: document_reference, the new row. Index: document_reference_request_id_document_type_storage_document_key.
INSERT INTO orchestrator.document_reference (
  id, request_id, document_type, storage_document_id, mime_type, size_bytes, checksum, created_by
)
VALUES (
  %(id)s, %(request_id)s, %(document_type)s, %(storage_document_id)s, %(mime_type)s, %(size_bytes)s, %(checksum)s,
  %(created_by)s
)
ON CONFLICT (request_id, document_type, storage_document_id) DO NOTHING
