-- A history that somebody has broken keeps nothing from being erased. What the entry of an erasure says of itself is proven
-- at the door, where the head that the request keeps is still known to nobody but the door; the guard of the entries, which
-- can only see the entry before it, no longer asks for the link.

CREATE OR REPLACE FUNCTION orchestrator.guard_erasure_entry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  detail_text text;
BEGIN
  SELECT
    '{"erased":[' || string_agg('"' || part || '"', ',' ORDER BY place) || '],"reference":'
    || (NEW.detail -> 'reference')::text || ',"rule":' || (NEW.detail -> 'rule')::text
    || ',"run":' || (NEW.detail -> 'run')::text || '}'
  INTO detail_text
  FROM jsonb_array_elements_text(NEW.detail -> 'erased') WITH ORDINALITY AS named (part, place);
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
  ) IS NOT TRUE THEN
    RAISE EXCEPTION 'The entry of an erasure is not what the door writes.'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'audit_entry_erasure_proven';
  END IF;
  RETURN NEW;
END $$;

-- What stood at the door goes on behind it, where nobody may call it.
ALTER FUNCTION orchestrator.erase_personal_data RENAME TO erase_behind_the_door;
DO $revoked$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'orchestrator_retention') THEN
    REVOKE ALL ON FUNCTION orchestrator.erase_behind_the_door FROM orchestrator_retention;
  END IF;
END $revoked$;

-- As before, and only with the hash that the entry has: with another one the chain would be broken from here on.
CREATE FUNCTION orchestrator.erase_personal_data(
  wanted uuid, seen_revision bigint, open_allowed boolean,
  entry_id uuid, entry_actor text, fact_detail jsonb, fact_salt text, fact_detail_hash text, fact_content_hash text
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  content_text CONSTANT text := '{"actor":"system","detailHash":"' || fact_detail_hash || '","entryId":"' || entry_id
    -- A request's flow version never changes, so that no lock is needed to read it.
    || '","executionId":null,"flowId":"' || (SELECT flow_id FROM orchestrator.request_instance WHERE id = wanted)
    || '","fromState":null,"kind":"PERSONAL_DATA_ERASED","requestId":"' || wanted || '","toState":null}';
BEGIN
  IF fact_content_hash IS DISTINCT FROM encode(sha256(convert_to(content_text, 'UTF8')), 'hex')
     AND EXISTS (SELECT FROM orchestrator.request_instance WHERE id = wanted) THEN
    RAISE EXCEPTION 'The entry of an erasure is not what the door writes.'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'audit_entry_erasure_proven';
  END IF;
  RETURN orchestrator.erase_behind_the_door(
    wanted, seen_revision, open_allowed,
    entry_id, entry_actor, fact_detail, fact_salt, fact_detail_hash, fact_content_hash
  );
END $$;

-- This revision takes away nothing that the code before it does.
CREATE OR REPLACE FUNCTION orchestrator.serves_code_since() RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT '0008' $$;
