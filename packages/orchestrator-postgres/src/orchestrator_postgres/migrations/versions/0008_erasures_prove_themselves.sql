-- What the door of erasures runs is its own text alone, and what it records can be neither forged nor made elsewhere.

-- Where a search path doesn't name pg_temp, it comes first for names of types: whoever may make a temporary domain called
-- `text` would have its check run with the rights of the door's owner.
ALTER FUNCTION orchestrator.erase_personal_data SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION orchestrator.erased_parts SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION orchestrator.guard_audit_entry SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION orchestrator.guard_flow_definition SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION orchestrator.guard_new_flow_definition SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION orchestrator.guard_resolution SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION orchestrator.refuse_change SET search_path = pg_catalog, pg_temp;

-- The entry of an erasure is written for whoever has logged in to erase, in the name of the system, with its four members
-- and nothing else, and its hashes are those of what it says. Otherwise the role that erases could put texts and other
-- people's names into histories and break their chains, and the service's role could pass off a change as an erasure,
-- which nobody replays any more. Canonical JSON is short here: members in order, and texts that need no escape.
CREATE FUNCTION orchestrator.guard_erasure_entry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  head_before CONSTANT text := coalesce(
    (SELECT head FROM orchestrator.audit_entry WHERE request_id = NEW.request_id AND sequence = NEW.sequence - 1),
    repeat('0', 64)
  );
  detail_text text;
  content_text text;
  link_text text;
BEGIN
  SELECT
    '{"erased":[' || string_agg('"' || part || '"', ',' ORDER BY place) || '],"reference":'
    || (NEW.detail -> 'reference')::text || ',"rule":' || (NEW.detail -> 'rule')::text
    || ',"run":' || (NEW.detail -> 'run')::text || '}'
  INTO detail_text
  FROM jsonb_array_elements_text(NEW.detail -> 'erased') WITH ORDINALITY AS named (part, place);
  content_text := '{"actor":"system","detailHash":"' || NEW.detail_hash || '","entryId":"' || NEW.id
    || '","executionId":null,"flowId":"' || NEW.flow_id || '","fromState":null,"kind":"PERSONAL_DATA_ERASED","requestId":"'
    || NEW.request_id || '","toState":null}';
  link_text := head_before || E'\n' || NEW.sequence || E'\n'
    || to_char(NEW.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || E'\n'
    || encode(sha256(convert_to(content_text, 'UTF8')), 'hex');
  -- What is left out makes a comparison null, which is no proof either.
  IF (
    pg_has_role(session_user, 'orchestrator_retention', 'USAGE')
    AND NEW.actor_subject = 'system'
    AND (NEW.execution_id, NEW.from_state, NEW.to_state) IS NOT DISTINCT FROM (NULL, NULL, NULL)
    AND NEW.detail - ARRAY['erased', 'reference', 'rule', 'run'] = '{}'
    AND NEW.detail ->> 'run' ~ '^[0-9a-f-]{36}$'
    AND coalesce(NEW.detail ->> 'rule', 'none') ~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$'
    AND coalesce(NEW.detail ->> 'reference', 'none') ~ '^[A-Za-z0-9_.-]{1,64}$'
    AND NEW.salt ~ '^[0-9a-f]{32}$'
    AND NEW.detail_hash = encode(sha256(convert_to(NEW.salt || E'\n' || detail_text, 'UTF8')), 'hex')
    AND NEW.head = encode(sha256(convert_to(link_text, 'UTF8')), 'hex')
  ) IS NOT TRUE THEN
    RAISE EXCEPTION 'The entry of an erasure is not what the door writes.'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'audit_entry_erasure_proven';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER audit_entry_erasure_proven
  BEFORE INSERT ON orchestrator.audit_entry
  FOR EACH ROW WHEN (NEW.kind = 'PERSONAL_DATA_ERASED') EXECUTE FUNCTION orchestrator.guard_erasure_entry();

-- This revision takes away nothing that the code before it does.
CREATE OR REPLACE FUNCTION orchestrator.serves_code_since() RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT '0007' $$;
