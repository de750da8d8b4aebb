-- add_checkpoints
WITH written AS (
  INSERT INTO orchestrator.action_execution (
    id, execution_id, action_id, status, attempt_count, external_idempotency_key, input_hash, effect, uncertain,
    result, provider_reference, error_code, started_at, finished_at
  )
  SELECT
    given.id, execution.id, given.action, given.status, given.attempts, given.external_key, given.input_hash,
    given.effect, given.uncertain, given.result, given.provider_reference, given.error_code,
    clock_timestamp(),
    CASE WHEN given.finished THEN clock_timestamp() END
  FROM json_to_recordset(%(rows)s::json) AS given (
    execution_id uuid, request_id uuid, owner text, token bigint, id uuid, action text, status text, attempts integer,
    external_key text, input_hash text, effect text, uncertain boolean, result jsonb, provider_reference text,
    error_code text, finished boolean
  )
  CROSS JOIN LATERAL (
    SELECT * FROM orchestrator.execution WHERE execution.id = given.execution_id OFFSET 0
  ) AS execution
  WHERE execution.request_id = given.request_id
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = given.owner
    AND execution.fencing_token = given.token
    AND execution.lease_until > clock_timestamp()
  ON CONFLICT (execution_id, action_id) DO NOTHING
  RETURNING action_execution.id
)
SELECT id FROM written

-- add_executions
INSERT INTO orchestrator.execution (
  id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data, transition_id,
  from_state, accepted_revision, correlation_id, status
)
SELECT
  given.id, request.id, given.idempotency_key, given.payload_hash, given.actor_subject, given.actor_snapshot,
  given.event_key, given.event_data, given.transition_id, given.from_state, given.accepted_revision,
  given.correlation_id, given.status
FROM json_to_recordset(%(rows)s::json) AS given (
  id uuid, request_id uuid, idempotency_key text, payload_hash text, actor_subject text, actor_snapshot jsonb,
  event_key text, event_data jsonb, transition_id text, from_state text, accepted_revision bigint, correlation_id text,
  status text
)
CROSS JOIN LATERAL (
  SELECT request.id
  FROM orchestrator.request_instance AS request
  WHERE request.id = given.request_id AND request.revision = given.accepted_revision - 1
  OFFSET 0
) AS request
RETURNING execution.*

-- admin_audit.write
INSERT INTO orchestrator.admin_audit (action, actor_subject, flow_id, type_key, checksum, correlation_id, detail) VALUES (%(action)s::VARCHAR, %(actor)s::VARCHAR, %(flow)s::UUID, %(type)s::VARCHAR, (SELECT orchestrator.flow_definition.checksum
FROM orchestrator.flow_definition
WHERE orchestrator.flow_definition.id = %(flow)s::UUID), %(correlation)s::VARCHAR, %(detail)s::JSONB) RETURNING orchestrator.admin_audit.id

-- advance_requests
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

-- another_role
WITH me AS (
  SELECT oid, rolsuper FROM pg_roles WHERE rolname IN (current_user, session_user)
),
held AS (
  SELECT r.oid, r.rolname, r.rolsuper
  FROM pg_roles r
  WHERE EXISTS (SELECT FROM me WHERE pg_has_role(me.oid, r.oid, 'MEMBER'))
),
reason (place, told) AS (
  SELECT 1, 'The role is a superuser.'
  WHERE EXISTS (SELECT FROM me WHERE rolsuper)
  UNION ALL
  SELECT 2, 'The role can become a superuser.'
  WHERE EXISTS (SELECT FROM held WHERE rolsuper)
  UNION ALL
  SELECT 3, 'The role owns the schema.'
  FROM pg_namespace n
  WHERE n.nspname = 'orchestrator' AND n.nspowner IN (SELECT held.oid FROM held)
  UNION ALL
  SELECT 4, 'The role is no member of orchestrator_runtime.'
  WHERE NOT EXISTS (SELECT FROM held WHERE rolname = 'orchestrator_runtime')
)
SELECT told FROM reason ORDER BY place LIMIT 1

-- claim_mark
WITH waiting AS (
  SELECT execution.id, execution.next_attempt_at, execution.created_at
  FROM orchestrator.execution
  WHERE execution.status IN ('PENDING', 'RETRY_WAIT')
    AND (execution.next_attempt_at, execution.created_at) >= (%(due_from)s::timestamptz, %(created_from)s::timestamptz)
    AND execution.next_attempt_at <= (SELECT clock_timestamp())
  ORDER BY execution.next_attempt_at, execution.created_at, execution.id
  LIMIT %(claims_max)s
  FOR UPDATE SKIP LOCKED
),
abandoned AS (
  SELECT execution.id, execution.next_attempt_at, execution.created_at
  FROM orchestrator.execution
  WHERE execution.status = 'RUNNING'
    AND execution.lease_until >= %(lapsed_from)s::timestamptz
    AND execution.lease_until <= (SELECT clock_timestamp())
  ORDER BY execution.next_attempt_at, execution.created_at, execution.id
  LIMIT %(claims_max)s
  FOR UPDATE SKIP LOCKED
),
chosen AS MATERIALIZED (
  SELECT id FROM (TABLE waiting UNION ALL TABLE abandoned) AS due
  ORDER BY next_attempt_at, created_at, id
  LIMIT %(claims_max)s
)
UPDATE orchestrator.execution
SET
  status = 'RUNNING',
  attempts = execution.attempts + 1,
  claims_without_progress = execution.claims_without_progress + 1,
  fencing_token = execution.fencing_token + 1,
  lease_owner = %(owner)s,
  lease_until = clock_timestamp() + make_interval(secs => %(lease_seconds)s),
  error_code = NULL,
  updated_at = clock_timestamp()
WHERE execution.id = ANY (ARRAY(SELECT chosen.id FROM chosen))
RETURNING
  execution.id,
  execution.fencing_token,
  execution.next_attempt_at,
  execution.created_at,
  clock_timestamp() AS claimed_at

-- claim_read
SELECT
  execution.*,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  flow.id AS flow_id,
  flow.flow_key AS flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum
FROM orchestrator.execution
CROSS JOIN LATERAL (
  SELECT * FROM orchestrator.request_instance AS request WHERE request.id = execution.request_id OFFSET 0
) AS request
CROSS JOIN LATERAL (
  SELECT flow.id, flow.flow_key, flow.version, flow.checksum
  FROM orchestrator.flow_definition AS flow
  WHERE flow.id = request.flow_id
  OFFSET 0
) AS flow
WHERE execution.id = ANY (%(ids)s::uuid[])
ORDER BY execution.next_attempt_at, execution.created_at, execution.id

-- count_recorded_requests
SELECT count(*) AS requests
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE (%(since)s::timestamptz IS NULL OR request.updated_at >= %(since)s::timestamptz)
  AND (%(flow_key)s::text IS NULL OR flow.flow_key = %(flow_key)s::text)

-- end_executions
WITH held AS MATERIALIZED (
  SELECT given.*, execution.place
  FROM json_to_recordset(%(rows)s::json) AS given (
    execution_id uuid, request_id uuid, owner text, token bigint, status text, result jsonb, error_code text,
    delay_seconds double precision, progressed boolean
  )
  CROSS JOIN LATERAL (
    SELECT execution.ctid AS place, execution.*
    FROM orchestrator.execution
    WHERE execution.id = given.execution_id
    OFFSET 0
  ) AS execution
  WHERE execution.request_id = given.request_id
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = given.owner
    AND execution.fencing_token = given.token
    AND execution.lease_until > clock_timestamp()
),
written AS (
  UPDATE orchestrator.execution
  SET
    status = held.status,
    result = held.result,
    error_code = held.error_code,
    next_attempt_at = CASE
      WHEN held.delay_seconds IS NULL THEN execution.next_attempt_at
      ELSE clock_timestamp() + make_interval(secs => held.delay_seconds)
    END,
    lease_owner = NULL,
    lease_until = NULL,
    claims_without_progress = CASE WHEN held.progressed THEN 0 ELSE execution.claims_without_progress END,
    updated_at = clock_timestamp()
  FROM held
  WHERE execution.ctid = held.place
  RETURNING execution.id
)
SELECT id FROM written

