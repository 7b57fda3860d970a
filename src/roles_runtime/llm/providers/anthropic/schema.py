"""A JSON Schema as Anthropic enforces one: closed objects, and no bounds on numbers, lengths and counts."""

from __future__ import annotations

from pydantic import JsonValue

from roles_runtime.llm.parts import JsonObject

_UNKNOWN = frozenset(
    {
        *("$schema", "$id", "default", "examples", "discriminator", "pattern", "minLength", "maxLength"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "patternProperties"),
    }
)
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
)
_MAPS = ("properties", "$defs", "definitions")


def enforceable(schema: JsonObject) -> JsonObject:
    """The schema without what would be refused. What is lost is said in the prompt, where the whole schema stands."""
    mended: JsonObject = {}
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, dict):
            mended[key] = {name: _mended(each) for name, each in value.items()}
        elif key == "format" and value not in _FORMATS:
            continue
        elif key in ("enum", "const", "required"):
            mended[key] = value
        elif key not in _UNKNOWN:
            mended["anyOf" if key == "oneOf" else key] = _mended(value)
    if mended.get("type") == "object" or "properties" in mended:
        mended["additionalProperties"] = False
    return mended


def _mended(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return enforceable(value)
    return [_mended(each) for each in value] if isinstance(value, list) else value
