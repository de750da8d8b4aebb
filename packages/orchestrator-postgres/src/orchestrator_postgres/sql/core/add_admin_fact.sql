-- Made of orchestrator_postgres.core_statements by `make statements`.
INSERT INTO orchestrator.admin_audit (action, actor_subject, flow_id, type_key, checksum, correlation_id, detail) VALUES (%(action)s::VARCHAR, %(actor)s::VARCHAR, %(flow)s::UUID, %(type)s::VARCHAR, (SELECT orchestrator.flow_definition.checksum
FROM orchestrator.flow_definition
WHERE orchestrator.flow_definition.id = %(flow)s::UUID), %(correlation)s::VARCHAR, %(detail)s::JSONB) RETURNING orchestrator.admin_audit.id