-- erase_personal_data
SELECT
  due.id,
  orchestrator.erase_personal_data(
    due.id, due.revision, %(open_requests)s,
    due.entry_id, due.actor, due.detail, due.salt, due.detail_hash, due.content_hash
  ) AS outcome
FROM (
  SELECT *
  FROM json_to_recordset(%(rows)s::json) AS given (
    id uuid, revision bigint, entry_id uuid, actor text, detail jsonb, salt text, detail_hash text, content_hash text
  )
  ORDER BY given.id
  OFFSET 0
) AS due

-- examine_queue
SELECT
  (
    SELECT extract(epoch FROM clock_timestamp() - min(next_attempt_at))::float8
    FROM orchestrator.execution
    WHERE status IN ('PENDING', 'RETRY_WAIT') AND next_attempt_at < (SELECT clock_timestamp())
  ) AS longest_due_seconds,
  (
    SELECT extract(epoch FROM clock_timestamp() - min(lease_until))::float8
    FROM orchestrator.execution
    WHERE status = 'RUNNING' AND lease_until < (SELECT clock_timestamp())
  ) AS longest_expired_seconds

-- examine_server
SELECT
  pg_is_in_recovery() AS is_standby,
  extract(epoch FROM clock_timestamp())::float8 AS epoch_seconds,
  (
    SELECT max(extract(epoch FROM clock_timestamp() - xact_start))::float8
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
  ) AS longest_transaction_seconds,
  (
    SELECT max(extract(epoch FROM clock_timestamp() - prepared))::float8
    FROM pg_prepared_xacts
    WHERE database = current_database()
  ) AS longest_prepared_seconds,
  (
    SELECT count(*)
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND state IS NULL
  ) AS sessions_hidden

-- executions_by_key
SELECT execution.*
FROM json_to_recordset(%(rows)s::json) AS event (request_id uuid, key text)
CROSS JOIN LATERAL (
  SELECT *
  FROM orchestrator.execution
  WHERE execution.request_id = event.request_id AND execution.idempotency_key = event.key
  OFFSET 0
) AS execution

-- flow_store.add
INSERT INTO orchestrator.flow_definition (id, flow_key, version, status, schema_version, definition, checksum, contracts, revision, created_by, published_at) VALUES (%(id)s::UUID, %(flow_key)s::VARCHAR, %(version)s::INTEGER, %(status)s::VARCHAR, %(schema_version)s::INTEGER, %(definition)s::JSONB, %(checksum)s::VARCHAR, %(contracts)s::JSONB, %(revision)s::BIGINT, %(created_by)s::VARCHAR, CASE WHEN (%(status)s::VARCHAR = 'DRAFT') THEN NULL ELSE clock_timestamp() END) ON CONFLICT (flow_key, version) DO NOTHING RETURNING orchestrator.flow_definition.id, orchestrator.flow_definition.flow_key, orchestrator.flow_definition.version, orchestrator.flow_definition.status, orchestrator.flow_definition.schema_version, orchestrator.flow_definition.definition, orchestrator.flow_definition.checksum, orchestrator.flow_definition.contracts, orchestrator.flow_definition.revision, orchestrator.flow_definition.created_at, orchestrator.flow_definition.created_by, orchestrator.flow_definition.published_at

-- flow_store.find
SELECT orchestrator.flow_definition.id, orchestrator.flow_definition.flow_key, orchestrator.flow_definition.version, orchestrator.flow_definition.status, orchestrator.flow_definition.schema_version, orchestrator.flow_definition.definition, orchestrator.flow_definition.checksum, orchestrator.flow_definition.contracts, orchestrator.flow_definition.revision, orchestrator.flow_definition.created_at, orchestrator.flow_definition.created_by, orchestrator.flow_definition.published_at
FROM orchestrator.flow_definition
WHERE orchestrator.flow_definition.id = %(id)s::UUID

-- flow_store.list
SELECT orchestrator.flow_definition.id, orchestrator.flow_definition.flow_key, orchestrator.flow_definition.version, orchestrator.flow_definition.status, orchestrator.flow_definition.schema_version, orchestrator.flow_definition.checksum, orchestrator.flow_definition.revision, orchestrator.flow_definition.created_at, orchestrator.flow_definition.created_by, orchestrator.flow_definition.published_at
FROM orchestrator.flow_definition
WHERE (orchestrator.flow_definition.flow_key COLLATE "C", orchestrator.flow_definition.version) > (%(after_key)s::VARCHAR, %(after_version)s::INTEGER) AND (%(flow_key)s::VARCHAR IS NULL OR orchestrator.flow_definition.flow_key = %(flow_key)s::VARCHAR) AND (%(status)s::VARCHAR IS NULL OR orchestrator.flow_definition.status = %(status)s::VARCHAR) ORDER BY orchestrator.flow_definition.flow_key COLLATE "C", orchestrator.flow_definition.version
 LIMIT %(limit)s::INTEGER

-- flow_store.lock
SELECT orchestrator.flow_definition.id, orchestrator.flow_definition.flow_key, orchestrator.flow_definition.version, orchestrator.flow_definition.status, orchestrator.flow_definition.schema_version, orchestrator.flow_definition.definition, orchestrator.flow_definition.checksum, orchestrator.flow_definition.contracts, orchestrator.flow_definition.revision, orchestrator.flow_definition.created_at, orchestrator.flow_definition.created_by, orchestrator.flow_definition.published_at
FROM orchestrator.flow_definition
WHERE orchestrator.flow_definition.id = %(id)s::UUID FOR NO KEY UPDATE

-- flow_store.lock_shared
SELECT orchestrator.flow_definition.id, orchestrator.flow_definition.flow_key, orchestrator.flow_definition.version, orchestrator.flow_definition.status, orchestrator.flow_definition.schema_version, orchestrator.flow_definition.definition, orchestrator.flow_definition.checksum, orchestrator.flow_definition.contracts, orchestrator.flow_definition.revision, orchestrator.flow_definition.created_at, orchestrator.flow_definition.created_by, orchestrator.flow_definition.published_at
FROM orchestrator.flow_definition
WHERE orchestrator.flow_definition.id = %(id)s::UUID FOR SHARE

-- flow_store.save
UPDATE orchestrator.flow_definition SET status=%(status)s::VARCHAR, definition=%(definition)s::JSONB, checksum=%(checksum)s::VARCHAR, contracts=%(contracts)s::JSONB, revision=%(revision)s::BIGINT, published_at=coalesce(orchestrator.flow_definition.published_at, CASE WHEN (%(status)s::VARCHAR = 'DRAFT') THEN NULL ELSE clock_timestamp() END) WHERE orchestrator.flow_definition.id = %(id)s::UUID AND orchestrator.flow_definition.revision = %(before)s::BIGINT RETURNING orchestrator.flow_definition.id, orchestrator.flow_definition.flow_key, orchestrator.flow_definition.version, orchestrator.flow_definition.status, orchestrator.flow_definition.schema_version, orchestrator.flow_definition.definition, orchestrator.flow_definition.checksum, orchestrator.flow_definition.contracts, orchestrator.flow_definition.revision, orchestrator.flow_definition.created_at, orchestrator.flow_definition.created_by, orchestrator.flow_definition.published_at

