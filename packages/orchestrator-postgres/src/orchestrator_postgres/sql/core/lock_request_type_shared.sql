-- Made of orchestrator_postgres.core_statements by `make statements`.
SELECT orchestrator.request_type.type_key, orchestrator.request_type.active_flow_id, orchestrator.request_type.enabled, orchestrator.request_type.revision
FROM orchestrator.request_type
WHERE orchestrator.request_type.type_key = %(key)s::VARCHAR FOR SHARE
