-- Promises: the published versions that new requests get or that requests short of a terminal state go on with.
-- Locks: none. Indexes: ix_request_flow_state, one probe for each state that isn't terminal.
SELECT flow.id, flow.flow_key, flow.version, flow.contracts
FROM orchestrator.flow_definition AS flow
WHERE flow.status <> 'DRAFT'
  AND (
    flow.status = 'PUBLISHED'
    AND EXISTS (SELECT FROM orchestrator.request_type WHERE request_type.active_flow_id = flow.id)
    OR EXISTS (
      SELECT FROM jsonb_array_elements(flow.definition -> 'states') AS state (body)
      WHERE state.body -> 'terminal' IS DISTINCT FROM 'true'::jsonb
        AND EXISTS (
          SELECT FROM orchestrator.request_instance AS request
          WHERE request.flow_id = flow.id AND request.current_state = state.body ->> 'key'
        )
    )
  )
ORDER BY flow.flow_key COLLATE "C", flow.version