-- flows_in_use
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

-- guards
WITH relation AS (
  SELECT c.oid, c.relname
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'orchestrator'
  WHERE c.relkind IN ('r', 'p')
),
guard (relname, tgname) AS (
  VALUES
    ('flow_definition', 'flow_definition_begins_as_draft'),
    ('flow_definition', 'flow_definition_immutable'),
    ('flow_definition', 'flow_definition_never_emptied'),
    ('audit_entry', 'audit_entry_append_only'),
    ('audit_entry', 'audit_entry_erasure_proven'),
    ('audit_entry', 'audit_entry_never_emptied'),
    ('admin_audit', 'admin_audit_append_only'),
    ('admin_audit', 'admin_audit_never_emptied'),
    ('reconciliation_resolution', 'reconciliation_resolution_append_only'),
    ('reconciliation_resolution', 'reconciliation_resolution_never_emptied')
)
SELECT format('The guard %s of the table %s is missing or switched off.', guard.tgname, guard.relname)
FROM guard
WHERE guard.relname IN (SELECT relation.relname FROM relation)
  AND NOT EXISTS (
    SELECT FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid
    WHERE r.relname = guard.relname AND t.tgname = guard.tgname AND t.tgenabled IN ('O', 'A')
  )
UNION ALL
SELECT format('The foreign key %s of the table %s is switched off.', k.conname, owner.relname)
FROM pg_constraint k
JOIN relation owner ON owner.oid = k.conrelid
WHERE k.contype = 'f'
  AND EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgenabled NOT IN ('O', 'A'))
UNION ALL
SELECT 'Sessions of this role begin with session_replication_role = replica, so that no guard and no foreign key does its work.'
WHERE current_setting('session_replication_role') = 'replica';

-- history.read
SELECT orchestrator.audit_entry.id, orchestrator.audit_entry.request_id, orchestrator.audit_entry.execution_id, orchestrator.audit_entry.sequence, orchestrator.audit_entry.kind, orchestrator.audit_entry.actor_subject, orchestrator.audit_entry.flow_id, orchestrator.audit_entry.from_state, orchestrator.audit_entry.to_state, orchestrator.audit_entry.detail, orchestrator.audit_entry.salt, orchestrator.audit_entry.detail_hash, orchestrator.audit_entry.head, orchestrator.audit_entry.created_at
FROM orchestrator.audit_entry
WHERE orchestrator.audit_entry.request_id = %(request_id)s::UUID ORDER BY orchestrator.audit_entry.sequence

-- keep_executions
WITH kept AS MATERIALIZED (
  SELECT execution.id, execution.claims_without_progress, fence.progressed
  FROM json_to_recordset(%(rows)s::json)
    AS fence (execution_id uuid, request_id uuid, owner text, token bigint, progressed boolean)
  CROSS JOIN LATERAL (
    SELECT * FROM orchestrator.execution WHERE execution.id = fence.execution_id OFFSET 0
  ) AS execution
  CROSS JOIN LATERAL (
    SELECT request.revision, request.current_state
    FROM orchestrator.request_instance AS request
    WHERE request.id = execution.request_id
    OFFSET 0
  ) AS request
  WHERE execution.request_id = fence.request_id
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = fence.owner
    AND execution.fencing_token = fence.token
    AND execution.lease_until > clock_timestamp()
    AND request.revision = execution.accepted_revision
    AND request.current_state = execution.from_state
),
progressed AS (
  UPDATE orchestrator.execution
  SET claims_without_progress = 0
  WHERE execution.id = ANY (
    ARRAY(SELECT id FROM kept WHERE kept.progressed AND kept.claims_without_progress <> 0)
  )
)
SELECT id FROM kept

-- lease_renewal.busy_wait
SELECT set_config('statement_timeout', %s, true)

-- link_documents
INSERT INTO orchestrator.document_reference (
  id, request_id, document_type, storage_document_id, mime_type, size_bytes, checksum, created_by
)
SELECT
  given.id, given.request_id, given.document_type, given.storage_document_id, given.mime_type, given.size_bytes,
  given.checksum, execution.actor_subject
FROM json_to_recordset(%(rows)s::json) AS given (
  id uuid, request_id uuid, execution_id uuid, document_type text, storage_document_id text, mime_type text,
  size_bytes bigint, checksum text
)
CROSS JOIN LATERAL (
  SELECT execution.actor_subject FROM orchestrator.execution WHERE execution.id = given.execution_id OFFSET 0
) AS execution
ON CONFLICT (request_id, document_type, storage_document_id) DO NOTHING

-- list_cases
SELECT
  execution.id,
  execution.request_id,
  execution.idempotency_key,
  execution.payload_hash,
  execution.actor_snapshot,
  execution.event_key,
  '{}'::jsonb AS event_data,
  execution.transition_id,
  execution.from_state,
  execution.accepted_revision,
  execution.status,
  execution.attempts,
  execution.fencing_token,
  execution.correlation_id,
  execution.result,
  execution.error_code,
  execution.next_attempt_at,
  execution.created_at,
  execution.updated_at,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  '{}'::jsonb AS request_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  flow.id AS flow_id,
  flow.flow_key AS flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum
FROM orchestrator.execution
JOIN orchestrator.request_instance AS request ON request.id = execution.request_id
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE execution.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  AND execution.status = %(status)s
  AND request.business_scope = ANY (%(scopes)s)
  AND (
    %(since)s::timestamptz IS NULL
    OR (execution.updated_at, execution.id) > (%(since)s::timestamptz, %(after)s::uuid)
  )
ORDER BY execution.updated_at, execution.id
LIMIT %(limit)s

-- lock_checkpoints
SELECT checkpoint.id
FROM orchestrator.action_execution AS checkpoint
WHERE checkpoint.execution_id = %(execution_id)s
ORDER BY checkpoint.id
FOR UPDATE

-- lock_execution
SELECT execution.id
FROM orchestrator.execution
WHERE execution.id = %(execution_id)s
FOR UPDATE

-- lock_executions
SELECT execution.id
FROM orchestrator.execution
WHERE execution.id = ANY (%(execution_ids)s::uuid[])
ORDER BY execution.id
FOR UPDATE

-- lock_free_executions
SELECT execution.id
FROM orchestrator.execution
WHERE execution.id = ANY (%(execution_ids)s::uuid[])
ORDER BY execution.id
FOR UPDATE SKIP LOCKED

-- lock_free_requests
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = ANY (%(request_ids)s::uuid[])
ORDER BY request.id
FOR UPDATE SKIP LOCKED

-- lock_free_visible_requests
WITH visible AS MATERIALIZED (
  SELECT request.id
  FROM json_to_recordset(%(rows)s::json) AS event (request_id uuid, subject text, scopes text[])
  CROSS JOIN LATERAL (
    SELECT request.id, request.owner_subject, request.business_scope
    FROM orchestrator.request_instance AS request
    WHERE request.id = event.request_id
    OFFSET 0
  ) AS request
  WHERE request.owner_subject = event.subject OR request.business_scope = ANY (event.scopes)
)
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = ANY (ARRAY(SELECT visible.id FROM visible))
ORDER BY request.id
FOR UPDATE SKIP LOCKED

-- lock_request
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = %(request_id)s
FOR UPDATE

