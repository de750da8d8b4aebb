"""An answer cut down to what its contract names, so that a provider may add members without breaking it."""

from orchestrator_domain.exact_json.value import JsonObject, JsonValue


def named_members(value: JsonValue, schema: JsonValue) -> JsonValue:
    """Return the value without the members that the schema's `properties` don't name, at every depth.

    Objects whose schema names none, or says by other means what further members may be, stay whole.
    """
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [named_members(element, schema.get("items")) for element in value]
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return value
    return {
        name: named_members(member, properties.get(name))
        for name, member in value.items()
        if name in properties or _allows_more(schema)
    }


def _allows_more(schema: JsonObject) -> bool:
    return isinstance(schema.get("additionalProperties"), dict) or "patternProperties" in schema
