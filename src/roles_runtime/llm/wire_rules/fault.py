"""What is wrong with a body, and where; the place is put together on the way up, so that a good body pays nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Checked = TypeVar("Checked")


class Fault(Exception):  # noqa: N818  # it never leaves the rules: validate_wire makes a WireError of it
    """A rule is broken.

    Attributes:
        path: Where, seen from the check that found it.
        problem: What, in a sentence without a full stop.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path, self.problem = path, problem

    def under(self, step: str) -> Fault:
        """The same, seen from one step further out."""
        gap = "." if self.path and not self.path.startswith("[") else ""
        return Fault(f"{step}{gap}{self.path}", self.problem)


def each(key: str, items: object, check: Callable[[object], object]) -> None:
    """Checks what stands in a list, which must not be empty.

    Raises:
        Fault: there is no list, nothing in it, or an item is wrong.
    """
    if not isinstance(items, list):
        raise Fault(key, f"must be a list, not {json_name(items)}")
    if not items:
        raise Fault(key, "must not be empty")
    index = 0
    try:
        for index, item in enumerate(items):  # noqa: B007  # the index is for the fault
            check(item)
    except Fault as fault:
        raise fault.under(f"{key}[{index}]") from None


def within(key: str, holder: Mapping[str, object], check: Callable[[object], Checked]) -> Checked:
    """What the check makes of a field.

    Raises:
        Fault: the field is wrong; a field that is not there is None.
    """
    try:
        return check(holder.get(key))
    except Fault as fault:
        raise fault.under(key) from None


def json_name(value: object) -> str:
    """What a reader of JSON calls a value of that type."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "an object"
    return type(value).__name__
