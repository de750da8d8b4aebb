-- Promises: the request is locked until the transaction ends, or no row if the actor may not see it.
-- Locks: request_instance, one row, FOR UPDATE. Index: request_instance_pkey.
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = %(request_id)s
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
FOR UPDATE
