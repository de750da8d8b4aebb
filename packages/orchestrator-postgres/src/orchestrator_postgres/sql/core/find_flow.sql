-- Made of orchestrator_postgres.core_statements by `make statements`.
SELECT orchestrator.flow_definition.id, orchestrator.flow_definition.flow_key, orchestrator.flow_definition.version, orchestrator.flow_definition.status, orchestrator.flow_definition.schema_version, orchestrator.flow_definition.definition, orchestrator.flow_definition.checksum, orchestrator.flow_definition.contracts, orchestrator.flow_definition.revision, orchestrator.flow_definition.created_at, orchestrator.flow_definition.created_by, orchestrator.flow_definition.published_at
FROM orchestrator.flow_definition
WHERE orchestrator.flow_definition.id = %(id)s::UUID
