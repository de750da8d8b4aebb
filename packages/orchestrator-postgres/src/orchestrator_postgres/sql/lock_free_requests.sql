-- Promises: those of the requests that nobody else holds at this moment are locked until the transaction ends.
-- Locks: request_instance, in the order of their ids, FOR UPDATE SKIP LOCKED. What is passed over is busy, not lost.
-- Index: request_instance_pkey.
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = ANY (%(request_ids)s::uuid[])
ORDER BY request.id
FOR UPDATE SKIP LOCKED
