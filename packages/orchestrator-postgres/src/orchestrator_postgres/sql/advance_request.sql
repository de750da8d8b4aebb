-- Promises: the request's revision, state and data move on as told, and the fact is the next link of its history;
--   both or neither. No row if the request isn't at the revision and in the state that the move starts from.
-- Locks: request_instance, one row (held already by the caller's first statement). Index: request_instance_pkey.
-- The link is SHA-256 over four lines: previous head, sequence, moment in UTC microseconds, content hash.
WITH moment AS MATERIALIZED (
  SELECT clock_timestamp() AS at
),
advanced AS (
  UPDATE orchestrator.request_instance AS request
  SET
    revision = request.revision + %(revision_step)s,
    current_state = coalesce(%(to_state)s, request.current_state),
    data = coalesce(%(data)s::jsonb, request.data),
    updated_at = CASE WHEN %(revision_step)s > 0 THEN moment.at ELSE request.updated_at END,
    audit_sequence = request.audit_sequence + 1,
    audit_head = encode(
      sha256(
        convert_to(
          request.audit_head || E'\n'
          || (request.audit_sequence + 1)::text || E'\n'
          || to_char(moment.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || E'\n'
          || %(content_hash)s,
          'UTF8'
        )
      ),
      'hex'
    )
  FROM moment
  WHERE request.id = %(request_id)s AND request.revision = %(from_revision)s
  RETURNING request.id, request.updated_at, request.audit_sequence, request.audit_head, moment.at
),
written AS (
  INSERT INTO orchestrator.audit_entry (
    id, request_id, execution_id, sequence, kind, actor_subject, flow_id, from_state, to_state,
    detail, salt, detail_hash, head, created_at
  )
  SELECT
    %(entry_id)s, advanced.id, %(execution_id)s, advanced.audit_sequence, %(kind)s, %(actor)s, %(flow_id)s,
    %(fact_from_state)s, %(fact_to_state)s, %(detail)s, %(salt)s, %(detail_hash)s, advanced.audit_head, advanced.at
  FROM advanced
)
SELECT updated_at FROM advanced