-- lock_request_in_scope
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = (SELECT execution.request_id FROM orchestrator.execution WHERE execution.id = %(execution_id)s)
  AND request.business_scope = ANY (%(scopes)s)
FOR UPDATE

-- lock_visible_request
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = %(request_id)s
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
FOR UPDATE

-- missing_privileges
WITH wanted (relname, changed) AS (
  VALUES
    ('flow_definition', ARRAY['definition', 'status', 'checksum', 'contracts', 'revision', 'published_at']),
    ('request_type', ARRAY['active_flow_id', 'enabled', 'revision']),
    ('request_instance',
      ARRAY['current_state', 'data', 'revision', 'audit_sequence', 'audit_head', 'updated_at']),
    ('execution',
      ARRAY['status', 'attempts', 'claims_without_progress', 'next_attempt_at', 'lease_owner', 'lease_until',
            'fencing_token', 'accepted_revision', 'result', 'error_code', 'updated_at']),
    ('action_execution',
      ARRAY['status', 'attempt_count', 'external_idempotency_key', 'input_hash', 'effect', 'uncertain', 'result',
            'provider_reference', 'error_code', 'started_at', 'finished_at']),
    ('document_reference', ARRAY[]::text[]),
    ('audit_entry', ARRAY[]::text[]),
    ('admin_audit', ARRAY[]::text[]),
    ('request_creation', ARRAY[]::text[]),
    ('reconciliation_resolution', ARRAY[]::text[])
),
relation AS (
  SELECT c.oid, wanted.relname, wanted.changed
  FROM wanted
  JOIN pg_class c ON c.relname = wanted.relname
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'orchestrator'
)
SELECT format('The role can''t %s the table %s.', power.told, relname) AS told
FROM relation
CROSS JOIN (VALUES ('SELECT', 'read'), ('INSERT', 'add rows to')) AS power (privilege, told)
WHERE NOT has_table_privilege(relation.oid, power.privilege)
UNION ALL
SELECT format('The role can''t change %s in the table %s.', string_agg(a.attname, ', ' ORDER BY a.attnum), relname)
FROM relation
JOIN pg_attribute a ON a.attrelid = relation.oid AND a.attname = ANY (relation.changed)
WHERE NOT has_column_privilege(relation.oid, a.attnum, 'UPDATE')
GROUP BY relname

-- published_flows.find
SELECT orchestrator.flow_definition.id, orchestrator.flow_definition.flow_key, orchestrator.flow_definition.version, orchestrator.flow_definition.status, orchestrator.flow_definition.schema_version, orchestrator.flow_definition.definition, orchestrator.flow_definition.checksum, orchestrator.flow_definition.contracts, orchestrator.flow_definition.revision, orchestrator.flow_definition.created_at, orchestrator.flow_definition.created_by, orchestrator.flow_definition.published_at
FROM orchestrator.flow_definition
WHERE orchestrator.flow_definition.id = %(id)s::UUID AND orchestrator.flow_definition.status != 'DRAFT'

-- queue_state.bounded
SELECT set_config('statement_timeout', '1s', true), set_config('enable_seqscan', 'off', true)

-- read_case
SELECT
  execution.*,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  flow.id AS flow_id,
  flow.flow_key AS flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum
FROM orchestrator.execution
JOIN orchestrator.request_instance AS request ON request.id = execution.request_id
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE execution.id = %(execution_id)s AND request.business_scope = ANY (%(scopes)s)

-- read_change_marks
SELECT request.id, request.revision::text AS mark
FROM orchestrator.request_instance AS request
WHERE request.id = ANY (%(requests)s)
UNION ALL
SELECT execution.id, concat_ws(' ', execution.status, execution.error_code, execution.updated_at) AS mark
FROM orchestrator.execution AS execution
WHERE execution.id = ANY (%(executions)s)

-- read_checkpoints
SELECT
  checkpoint.*,
  extract(epoch FROM clock_timestamp() - checkpoint.started_at) AS age_seconds,
  extract(epoch FROM clock_timestamp() - checkpoint.finished_at) AS ended_age_seconds
FROM orchestrator.action_execution AS checkpoint
WHERE checkpoint.execution_id = ANY (%(ids)s::uuid[])
ORDER BY checkpoint.execution_id, checkpoint.id

-- read_fence
SELECT
  request.revision = execution.accepted_revision AND request.current_state = execution.from_state AS as_accepted,
  request.revision AS request_revision,
  execution.actor_subject
FROM orchestrator.execution
JOIN orchestrator.request_instance AS request ON request.id = execution.request_id
WHERE execution.id = %(execution_id)s
  AND execution.request_id = %(request_id)s
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = %(owner)s
  AND execution.fencing_token = %(token)s
  AND execution.lease_until > clock_timestamp()

-- read_fences
SELECT
  execution.id,
  request.revision = execution.accepted_revision AND request.current_state = execution.from_state AS as_accepted,
  request.revision AS request_revision
FROM json_to_recordset(%(rows)s::json)
  AS fence (execution_id uuid, request_id uuid, owner text, token bigint)
CROSS JOIN LATERAL (
  SELECT * FROM orchestrator.execution WHERE execution.id = fence.execution_id OFFSET 0
) AS execution
CROSS JOIN LATERAL (
  SELECT request.revision, request.current_state
  FROM orchestrator.request_instance AS request
  WHERE request.id = execution.request_id
  OFFSET 0
) AS request
WHERE execution.request_id = fence.request_id
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = fence.owner
  AND execution.fencing_token = fence.token
  AND execution.lease_until > clock_timestamp()

-- read_outcome
SELECT execution.status, execution.fencing_token
FROM orchestrator.execution
WHERE execution.id = %(execution_id)s
FOR UPDATE

-- read_probes
SELECT entry.execution_id, entry.detail, entry.created_at
FROM orchestrator.audit_entry AS entry
WHERE entry.request_id = ANY (%(requests)s)
  AND entry.execution_id = ANY (%(ids)s)
  AND entry.kind IN ('EFFECT_PROBED', 'RECONCILIATION_REQUIRED')
ORDER BY entry.request_id, entry.sequence

-- read_queue_state
WITH active AS (
  SELECT execution.status, execution.updated_at
  FROM orchestrator.execution
  WHERE execution.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  LIMIT %(counted_max)s
),
lapsed AS (
  SELECT execution.id
  FROM orchestrator.execution
  WHERE execution.status = 'RUNNING' AND execution.lease_until <= (SELECT clock_timestamp())
  LIMIT %(counted_max)s
),
longest_due AS (
  SELECT execution.next_attempt_at
  FROM orchestrator.execution
  WHERE execution.status IN ('PENDING', 'RETRY_WAIT')
    AND execution.next_attempt_at <= (SELECT clock_timestamp())
  ORDER BY execution.next_attempt_at, execution.created_at
  LIMIT 1
)
SELECT
  count(*) FILTER (WHERE active.status = 'PENDING') AS "PENDING",
  count(*) FILTER (WHERE active.status = 'RUNNING') AS "RUNNING",
  count(*) FILTER (WHERE active.status = 'RETRY_WAIT') AS "RETRY_WAIT",
  count(*) FILTER (WHERE active.status = 'RECONCILIATION_REQUIRED') AS "RECONCILIATION_REQUIRED",
  (SELECT count(*) FROM lapsed) AS expired_leases,
  (SELECT extract(epoch FROM clock_timestamp() - next_attempt_at)::float8 FROM longest_due) AS longest_due_seconds,
  extract(
    epoch FROM clock_timestamp()
      - min(active.updated_at) FILTER (WHERE active.status = 'RECONCILIATION_REQUIRED')
  )::float8 AS oldest_reconciliation_seconds
