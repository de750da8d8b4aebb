-- The tables of the specification's section 7, with what the durable protocol adds to them.
-- Names, widths and the named indexes are the specification's. The schema itself exists already.

CREATE TABLE orchestrator.flow_definition (
  id uuid PRIMARY KEY,
  flow_key varchar(100) NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  status varchar(20) NOT NULL CHECK (status IN ('DRAFT', 'PUBLISHED', 'RETIRED')),
  schema_version integer NOT NULL CHECK (schema_version > 0),
  definition jsonb NOT NULL CHECK (jsonb_typeof(definition) = 'object'),
  checksum varchar(64) CHECK (checksum ~ '^[0-9a-f]{64}$'),
  contracts jsonb NOT NULL DEFAULT '[]'::jsonb CHECK (jsonb_typeof(contracts) = 'array'),
  revision bigint NOT NULL DEFAULT 0 CHECK (revision >= 0),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by varchar(200) NOT NULL,
  published_at timestamptz,
  UNIQUE (flow_key, version),
  CONSTRAINT flow_definition_published_is_sealed
    CHECK (status = 'DRAFT' OR (checksum IS NOT NULL AND published_at IS NOT NULL))
);

CREATE TABLE orchestrator.request_type (
  type_key varchar(100) PRIMARY KEY,
  active_flow_id uuid REFERENCES orchestrator.flow_definition (id),
  enabled boolean NOT NULL DEFAULT true,
  revision bigint NOT NULL DEFAULT 0 CHECK (revision >= 0)
);

