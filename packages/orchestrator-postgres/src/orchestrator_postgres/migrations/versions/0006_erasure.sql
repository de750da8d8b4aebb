-- Erasing personal data of requests that have ended: one door, which records each erasure in the request's own history.
-- Whoever may erase gets nothing but this door: it can neither read what it erases nor write anything else.

-- Erasures are found without walking over histories.
CREATE INDEX ix_audit_erasure ON orchestrator.audit_entry (request_id, sequence)
  WHERE kind = 'PERSONAL_DATA_ERASED';

-- As before, and for the door below too, which runs with its owner's rights for somebody who has logged in to erase.
CREATE OR REPLACE FUNCTION orchestrator.guard_audit_entry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'UPDATE'
     AND NEW.detail IS NULL AND NEW.salt IS NULL
     AND (NEW.id, NEW.request_id, NEW.execution_id, NEW.sequence, NEW.kind, NEW.actor_subject, NEW.flow_id,
          NEW.from_state, NEW.to_state, NEW.detail_hash, NEW.head, NEW.created_at)
         IS NOT DISTINCT FROM
         (OLD.id, OLD.request_id, OLD.execution_id, OLD.sequence, OLD.kind, OLD.actor_subject, OLD.flow_id,
          OLD.from_state, OLD.to_state, OLD.detail_hash, OLD.head, OLD.created_at)
     AND (pg_has_role(session_user, 'orchestrator_retention', 'USAGE')
          OR pg_has_role(current_user, 'orchestrator_retention', 'USAGE')) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'History is only ever appended to.'
    USING ERRCODE = 'restrict_violation', CONSTRAINT = 'audit_entry_append_only';
END $$;

CREATE FUNCTION orchestrator.guard_resolution() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'UPDATE'
     AND NEW.evidence = '{}'::jsonb AND NEW.result IS NULL AND NEW.payload_hash = repeat('0', 64)
     AND (NEW.id, NEW.execution_id, NEW.idempotency_key, NEW.action_id, NEW.resolution, NEW.operator_subject,
          NEW.correlation_id, NEW.created_at)
         IS NOT DISTINCT FROM
         (OLD.id, OLD.execution_id, OLD.idempotency_key, OLD.action_id, OLD.resolution, OLD.operator_subject,
          OLD.correlation_id, OLD.created_at)
     AND pg_has_role(session_user, 'orchestrator_retention', 'USAGE') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'Rows of this table are only ever added.'
    USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME;
END $$;

CREATE OR REPLACE TRIGGER reconciliation_resolution_append_only
  BEFORE UPDATE OR DELETE ON orchestrator.reconciliation_resolution
  FOR EACH ROW EXECUTE FUNCTION orchestrator.guard_resolution();

-- Which parts of a request are erased now. What an open request gained after an erasure is not.
CREATE FUNCTION orchestrator.erased_parts(wanted uuid) RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT coalesce(array_agg(DISTINCT part ORDER BY part), ARRAY[]::text[])
  FROM orchestrator.audit_entry AS erasure
  CROSS JOIN LATERAL jsonb_array_elements_text(erasure.detail -> 'erased') AS part
  WHERE erasure.request_id = wanted
    AND erasure.kind = 'PERSONAL_DATA_ERASED'
    AND NOT EXISTS (
      SELECT FROM orchestrator.audit_entry AS later
      WHERE later.request_id = wanted
        AND later.sequence > erasure.sequence
        AND later.kind <> 'PERSONAL_DATA_ERASED'
    )
$$;