FROM active

-- read_visible_history
SELECT entry.*
FROM orchestrator.request_instance AS request
LEFT JOIN LATERAL (
  SELECT *
  FROM orchestrator.audit_entry AS written
  WHERE written.request_id = request.id
    AND written.sequence > %(after)s
    AND (%(kind)s::varchar IS NULL OR written.kind = %(kind)s::varchar)
    AND (%(execution_id)s::uuid IS NULL OR written.execution_id = %(execution_id)s::uuid)
    AND (%(since)s::timestamptz IS NULL OR written.created_at >= %(since)s::timestamptz)
    AND (%(until)s::timestamptz IS NULL OR written.created_at < %(until)s::timestamptz)
  ORDER BY written.sequence
  LIMIT %(limit)s
) AS entry ON true
WHERE request.id = %(request_id)s
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
ORDER BY entry.sequence

-- read_visible_request
SELECT
  request.id AS request_id,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  CASE
    WHEN request.data = '{}'::jsonb THEN (
      SELECT max(erasure.created_at)
      FROM orchestrator.audit_entry AS erasure
      WHERE erasure.request_id = request.id
        AND erasure.kind = 'PERSONAL_DATA_ERASED'
        AND erasure.detail @> '{"erased": ["REQUEST_DATA"]}'::jsonb
    )
  END AS request_data_erased_at,
  flow.id AS flow_id,
  flow.flow_key AS flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum,
  active.id AS active_execution_id
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
LEFT JOIN orchestrator.execution AS active
  ON active.request_id = request.id
  AND active.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
WHERE request.id = %(request_id)s
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))

-- read_visible_requests
SELECT
  request.id AS request_id,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  CASE
    WHEN request.data = '{}'::jsonb THEN (
      SELECT max(erasure.created_at)
      FROM orchestrator.audit_entry AS erasure
      WHERE erasure.request_id = request.id
        AND erasure.kind = 'PERSONAL_DATA_ERASED'
        AND erasure.detail @> '{"erased": ["REQUEST_DATA"]}'::jsonb
    )
  END AS request_data_erased_at,
  flow.id AS flow_id,
  flow.flow_key AS flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum,
  active.id AS active_execution_id
FROM json_to_recordset(%(rows)s::json) AS event (request_id uuid, subject text, scopes text[])
CROSS JOIN LATERAL (
  SELECT * FROM orchestrator.request_instance AS request WHERE request.id = event.request_id OFFSET 0
) AS request
CROSS JOIN LATERAL (
  SELECT flow.id, flow.flow_key, flow.version, flow.checksum
  FROM orchestrator.flow_definition AS flow
  WHERE flow.id = request.flow_id
  OFFSET 0
) AS flow
LEFT JOIN LATERAL (
  SELECT execution.id
  FROM orchestrator.execution
  WHERE execution.request_id = request.id
    AND execution.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  OFFSET 0
) AS active ON true
WHERE request.owner_subject = event.subject OR request.business_scope = ANY (event.scopes)

-- recent_requests
SELECT request.id, request.revision
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE flow.flow_key = %(flow_key)s
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
  AND (%(since)s::timestamptz IS NULL OR request.updated_at >= %(since)s::timestamptz)
  AND request.revision <= %(revision_max)s
ORDER BY request.id DESC
LIMIT %(limit)s

-- reconciliation_store.add_record
INSERT INTO orchestrator.reconciliation_resolution (id, execution_id, idempotency_key, payload_hash, action_id, resolution, evidence, result, operator_subject, correlation_id) VALUES (%(id)s::UUID, %(execution_id)s::UUID, %(idempotency_key)s::VARCHAR, %(payload_hash)s::VARCHAR, %(action_id)s::VARCHAR, %(resolution)s::VARCHAR, %(evidence)s::JSONB, %(result)s::JSONB, %(operator_subject)s::VARCHAR, %(correlation_id)s::VARCHAR)

-- reconciliation_store.records
SELECT orchestrator.reconciliation_resolution.id, orchestrator.reconciliation_resolution.execution_id, orchestrator.reconciliation_resolution.idempotency_key, orchestrator.reconciliation_resolution.payload_hash, orchestrator.reconciliation_resolution.action_id, orchestrator.reconciliation_resolution.resolution, orchestrator.reconciliation_resolution.evidence, orchestrator.reconciliation_resolution.result, orchestrator.reconciliation_resolution.operator_subject, orchestrator.reconciliation_resolution.correlation_id, orchestrator.reconciliation_resolution.created_at
FROM orchestrator.reconciliation_resolution
WHERE orchestrator.reconciliation_resolution.execution_id = %(execution_id)s::UUID ORDER BY orchestrator.reconciliation_resolution.created_at, orchestrator.reconciliation_resolution.id

-- recorded_checkpoints
SELECT action_execution.*, 0 AS age_seconds, 0 AS ended_age_seconds
FROM orchestrator.action_execution
WHERE execution_id = ANY (%(ids)s)
ORDER BY execution_id, action_id

-- recorded_requests
SELECT
  request.id AS request_id,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.initial_data,
  request.audit_head,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  CASE
    WHEN request.data = '{}'::jsonb THEN (
      SELECT max(erasure.created_at)
      FROM orchestrator.audit_entry AS erasure
      WHERE erasure.request_id = request.id
        AND erasure.kind = 'PERSONAL_DATA_ERASED'
        AND erasure.detail @> '{"erased": ["REQUEST_DATA"]}'::jsonb
    )
  END AS request_data_erased_at,
  flow.id AS flow_id,
  flow.flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE (%(after)s::uuid IS NULL OR request.id > %(after)s::uuid)
  AND (%(request_id)s::uuid IS NULL OR request.id = %(request_id)s::uuid)
  AND (%(since)s::timestamptz IS NULL OR request.updated_at >= %(since)s::timestamptz)
  AND (%(flow_key)s::text IS NULL OR flow.flow_key = %(flow_key)s::text)
ORDER BY request.id
LIMIT %(limit)s

-- recorded_requests.entries
SELECT orchestrator.audit_entry.id, orchestrator.audit_entry.request_id, orchestrator.audit_entry.execution_id, orchestrator.audit_entry.sequence, orchestrator.audit_entry.kind, orchestrator.audit_entry.actor_subject, orchestrator.audit_entry.flow_id, orchestrator.audit_entry.from_state, orchestrator.audit_entry.to_state, orchestrator.audit_entry.detail, orchestrator.audit_entry.salt, orchestrator.audit_entry.detail_hash, orchestrator.audit_entry.head, orchestrator.audit_entry.created_at
FROM orchestrator.audit_entry
WHERE orchestrator.audit_entry.request_id = any(%(ids)s) ORDER BY orchestrator.audit_entry.request_id, orchestrator.audit_entry.sequence

-- recorded_requests.timing
SELECT
  extract(epoch FROM next_attempt_at - clock_timestamp())::float8 AS due_in_seconds,
  extract(epoch FROM lease_until - clock_timestamp())::float8 AS lease_seconds,
  claims_without_progress
FROM orchestrator.execution
WHERE id = %(id)s

-- recorded_runs
SELECT
  request.id AS request_id,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.initial_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  flow.id AS flow_id,
  flow.flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum,
  NOT EXISTS (
    SELECT FROM orchestrator.audit_entry AS erasure
    WHERE erasure.request_id = request.id
      AND erasure.kind = 'PERSONAL_DATA_ERASED'
      AND erasure.detail -> 'erased' ?| %(replayed)s::text[]
  ) AS replayable
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE request.id = ANY (%(ids)s)
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
ORDER BY request.id