CREATE TABLE orchestrator.request_instance (
  id uuid PRIMARY KEY,
  type_key varchar(100) NOT NULL REFERENCES orchestrator.request_type (type_key),
  flow_id uuid NOT NULL REFERENCES orchestrator.flow_definition (id),
  current_state varchar(100) NOT NULL,
  data jsonb NOT NULL DEFAULT '{}'::jsonb CHECK (jsonb_typeof(data) = 'object'),
  initial_data jsonb NOT NULL DEFAULT '{}'::jsonb CHECK (jsonb_typeof(initial_data) = 'object'),
  owner_subject varchar(200) NOT NULL,
  business_scope varchar(100) NOT NULL,
  revision bigint NOT NULL DEFAULT 0 CHECK (revision >= 0),
  audit_sequence bigint NOT NULL DEFAULT 0 CHECK (audit_sequence >= 0),
  audit_head varchar(64) NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000'
    CHECK (audit_head ~ '^[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 85);

CREATE INDEX ix_request_scope_state
  ON orchestrator.request_instance (business_scope, current_state, created_at, id);
CREATE INDEX ix_request_owner ON orchestrator.request_instance (owner_subject, created_at, id);

CREATE TABLE orchestrator.execution (
  id uuid PRIMARY KEY,
  request_id uuid NOT NULL REFERENCES orchestrator.request_instance (id),
  idempotency_key varchar(200) NOT NULL,
  payload_hash varchar(64) NOT NULL CHECK (payload_hash ~ '^[0-9a-f]{64}$'),
  actor_subject varchar(200) NOT NULL,
  actor_snapshot jsonb NOT NULL CHECK (jsonb_typeof(actor_snapshot) = 'object'),
  event_key varchar(100) NOT NULL,
  event_data jsonb NOT NULL CHECK (jsonb_typeof(event_data) = 'object'),
  transition_id varchar(100) NOT NULL,
  from_state varchar(100) NOT NULL,
  accepted_revision bigint NOT NULL CHECK (accepted_revision >= 0),
  correlation_id varchar(200),
  status varchar(40) NOT NULL CHECK (
    status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'SUCCEEDED', 'FAILED', 'RECONCILIATION_REQUIRED')
  ),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  claims_without_progress integer NOT NULL DEFAULT 0 CHECK (claims_without_progress >= 0),
  next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  lease_owner varchar(200),
  lease_until timestamptz,
  fencing_token bigint NOT NULL DEFAULT 0 CHECK (fencing_token >= 0),
  result jsonb,
  error_code varchar(100),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (request_id, idempotency_key),
  -- What is running must be found again when its owner dies.
  CONSTRAINT execution_running_is_leased
    CHECK (status <> 'RUNNING' OR (lease_owner IS NOT NULL AND lease_until IS NOT NULL))
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX uq_request_active_execution
  ON orchestrator.execution (request_id)
  WHERE status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED');
CREATE INDEX ix_execution_due
  ON orchestrator.execution (next_attempt_at, created_at)
  WHERE status IN ('PENDING', 'RETRY_WAIT');
CREATE INDEX ix_execution_lease
  ON orchestrator.execution (lease_until)
  WHERE status = 'RUNNING';

CREATE TABLE orchestrator.action_execution (
  id uuid PRIMARY KEY,
  execution_id uuid NOT NULL REFERENCES orchestrator.execution (id),
  action_id varchar(100) NOT NULL,
  status varchar(30) NOT NULL CHECK (status IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'UNKNOWN')),
  attempt_count integer NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  external_idempotency_key varchar(200) NOT NULL,
  input_hash varchar(64) NOT NULL CHECK (input_hash ~ '^[0-9a-f]{64}$'),
  -- A row of which nobody recorded the effect counts as the most dangerous one.
  effect varchar(30) NOT NULL DEFAULT 'NON_IDEMPOTENT_WRITE'
    CHECK (effect IN ('READ_ONLY', 'IDEMPOTENT_WRITE', 'NON_IDEMPOTENT_WRITE')),
  uncertain boolean NOT NULL DEFAULT false,
  result jsonb,
  provider_reference varchar(200),
  error_code varchar(100),
  started_at timestamptz,
  finished_at timestamptz,
  UNIQUE (execution_id, action_id)
) WITH (fillfactor = 70);

CREATE TABLE orchestrator.document_reference (
  id uuid PRIMARY KEY,
  request_id uuid NOT NULL REFERENCES orchestrator.request_instance (id),
  document_type varchar(100) NOT NULL,
  storage_document_id varchar(200) NOT NULL,
  mime_type varchar(100) NOT NULL,
  size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
  checksum varchar(128) NOT NULL,
  created_by varchar(200) NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (request_id, document_type, storage_document_id)
);

CREATE TABLE orchestrator.audit_entry (
  id uuid PRIMARY KEY,
  request_id uuid NOT NULL REFERENCES orchestrator.request_instance (id),
  execution_id uuid REFERENCES orchestrator.execution (id),
  sequence bigint NOT NULL CHECK (sequence > 0),
  kind varchar(100) NOT NULL,
  actor_subject varchar(200) NOT NULL,
  flow_id uuid NOT NULL REFERENCES orchestrator.flow_definition (id),
  from_state varchar(100),
  to_state varchar(100),
  -- Both are null once erased; what was there stays proven by detail_hash.
  detail jsonb CHECK (jsonb_typeof(detail) = 'object'),
  salt varchar(64),
  detail_hash varchar(64) NOT NULL CHECK (detail_hash ~ '^[0-9a-f]{64}$'),
  head varchar(64) NOT NULL CHECK (head ~ '^[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT audit_entry_request_id_sequence_key UNIQUE (request_id, sequence),
  CONSTRAINT audit_entry_erased_whole CHECK ((detail IS NULL) = (salt IS NULL))
);

CREATE INDEX ix_audit_request ON orchestrator.audit_entry (request_id, created_at, id);

CREATE TABLE orchestrator.admin_audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  action varchar(100) NOT NULL,
  actor_subject varchar(200) NOT NULL,
  flow_id uuid REFERENCES orchestrator.flow_definition (id),
  type_key varchar(100) REFERENCES orchestrator.request_type (type_key),
  checksum varchar(64),
  correlation_id varchar(200),
  detail jsonb NOT NULL DEFAULT '{}'::jsonb CHECK (jsonb_typeof(detail) = 'object'),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX ix_admin_audit_flow ON orchestrator.admin_audit (flow_id, id);
CREATE INDEX ix_admin_audit_type ON orchestrator.admin_audit (type_key, id);

CREATE TABLE orchestrator.request_creation (
  actor_subject varchar(200) NOT NULL,
  business_scope varchar(100) NOT NULL,
  idempotency_key varchar(200) NOT NULL,
  payload_hash varchar(64) NOT NULL CHECK (payload_hash ~ '^[0-9a-f]{64}$'),
  -- The key is reserved before its request is written, in the same transaction.
  request_id uuid NOT NULL UNIQUE REFERENCES orchestrator.request_instance (id) DEFERRABLE INITIALLY DEFERRED,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (actor_subject, business_scope, idempotency_key)
);

CREATE TABLE orchestrator.reconciliation_resolution (
  id uuid PRIMARY KEY,
  execution_id uuid NOT NULL REFERENCES orchestrator.execution (id),
  idempotency_key varchar(200) NOT NULL,
  payload_hash varchar(64) NOT NULL CHECK (payload_hash ~ '^[0-9a-f]{64}$'),
  action_id varchar(100),
  resolution varchar(40) NOT NULL CHECK (
    resolution IN ('RESUME_WITH_RESULT', 'RESUME_EFFECT_ABSENT', 'CLOSE_WITHOUT_TRANSITION')
  ),
  evidence jsonb NOT NULL CHECK (jsonb_typeof(evidence) = 'object'),
  result jsonb,
  operator_subject varchar(200) NOT NULL,
  correlation_id varchar(200),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (execution_id, idempotency_key)
);
