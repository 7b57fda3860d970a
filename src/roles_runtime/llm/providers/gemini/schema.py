"""A JSON Schema as Gemini understands one."""

from __future__ import annotations

from pydantic import JsonValue

from roles_runtime.llm.parts import JsonObject

_UNKNOWN = frozenset({"$schema", "discriminator", "examples", "title", "exclusiveMinimum", "exclusiveMaximum"})
_FORMATS = frozenset({"date-time", "date", "time", "enum"})
_MAPS = ("properties", "$defs")


def understood(schema: JsonObject) -> JsonObject:
    """The schema without what would be refused; one value that must be is an enum of one."""
    mended: JsonObject = {}
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, dict):
            mended[key] = {name: _mended(each) for name, each in value.items()}
        elif key == "const":
            mended["enum"] = [value]
            if "type" not in schema and isinstance(value, str):
                mended["type"] = "string"
        elif key in ("enum", "required", "default"):
            mended[key] = value
        elif key == "format" and schema.get("type") == "string" and value not in _FORMATS:
            continue
        elif key not in _UNKNOWN:
            mended[key] = _mended(value)
    return mended


def _mended(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return understood(value)
    return [_mended(each) for each in value] if isinstance(value, list) else value