-- renew_leases
WITH held AS MATERIALIZED (
  SELECT *
  FROM unnest(%(execution_ids)s::uuid[], %(request_ids)s::uuid[], %(owners)s::text[], %(tokens)s::bigint[])
    AS fence (execution_id, request_id, owner, token)
),
locked AS MATERIALIZED (
  SELECT execution.id
  FROM orchestrator.execution
  WHERE execution.id IN (SELECT held.execution_id FROM held)
  ORDER BY execution.id
  FOR UPDATE SKIP LOCKED
)
UPDATE orchestrator.execution
SET lease_until = clock_timestamp() + make_interval(secs => %(lease_seconds)s)
FROM locked
JOIN held ON held.execution_id = locked.id
WHERE execution.id = locked.id
  AND execution.request_id = held.request_id
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = held.owner
  AND execution.fencing_token = held.token
  AND execution.lease_until > clock_timestamp()
RETURNING execution.id

-- replace_checkpoints
WITH held AS MATERIALIZED (
  SELECT given.*, checkpoint.place
  FROM json_to_recordset(%(rows)s::json) AS given (
    execution_id uuid, request_id uuid, owner text, token bigint, action text, status text, attempts integer,
    external_key text, input_hash text, effect text, uncertain boolean, result jsonb, provider_reference text,
    error_code text, finished boolean, before_status text, before_attempts integer
  )
  CROSS JOIN LATERAL (
    SELECT * FROM orchestrator.execution WHERE execution.id = given.execution_id OFFSET 0
  ) AS execution
  CROSS JOIN LATERAL (
    SELECT checkpoint.ctid AS place
    FROM orchestrator.action_execution AS checkpoint
    WHERE checkpoint.execution_id = given.execution_id
      AND checkpoint.action_id = given.action
      AND checkpoint.status = given.before_status
      AND checkpoint.attempt_count = given.before_attempts
    OFFSET 0
  ) AS checkpoint
  WHERE execution.request_id = given.request_id
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = given.owner
    AND execution.fencing_token = given.token
    AND execution.lease_until > clock_timestamp()
),
written AS (
  UPDATE orchestrator.action_execution AS checkpoint
  SET
    status = held.status,
    attempt_count = held.attempts,
    external_idempotency_key = held.external_key,
    input_hash = held.input_hash,
    effect = held.effect,
    uncertain = held.uncertain,
    result = held.result,
    provider_reference = held.provider_reference,
    error_code = held.error_code,
    started_at = coalesce(checkpoint.started_at, clock_timestamp()),
    finished_at = CASE WHEN held.finished THEN clock_timestamp() END
  FROM held
  WHERE checkpoint.ctid = held.place
  RETURNING checkpoint.id
)
SELECT id FROM written

-- request_store.add_execution
INSERT INTO orchestrator.execution (id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data, transition_id, from_state, accepted_revision, correlation_id, status) VALUES (%(id)s::UUID, %(request_id)s::UUID, %(idempotency_key)s::VARCHAR, %(payload_hash)s::VARCHAR, %(actor_subject)s::VARCHAR, %(actor_snapshot)s::JSONB, %(event_key)s::VARCHAR, %(event_data)s::JSONB, %(transition_id)s::VARCHAR, %(from_state)s::VARCHAR, %(accepted_revision)s::BIGINT, %(correlation_id)s::VARCHAR, %(status)s::VARCHAR) RETURNING orchestrator.execution.id, orchestrator.execution.request_id, orchestrator.execution.idempotency_key, orchestrator.execution.payload_hash, orchestrator.execution.actor_subject, orchestrator.execution.actor_snapshot, orchestrator.execution.event_key, orchestrator.execution.event_data, orchestrator.execution.transition_id, orchestrator.execution.from_state, orchestrator.execution.accepted_revision, orchestrator.execution.correlation_id, orchestrator.execution.status, orchestrator.execution.attempts, orchestrator.execution.claims_without_progress, orchestrator.execution.next_attempt_at, orchestrator.execution.lease_owner, orchestrator.execution.lease_until, orchestrator.execution.fencing_token, orchestrator.execution.result, orchestrator.execution.error_code, orchestrator.execution.created_at, orchestrator.execution.updated_at

-- request_store.add_request
INSERT INTO orchestrator.request_instance (id, type_key, flow_id, current_state, data, initial_data, owner_subject, business_scope, revision) VALUES (%(id)s::UUID, %(type_key)s::VARCHAR, %(flow_id)s::UUID, %(current_state)s::VARCHAR, %(data)s::JSONB, %(initial_data)s::JSONB, %(owner_subject)s::VARCHAR, %(business_scope)s::VARCHAR, %(revision)s::BIGINT) RETURNING orchestrator.request_instance.created_at

-- request_store.earlier
SELECT orchestrator.request_creation.payload_hash, orchestrator.request_creation.request_id
FROM orchestrator.request_creation
WHERE orchestrator.request_creation.actor_subject = %(actor_subject)s::VARCHAR AND orchestrator.request_creation.business_scope = %(business_scope)s::VARCHAR AND orchestrator.request_creation.idempotency_key = %(idempotency_key)s::VARCHAR

-- request_store.execution_by_key
SELECT orchestrator.execution.id, orchestrator.execution.request_id, orchestrator.execution.idempotency_key, orchestrator.execution.payload_hash, orchestrator.execution.actor_subject, orchestrator.execution.actor_snapshot, orchestrator.execution.event_key, orchestrator.execution.event_data, orchestrator.execution.transition_id, orchestrator.execution.from_state, orchestrator.execution.accepted_revision, orchestrator.execution.correlation_id, orchestrator.execution.status, orchestrator.execution.attempts, orchestrator.execution.claims_without_progress, orchestrator.execution.next_attempt_at, orchestrator.execution.lease_owner, orchestrator.execution.lease_until, orchestrator.execution.fencing_token, orchestrator.execution.result, orchestrator.execution.error_code, orchestrator.execution.created_at, orchestrator.execution.updated_at
FROM orchestrator.execution
WHERE orchestrator.execution.request_id = %(request_id)s::UUID AND orchestrator.execution.idempotency_key = %(key)s::VARCHAR

-- request_store.reserve
INSERT INTO orchestrator.request_creation (actor_subject, business_scope, idempotency_key, payload_hash, request_id) VALUES (%(actor_subject)s::VARCHAR, %(business_scope)s::VARCHAR, %(idempotency_key)s::VARCHAR, %(payload_hash)s::VARCHAR, %(request_id)s::UUID) ON CONFLICT (actor_subject, business_scope, idempotency_key) DO NOTHING RETURNING orchestrator.request_creation.request_id

-- request_store.visible_execution
SELECT orchestrator.execution.id, orchestrator.execution.request_id, orchestrator.execution.idempotency_key, orchestrator.execution.payload_hash, orchestrator.execution.actor_subject, orchestrator.execution.actor_snapshot, orchestrator.execution.event_key, orchestrator.execution.event_data, orchestrator.execution.transition_id, orchestrator.execution.from_state, orchestrator.execution.accepted_revision, orchestrator.execution.correlation_id, orchestrator.execution.status, orchestrator.execution.attempts, orchestrator.execution.claims_without_progress, orchestrator.execution.next_attempt_at, orchestrator.execution.lease_owner, orchestrator.execution.lease_until, orchestrator.execution.fencing_token, orchestrator.execution.result, orchestrator.execution.error_code, orchestrator.execution.created_at, orchestrator.execution.updated_at
FROM orchestrator.execution JOIN orchestrator.request_instance ON orchestrator.request_instance.id = orchestrator.execution.request_id
WHERE orchestrator.execution.id = %(id)s::UUID AND (orchestrator.request_instance.owner_subject = %(subject)s::VARCHAR OR orchestrator.request_instance.business_scope = any(%(scopes)s))

