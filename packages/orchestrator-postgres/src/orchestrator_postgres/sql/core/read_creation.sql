-- Made of orchestrator_postgres.core_statements by `make statements`.
SELECT orchestrator.request_creation.payload_hash, orchestrator.request_creation.request_id
FROM orchestrator.request_creation
WHERE orchestrator.request_creation.actor_subject = %(actor_subject)s::VARCHAR AND orchestrator.request_creation.business_scope = %(business_scope)s::VARCHAR AND orchestrator.request_creation.idempotency_key = %(idempotency_key)s::VARCHAR