-- Erase the parts that `fact_detail` names under `erased`, and append the entry that says so; both or neither.
-- Returns ERASED, or why nothing was done: MISSING, BUSY (somebody holds the request), MOVED (it isn't at the revision
-- that the caller has seen), ACTIVE (an execution blocks it) or OPEN (short of an end state, and that wasn't allowed).
-- Locks the request first and never waits for it. Hashes that would let somebody try out guesses go with their data.
CREATE FUNCTION orchestrator.erase_personal_data(
  wanted uuid, seen_revision bigint, open_allowed boolean,
  entry_id uuid, entry_actor text, fact_detail jsonb, fact_salt text, fact_detail_hash text, fact_content_hash text
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  parts CONSTANT text[] := ARRAY(SELECT jsonb_array_elements_text(fact_detail -> 'erased'));
  none CONSTANT text := repeat('0', 64);
  moment CONSTANT timestamptz := clock_timestamp();
  found_request record;
  advanced record;
BEGIN
  IF NOT parts && ARRAY['HISTORY', 'REQUEST_DATA', 'INITIAL_DATA', 'EVENT_DATA', 'RESULTS', 'DOCUMENTS', 'EVIDENCE']
     OR NOT parts <@ ARRAY['HISTORY', 'REQUEST_DATA', 'INITIAL_DATA', 'EVENT_DATA', 'RESULTS', 'DOCUMENTS', 'EVIDENCE']
  THEN
    RAISE EXCEPTION 'Nothing, or an unknown part, is named to be erased.' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  -- The owner of the tables could call this too; the duty is not its.
  IF NOT pg_has_role(session_user, 'orchestrator_retention', 'USAGE') THEN
    RAISE EXCEPTION 'Only orchestrator_retention erases.' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT request.revision, request.flow_id, request.current_state INTO found_request
  FROM orchestrator.request_instance AS request
  WHERE request.id = wanted
  FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN CASE WHEN EXISTS (SELECT FROM orchestrator.request_instance WHERE id = wanted) THEN 'BUSY' ELSE 'MISSING' END;
  END IF;
  IF found_request.revision <> seen_revision THEN
    RETURN 'MOVED';
  END IF;
  IF EXISTS (
    SELECT FROM orchestrator.execution
    WHERE request_id = wanted AND status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  ) THEN
    RETURN 'ACTIVE';
  END IF;
  IF NOT open_allowed AND NOT EXISTS (
    SELECT FROM orchestrator.flow_definition AS flow
    CROSS JOIN LATERAL jsonb_array_elements(flow.definition -> 'states') AS state (body)
    WHERE flow.id = found_request.flow_id
      AND state.body ->> 'key' = found_request.current_state
      AND state.body -> 'terminal' = 'true'::jsonb
  ) THEN
    RETURN 'OPEN';
  END IF;

  IF 'HISTORY' = ANY (parts) THEN
    UPDATE orchestrator.audit_entry SET detail = NULL, salt = NULL
    WHERE request_id = wanted AND kind <> 'PERSONAL_DATA_ERASED' AND detail IS NOT NULL;
  END IF;
  IF 'INITIAL_DATA' = ANY (parts) THEN
    UPDATE orchestrator.request_creation SET payload_hash = none WHERE request_id = wanted;
  END IF;
  IF 'EVENT_DATA' = ANY (parts) THEN
    UPDATE orchestrator.execution
    SET event_data = '{}', actor_snapshot = jsonb_set(actor_snapshot, '{attributes}', '{}'), payload_hash = none
    WHERE request_id = wanted;
  END IF;
  IF parts && ARRAY['REQUEST_DATA', 'INITIAL_DATA', 'EVENT_DATA', 'RESULTS'] THEN
    UPDATE orchestrator.action_execution AS action
    SET input_hash = none,
        result = CASE WHEN 'RESULTS' = ANY (parts) THEN NULL ELSE action.result END,
        provider_reference = CASE WHEN 'RESULTS' = ANY (parts) THEN NULL ELSE action.provider_reference END
    FROM orchestrator.execution AS execution
    WHERE execution.request_id = wanted AND action.execution_id = execution.id;
  END IF;
  IF 'DOCUMENTS' = ANY (parts) THEN
    UPDATE orchestrator.document_reference
    SET storage_document_id = 'erased:' || id, mime_type = 'application/octet-stream', size_bytes = 0, checksum = none
    WHERE request_id = wanted;
  END IF;
  IF 'EVIDENCE' = ANY (parts) THEN
    UPDATE orchestrator.reconciliation_resolution AS resolution
    SET evidence = '{}', result = NULL, payload_hash = none
    FROM orchestrator.execution AS execution
    WHERE execution.request_id = wanted AND resolution.execution_id = execution.id;
  END IF;

  -- The next link of the chain, as advance_requests.sql makes it. `updated_at` stays: a request's age counts from its
  -- end, whatever is erased of it later.
  UPDATE orchestrator.request_instance AS request
  SET revision = request.revision + 1,
      data = CASE WHEN 'REQUEST_DATA' = ANY (parts) THEN '{}' ELSE request.data END,
      initial_data = CASE WHEN 'INITIAL_DATA' = ANY (parts) THEN '{}' ELSE request.initial_data END,
      audit_sequence = request.audit_sequence + 1,
      audit_head = encode(
        sha256(
          convert_to(
            request.audit_head || E'\n'
            || (request.audit_sequence + 1)::text || E'\n'
            || to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || E'\n'
            || fact_content_hash,
            'UTF8'
          )
        ),
        'hex'
      )
  WHERE request.id = wanted
  RETURNING request.audit_sequence, request.audit_head INTO advanced;
  INSERT INTO orchestrator.audit_entry (
    id, request_id, sequence, kind, actor_subject, flow_id, detail, salt, detail_hash, head, created_at
  ) VALUES (
    entry_id, wanted, advanced.audit_sequence, 'PERSONAL_DATA_ERASED', entry_actor, found_request.flow_id,
    fact_detail, fact_salt, fact_detail_hash, advanced.audit_head, moment
  );
  RETURN 'ERASED';
END $$;

-- The oldest revision whose code can go on with this schema: what a release that was built before asks at its start.
-- Each later revision replaces it: one that only adds names the revision before it, one that takes away names itself.
CREATE FUNCTION orchestrator.serves_code_since() RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $$ SELECT '0005' $$;