-- request_type_store.add
INSERT INTO orchestrator.request_type (type_key, active_flow_id, enabled, revision) VALUES (%(key)s::VARCHAR, %(active_flow)s::UUID, %(enabled)s, %(revision)s::BIGINT) ON CONFLICT (type_key) DO NOTHING RETURNING orchestrator.request_type.type_key, orchestrator.request_type.active_flow_id, orchestrator.request_type.enabled, orchestrator.request_type.revision

-- request_type_store.find
SELECT orchestrator.request_type.type_key, orchestrator.request_type.active_flow_id, orchestrator.request_type.enabled, orchestrator.request_type.revision
FROM orchestrator.request_type
WHERE orchestrator.request_type.type_key = %(key)s::VARCHAR

-- request_type_store.list
SELECT orchestrator.request_type.type_key, orchestrator.request_type.active_flow_id, orchestrator.request_type.enabled, orchestrator.request_type.revision
FROM orchestrator.request_type
WHERE %(after)s::VARCHAR < (orchestrator.request_type.type_key COLLATE "C") ORDER BY orchestrator.request_type.type_key COLLATE "C"
 LIMIT %(limit)s::INTEGER

-- request_type_store.lock
SELECT orchestrator.request_type.type_key, orchestrator.request_type.active_flow_id, orchestrator.request_type.enabled, orchestrator.request_type.revision
FROM orchestrator.request_type
WHERE orchestrator.request_type.type_key = %(key)s::VARCHAR FOR UPDATE

-- request_type_store.lock_shared
SELECT orchestrator.request_type.type_key, orchestrator.request_type.active_flow_id, orchestrator.request_type.enabled, orchestrator.request_type.revision
FROM orchestrator.request_type
WHERE orchestrator.request_type.type_key = %(key)s::VARCHAR FOR SHARE

-- request_type_store.save
UPDATE orchestrator.request_type SET active_flow_id=%(active_flow)s::UUID, enabled=%(enabled)s, revision=%(revision)s::BIGINT WHERE orchestrator.request_type.type_key = %(key)s::VARCHAR AND orchestrator.request_type.revision = %(before)s::BIGINT RETURNING orchestrator.request_type.type_key, orchestrator.request_type.active_flow_id, orchestrator.request_type.enabled, orchestrator.request_type.revision

-- resolve_checkpoint
UPDATE orchestrator.action_execution AS checkpoint
SET
  status = %(status)s,
  attempt_count = %(attempts)s::integer,
  uncertain = %(uncertain)s,
  result = %(result)s,
  provider_reference = %(provider_reference)s,
  error_code = %(error_code)s,
  started_at = CASE WHEN %(attempts)s::integer > 0 THEN checkpoint.started_at END,
  finished_at = CASE WHEN %(attempts)s::integer > 0 THEN clock_timestamp() END
WHERE checkpoint.execution_id = %(execution_id)s AND checkpoint.action_id = %(action)s
RETURNING checkpoint.id

-- resolve_execution
UPDATE orchestrator.execution
SET
  status = %(status)s::varchar,
  error_code = %(error_code)s,
  claims_without_progress = 0,
  next_attempt_at = CASE WHEN %(status)s::varchar = 'PENDING' THEN clock_timestamp() ELSE execution.next_attempt_at END,
  updated_at = clock_timestamp()
WHERE execution.id = %(execution_id)s AND execution.status = 'RECONCILIATION_REQUIRED'
RETURNING execution.*

-- retention.may_erase
SELECT
  EXISTS (
    SELECT FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
    WHERE nspname = 'orchestrator' AND proname = 'erase_personal_data'
  ) AS is_there,
  EXISTS (
    SELECT FROM pg_roles WHERE rolname = 'orchestrator_retention' AND pg_has_role(session_user, oid, 'USAGE')
  ) AS may

-- retention.standing
SELECT
  EXISTS (
    SELECT FROM orchestrator.execution
    WHERE request_id = request.id AND status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  ) AS blocked,
  orchestrator.erased_parts(request.id) AS erased
FROM orchestrator.request_instance AS request
WHERE request.id = %(id)s

-- retention_counts
SELECT
  (
    SELECT count(*) FROM orchestrator.audit_entry
    WHERE request_id = ANY (%(ids)s) AND kind <> 'PERSONAL_DATA_ERASED'
  ) AS history_entries,
  (SELECT count(*) FROM orchestrator.execution WHERE request_id = ANY (%(ids)s)) AS executions,
  (
    SELECT count(*)
    FROM orchestrator.action_execution AS action
    JOIN orchestrator.execution ON execution.id = action.execution_id
    WHERE execution.request_id = ANY (%(ids)s)
  ) AS results,
  (SELECT count(*) FROM orchestrator.document_reference WHERE request_id = ANY (%(ids)s)) AS documents,
  (
    SELECT count(*)
    FROM orchestrator.reconciliation_resolution AS resolution
    JOIN orchestrator.execution ON execution.id = resolution.execution_id
    WHERE execution.request_id = ANY (%(ids)s)
  ) AS resolutions

-- retention_due
SELECT request.id, request.flow_id, request.revision, erased.parts AS erased
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
CROSS JOIN LATERAL (
  SELECT orchestrator.erased_parts(request.id) AS parts
  OFFSET 0
) AS erased
WHERE (%(after)s::uuid IS NULL OR request.id > %(after)s::uuid)
  AND (%(request_id)s::uuid IS NULL OR request.id = %(request_id)s::uuid)
  AND request.updated_at <= (SELECT clock_timestamp()) - make_interval(days => %(after_days)s)
  AND (%(request_types)s::text[] = '{}' OR request.type_key = ANY (%(request_types)s::text[]))
  AND (%(flows)s::text[] = '{}' OR flow.flow_key = ANY (%(flows)s::text[]))
  AND (%(states)s::text[] = '{}' OR request.current_state = ANY (%(states)s::text[]))
  AND (%(scopes)s::text[] = '{}' OR request.business_scope = ANY (%(scopes)s::text[]))
  AND (
    %(open_requests)s
    OR EXISTS (
      SELECT FROM jsonb_array_elements(flow.definition -> 'states') AS state (body)
      WHERE state.body ->> 'key' = request.current_state AND state.body -> 'terminal' = 'true'::jsonb
    )
  )
  AND NOT EXISTS (
    SELECT FROM orchestrator.execution
    WHERE execution.request_id = request.id
      AND execution.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  )
  AND NOT %(erase)s::text[] <@ erased.parts
ORDER BY request.id
LIMIT %(limit)s

-- roles.memberships
SELECT pg_get_userbyid(roleid), pg_get_userbyid(grantor) FROM pg_auth_members
WHERE pg_get_userbyid(member) = %(member)s

