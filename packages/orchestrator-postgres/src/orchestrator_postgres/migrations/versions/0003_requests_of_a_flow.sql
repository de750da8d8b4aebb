-- Which requests a flow version still has, and in which states: asked at every start, flow by flow.

CREATE INDEX ix_request_flow_state ON orchestrator.request_instance (flow_id, current_state);
