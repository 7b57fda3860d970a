"""Which fields an object has and of which types, as a table; and the small checks that all wires share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType, NoneType, UnionType
from typing import TypeAlias

from roles_runtime.llm.wire_rules.fault import Fault, json_name

Kinds: TypeAlias = type | UnionType

_NAMES: Mapping[type, str] = MappingProxyType(
    {
        str: "a string",
        int: "a number",
        float: "a number",
        bool: "a boolean",
        list: "a list",
        dict: "an object",
        NoneType: "null",
    }
)


class Shape:
    """The fields of one kind of object.

    Args:
        required: Those that must be there, with their types.
        optional: Those that may.
        open: Whether others may stand beside them, as where compatible servers have fields of their own.
    """

    def __init__(
        self, required: Mapping[str, Kinds], optional: Mapping[str, Kinds] | None = None, *, open: bool = False
    ) -> None:
        self._required = tuple(required)
        # Exact types, as JSON's are: True is no number.
        self._kinds = {key: _types(kind) for key, kind in {**required, **(optional or {})}.items()}
        self._open = open

    def __call__(self, value: object) -> dict[str, object]:
        """The object, held to its fields.

        Raises:
            Fault: it is none, lacks a field, has a strange one, or one of another type.
        """
        if not isinstance(value, dict):
            raise Fault("", f"must be an object, not {json_name(value)}")
        kinds = self._kinds
        for key, held in value.items():
            kind = kinds.get(key)
            if kind is None:
                if not self._open:
                    raise Fault(key, "the provider knows no such field here")
            elif type(held) not in kind:
                told = " or ".join(dict.fromkeys(map(_NAMES.__getitem__, kind)))
                raise Fault(key, f"must be {told}, not {json_name(held)}")
        for key in self._required:
            if key not in value:
                raise Fault(key, "is missing")
        return value


def _types(kind: Kinds) -> tuple[type, ...]:
    return kind.__args__ if isinstance(kind, UnionType) else (kind,)


def picked(value: object, key: str, table: Mapping[str, Shape]) -> str:
    """Which of the shapes an object is of, told by one of its fields; the object is held to it.

    Raises:
        Fault: it is of none, or not of that shape.
    """
    if not isinstance(value, dict):
        raise Fault("", f"must be an object, not {json_name(value)}")
    kind = value.get(key)
    shape = table.get(kind) if isinstance(kind, str) else None
    if shape is None or not isinstance(kind, str):
        told = repr(kind) if key in value else "none"
        raise Fault(key, f"must be one of {', '.join(table)}; here it is {told}")
    shape(value)
    return kind


def spoken(key: str, text: object) -> str:
    """A text that says something.

    Raises:
        Fault: it is none, empty, or only blanks.
    """
    if not isinstance(text, str):
        raise Fault(key, f"must be a string, not {json_name(text)}")
    if not text or text.isspace():
        raise Fault(key, "must not be empty" if not text else "must not be only blanks")
    return text


def at_least(least: int, key: str, holder: Mapping[str, object]) -> None:
    """Holds a number that may be missing to its lower bound.

    Raises:
        Fault: it is lower.
    """
    value = holder.get(key)
    if value is not None and (not isinstance(value, int) or value < least):
        raise Fault(key, f"must be a whole number from {least} upwards; here it is {value!r}")


def between(low: float, high: float, key: str, holder: Mapping[str, object]) -> None:
    """Holds a number that may be missing to its bounds.

    Raises:
        Fault: it is outside.
    """
    value = holder.get(key)
    if value is not None and (not isinstance(value, int | float) or not low <= value <= high):
        raise Fault(key, f"must be from {low} to {high}; here it is {value!r}")


def one_of(choices: Collection[object], key: str, holder: Mapping[str, object]) -> None:
    """Holds a field that may be missing to its choices.

    Raises:
        Fault: it is another.
    """
    if key in holder and holder[key] not in choices:
        raise Fault(key, f"must be one of {', '.join(map(str, choices))}; here it is {holder[key]!r}")