-- run_rows.executions
SELECT orchestrator.execution.id, orchestrator.execution.request_id, orchestrator.execution.idempotency_key, orchestrator.execution.payload_hash, orchestrator.execution.actor_subject, orchestrator.execution.actor_snapshot, orchestrator.execution.event_key, orchestrator.execution.event_data, orchestrator.execution.transition_id, orchestrator.execution.from_state, orchestrator.execution.accepted_revision, orchestrator.execution.correlation_id, orchestrator.execution.status, orchestrator.execution.attempts, orchestrator.execution.claims_without_progress, orchestrator.execution.next_attempt_at, orchestrator.execution.lease_owner, orchestrator.execution.lease_until, orchestrator.execution.fencing_token, orchestrator.execution.result, orchestrator.execution.error_code, orchestrator.execution.created_at, orchestrator.execution.updated_at
FROM orchestrator.execution
WHERE orchestrator.execution.request_id = any(%(ids)s) ORDER BY orchestrator.execution.accepted_revision

-- runtime_role
WITH me AS (
  SELECT oid, rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication
  FROM pg_roles
  WHERE rolname IN (current_user, session_user)
),
held AS (
  SELECT r.oid, r.rolname, r.rolsuper
  FROM pg_roles r
  WHERE EXISTS (SELECT FROM me WHERE pg_has_role(me.oid, r.oid, 'MEMBER'))
),
home AS (
  SELECT oid, nspowner FROM pg_namespace WHERE nspname = 'orchestrator'
),
relation AS (
  SELECT c.oid, c.relname, c.relowner
  FROM pg_class c
  JOIN home ON c.relnamespace = home.oid
  WHERE c.relkind IN ('r', 'p')
),
allowed (relname, changed) AS (
  VALUES
    ('flow_definition', ARRAY['definition', 'status', 'checksum', 'contracts', 'revision', 'published_at']),
    ('request_type', ARRAY['active_flow_id', 'enabled', 'revision']),
    ('request_instance',
      ARRAY['current_state', 'data', 'revision', 'audit_sequence', 'audit_head', 'updated_at']),
    ('execution',
      ARRAY['status', 'attempts', 'claims_without_progress', 'next_attempt_at', 'lease_owner', 'lease_until',
            'fencing_token', 'accepted_revision', 'result', 'error_code', 'updated_at']),
    ('action_execution',
      ARRAY['status', 'attempt_count', 'external_idempotency_key', 'input_hash', 'effect', 'uncertain', 'result',
            'provider_reference', 'error_code', 'started_at', 'finished_at']),
    ('document_reference', ARRAY[]::text[]),
    ('audit_entry', ARRAY[]::text[]),
    ('admin_audit', ARRAY[]::text[]),
    ('request_creation', ARRAY[]::text[]),
    ('reconciliation_resolution', ARRAY[]::text[])
),
changeable AS (
  SELECT relation.relname, string_agg(a.attname, ', ' ORDER BY a.attnum) AS columns
  FROM relation
  JOIN pg_attribute a ON a.attrelid = relation.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN allowed ON allowed.relname = relation.relname
  WHERE a.attname <> ALL (coalesce(allowed.changed, ARRAY[]::text[]))
    AND EXISTS (SELECT FROM held WHERE has_column_privilege(held.oid, relation.oid, a.attnum, 'UPDATE'))
  GROUP BY relation.relname
)
SELECT 'The role is a superuser.'
WHERE EXISTS (SELECT FROM me WHERE rolsuper)
UNION ALL
SELECT 'The role can become a superuser.'
WHERE NOT EXISTS (SELECT FROM me WHERE rolsuper) AND EXISTS (SELECT FROM held WHERE rolsuper)
UNION ALL
SELECT format('The role is a member of %s.', rolname)
FROM held
WHERE rolname <> 'orchestrator_runtime'
  AND oid NOT IN (SELECT me.oid FROM me)
  AND NOT EXISTS (SELECT FROM me WHERE rolsuper)
UNION ALL
SELECT 'The role bypasses row security.'
WHERE EXISTS (SELECT FROM me WHERE rolbypassrls)
UNION ALL
SELECT 'The role can make roles.'
WHERE EXISTS (SELECT FROM me WHERE rolcreaterole)
UNION ALL
SELECT 'The role can make databases.'
WHERE EXISTS (SELECT FROM me WHERE rolcreatedb)
UNION ALL
SELECT 'The role can replicate.'
WHERE EXISTS (SELECT FROM me WHERE rolreplication)
UNION ALL
SELECT 'The role owns the schema.'
FROM home WHERE nspowner IN (SELECT held.oid FROM held)
UNION ALL
SELECT 'The role can create in the schema.'
FROM home WHERE EXISTS (SELECT FROM held WHERE has_schema_privilege(held.oid, home.oid, 'CREATE'))
UNION ALL
SELECT 'The role can create schemas in the database.'
WHERE EXISTS (SELECT FROM held WHERE has_database_privilege(held.oid, current_database(), 'CREATE'))
UNION ALL
SELECT format('The role owns the table %s.', relname)
FROM relation WHERE relowner IN (SELECT held.oid FROM held)
UNION ALL
SELECT format('The role can %s the table %s.', power.told, relname)
FROM relation
CROSS JOIN (
  VALUES ('DELETE', 'delete from'), ('TRUNCATE', 'empty'), ('TRIGGER', 'put triggers on')
) AS power (privilege, told)
WHERE EXISTS (SELECT FROM held WHERE has_table_privilege(held.oid, relation.oid, power.privilege))
UNION ALL
SELECT format('The role can put references to the table %s.', relname)
FROM relation
WHERE EXISTS (SELECT FROM held WHERE has_any_column_privilege(held.oid, relation.oid, 'REFERENCES'))
UNION ALL
SELECT format('The role can add rows to the table %s.', relname)
FROM relation
WHERE relname NOT IN (SELECT allowed.relname FROM allowed)
  AND EXISTS (SELECT FROM held WHERE has_any_column_privilege(held.oid, relation.oid, 'INSERT'))
UNION ALL
SELECT format('The role can change %s in the table %s.', columns, relname)
FROM changeable
UNION ALL
SELECT 'The role can switch triggers off for its session.'
WHERE EXISTS (SELECT FROM held WHERE has_parameter_privilege(held.oid, 'session_replication_role', 'SET'))
UNION ALL
SELECT 'The role can erase personal data.'
WHERE EXISTS (
  SELECT FROM held
  CROSS JOIN home
  JOIN pg_proc AS door ON door.pronamespace = home.oid AND door.proname IN ('erase_personal_data', 'erase_behind_the_door')
  WHERE has_function_privilege(held.oid, door.oid, 'EXECUTE')
);

-- standing_of_leases
SELECT execution.id, execution.status <> 'RUNNING' AS given_back
FROM unnest(%(execution_ids)s::uuid[], %(request_ids)s::uuid[], %(owners)s::text[], %(tokens)s::bigint[])
  AS held (execution_id, request_id, owner, token)
JOIN orchestrator.execution ON execution.id = held.execution_id
WHERE execution.request_id = held.request_id
  AND execution.fencing_token = held.token
  AND (
    execution.status <> 'RUNNING'
    OR (execution.lease_owner = held.owner AND execution.lease_until > clock_timestamp())
  )

-- stored_successes
SELECT expected.execution_id
FROM json_to_recordset(%(rows)s::json)
  AS expected (execution_id uuid, action text, external_key text, input_hash text, effect text)
CROSS JOIN LATERAL (
  SELECT
  FROM orchestrator.action_execution AS checkpoint
  WHERE checkpoint.execution_id = expected.execution_id
    AND checkpoint.action_id = expected.action
    AND checkpoint.status = 'SUCCEEDED'
    AND checkpoint.external_idempotency_key = expected.external_key
    AND checkpoint.input_hash = expected.input_hash
    AND checkpoint.effect = expected.effect
  OFFSET 0
) AS checkpoint
