"""A response schema as OpenAI's wires have it."""

from __future__ import annotations

import re

from pydantic import JsonValue

from roles_runtime.llm.parts import JsonObject

_STRICT_KEYS = frozenset(
    {"type", "title", "description", "properties", "required", "additionalProperties", "items", "enum", "const",
     "anyOf", "$ref", "$defs"}
)  # fmt: skip


def named_schema(schema: JsonObject) -> JsonObject:
    """The schema with a name, and strict where it can be: a strict one is enforced, token by token."""
    title = schema.get("title")
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", title)[:64] if isinstance(title, str) else ""
    return {"name": name or "answer", "schema": schema, "strict": is_strict(schema)}


def is_strict(schema: JsonObject) -> bool:
    """Whether OpenAI would take the schema as a strict one: its objects are closed, and all their fields required."""
    return schema.get("type") == "object" and _fits(schema)


def _fits(schema: JsonValue) -> bool:
    if not isinstance(schema, dict) or not _STRICT_KEYS.issuperset(schema):
        return False
    properties, required = schema.get("properties", {}), schema.get("required", [])
    definitions, options = schema.get("$defs", {}), schema.get("anyOf", [])
    if not (isinstance(properties, dict) and isinstance(required, list) and isinstance(definitions, dict)):
        return False
    if schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False
        if not closed or set(properties) != {each for each in required if isinstance(each, str)}:
            return False
    inner = [*properties.values(), *definitions.values(), *(options if isinstance(options, list) else [])]
    if "items" in schema:
        inner.append(schema["items"])
    return all(_fits(each) for each in inner)
