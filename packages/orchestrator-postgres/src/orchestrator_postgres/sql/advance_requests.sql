-- Promises: each request's revision, state and data move on as told, and its fact is the next link of its history;
--   both or neither. No row for a request that isn't where its move starts from: at the given revision or, where
--   none is given, as it was when the event of the fact's execution was accepted.
-- Locks: request_instance, the rows (held already by the caller's first statement). Indexes: request_instance_pkey
--   and execution_pkey; a row that is locked stays in its place.
-- The link is SHA-256 over four lines: previous head, sequence, moment in UTC microseconds, content hash.
WITH moment AS MATERIALIZED (
  SELECT clock_timestamp() AS at
),
given AS MATERIALIZED (
  SELECT
    given.*,
    request.place,
    coalesce(given.from_revision, execution.accepted_revision) AS expected_revision,
    coalesce(execution.from_state, request.current_state) AS expected_state
  FROM json_to_recordset(%(rows)s::json) AS given (
    request_id uuid, from_revision bigint, revision_step bigint, to_state text, data jsonb,
    entry_id uuid, execution_id uuid, kind text, actor text, flow_id uuid, fact_from_state text, fact_to_state text,
    detail jsonb, salt text, detail_hash text, content_hash text
  )
  CROSS JOIN LATERAL (
    -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
    SELECT request.ctid AS place, request.current_state
    FROM orchestrator.request_instance AS request
    WHERE request.id = given.request_id
    OFFSET 0
  ) AS request
  LEFT JOIN LATERAL (
    SELECT execution.accepted_revision, execution.from_state
    FROM orchestrator.execution
    WHERE execution.id = given.execution_id AND given.from_revision IS NULL
    OFFSET 0
  ) AS execution ON true
),
advanced AS (
  UPDATE orchestrator.request_instance AS request
  SET
    revision = request.revision + given.revision_step,
    current_state = coalesce(given.to_state, request.current_state),
    data = coalesce(given.data, request.data),
    updated_at = CASE WHEN given.revision_step > 0 THEN (SELECT at FROM moment) ELSE request.updated_at END,
    audit_sequence = request.audit_sequence + 1,
    audit_head = encode(
      sha256(
        convert_to(
          request.audit_head || E'\n'
          || (request.audit_sequence + 1)::text || E'\n'
          || (SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM moment) || E'\n'
          || given.content_hash,
          'UTF8'
        )
      ),
      'hex'
    )
  FROM given
  WHERE request.ctid = given.place
    AND request.revision = given.expected_revision
    AND request.current_state = given.expected_state
  -- The fact goes on with its link, so that nothing has to find the two together again.
  RETURNING
    request.id, request.updated_at, request.audit_sequence, request.audit_head, given.entry_id, given.execution_id,
    given.kind, given.actor, given.flow_id, given.fact_from_state, given.fact_to_state, given.detail, given.salt,
    given.detail_hash
),
written AS (
  INSERT INTO orchestrator.audit_entry (
    id, request_id, execution_id, sequence, kind, actor_subject, flow_id, from_state, to_state,
    detail, salt, detail_hash, head, created_at
  )
  SELECT
    entry_id, id, execution_id, audit_sequence, kind, actor, flow_id, fact_from_state, fact_to_state,
    detail, salt, detail_hash, audit_head, (SELECT at FROM moment)
  FROM advanced
)
SELECT id, updated_at FROM advanced
