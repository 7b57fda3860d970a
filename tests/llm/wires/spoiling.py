"""Makes an illegal body of a legal one, by one change."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from llm.wires.golden import golden
from roles_runtime.errors import WireError
from roles_runtime.llm.validate import validate_wire

Change = Callable[[dict[str, Any]], object]

_STEP = re.compile(r"[^.\[\]]+")


class Spoiled(msgspec.Struct, frozen=True):
    """A change, the path that the error must name, and a word of what it must say."""

    rule: str
    change: Change
    path: str
    says: str


def put(path: str, value: object) -> Change:
    """Sets what stands there."""
    return lambda body: _owner(body, path).__setitem__(_last(path), value)


def drop(path: str) -> Change:
    """Takes away what stands there."""
    return lambda body: _owner(body, path).__delitem__(_last(path))


def insert(path: str, value: object) -> Change:
    """Puts something before what stands there."""
    return lambda body: _owner(body, path).insert(_last(path), value)


def swap(path: str, other: str) -> Change:
    """Lets two things change places."""

    def change(body: dict[str, Any]) -> None:
        one, two = _at(body, path), _at(body, other)
        put(path, two)(body)
        put(other, one)(body)

    return change


def both(*changes: Change) -> Change:
    """One after the other."""

    def change(body: dict[str, Any]) -> None:
        for each in changes:
            each(body)

    return change


def assert_refused(wire: str, spoiled: Spoiled, name: str = "p:m") -> None:
    """The body passes before the change, and is refused after it, where and as said."""
    body = golden(wire)
    validate_wire(name, wire, body)
    spoiled.change(body)
    with pytest.raises(WireError) as caught:
        validate_wire(name, wire, body)
    assert caught.value.path == spoiled.path
    assert spoiled.says in str(caught.value)


def _steps(path: str) -> list[str | int]:
    return [int(each) if each.isdigit() else each for each in _STEP.findall(path)]


def _last(path: str) -> Any:
    return _steps(path)[-1]


def _at(body: Any, path: str) -> Any:
    for step in _steps(path):
        body = body[step]
    return body


def _owner(body: Any, path: str) -> Any:
    for step in _steps(path)[:-1]:
        body = body[step]
    return body
