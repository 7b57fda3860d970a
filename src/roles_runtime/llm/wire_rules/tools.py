"""What tools are declared, how one is chosen, and how one is called."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from roles_runtime.llm.wire_rules.fault import Fault, json_name
from roles_runtime.llm.wire_rules.written import shallow

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def named(key: str, name: object, pattern: re.Pattern[str]) -> str:
    """A name as the wire takes it.

    Raises:
        Fault: it is none.
    """
    if not isinstance(name, str) or pattern.fullmatch(name) is None:
        raise Fault(key, f"must match {pattern.pattern}; here it is {name!r}")
    return name


class Declared:
    """The tools that a body declares.

    Args:
        pattern: What their names must match.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.names: set[str] = set()

    def add(self, tool: Mapping[str, object], schema_key: str, *, schema_required: bool = True) -> None:
        """One more.

        Raises:
            Fault: its name is taken or none, or its schema is none of an object.
        """
        name = named("name", tool.get("name"), self._pattern)
        if name in self.names:
            raise Fault("name", f"{name!r} is the name of another tool already")
        self.names.add(name)
        if schema_required or schema_key in tool:
            schema_of_object(schema_key, tool.get(schema_key))

    def choice(self, key: str, name: object) -> None:
        """A name that a choice demands.

        Raises:
            Fault: no such tool is declared.
        """
        if not isinstance(name, str) or name not in self.names:
            raise Fault(key, f"{name!r} is not among the tools")


def schema_of_object(key: str, schema: object) -> None:
    """A JSON Schema that describes an object.

    Raises:
        Fault: it is none.
    """
    if not isinstance(schema, dict):
        raise Fault(key, f"must be a JSON Schema, not {json_name(schema)}")
    if schema.get("type") != "object":
        raise Fault(f"{key}.type", f"must be 'object'; here it is {schema.get('type')!r}")
    free_json(key, schema)


def arguments_text(key: str, arguments: object) -> None:
    """Arguments as the JSON text of an object.

    Raises:
        Fault: they are none.
    """
    if not isinstance(arguments, str):
        raise Fault(key, f"must be JSON text, not {json_name(arguments)}")
    try:
        _OBJECT.decode(arguments)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Fault(key, f"must be the JSON text of an object: {error}") from None


def free_json(key: str, value: object) -> None:
    """An object of free JSON, of a bounded depth.

    Raises:
        Fault: it is none, or deeper.
    """
    if not isinstance(value, dict):
        raise Fault(key, f"must be an object, not {json_name(value)}")
    try:
        shallow(value)
    except Fault as fault:
        raise fault.under(key) from None
