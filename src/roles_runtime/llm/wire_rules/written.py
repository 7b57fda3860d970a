"""What can not be written as JSON: where it stands. Only a body that failed is looked through."""

from __future__ import annotations

import math

from roles_runtime.llm.wire_rules.fault import Fault

MAX_DEPTH = 64
"""How deep arguments, results and schemas may be nested; the strictest provider reads 100 levels of a whole body."""


def unwritable(value: object, path: str = "") -> Fault | None:
    """The first text, number or thing that JSON has no place for; None where there is none."""
    match value:
        case None | bool() | int():
            return None
        case str():
            return _unwritable_text(value, path)
        case float():
            return None if math.isfinite(value) else Fault(path, f"JSON has no {value}")
        case list() | tuple():
            found = (unwritable(each, f"{path}[{index}]") for index, each in enumerate(value))
        case dict():
            found = (_unwritable_field(key, each, path) for key, each in value.items())
        case _:
            return Fault(path, f"JSON has no {type(value).__name__}")
    return next(filter(None, found), None)


def shallow(value: object) -> None:
    """Holds free JSON to a bounded depth.

    Raises:
        Fault: it is deeper.
    """
    depth, level = 0, _containers(value)
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise Fault("", f"is nested more than {MAX_DEPTH} levels deep")
        level = [inner for outer in level for inner in _containers(outer)]


def _containers(value: object) -> list[object]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in inside if isinstance(each, (dict, list))]


def _unwritable_field(key: object, value: object, path: str) -> Fault | None:
    if not isinstance(key, str):
        return Fault(path, f"JSON has no {type(key).__name__} as the name of a field")
    return _unwritable_text(key, path) or unwritable(value, f"{path}.{key}" if path else key)


def _unwritable_text(text: str, path: str) -> Fault | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return Fault(path, f"half of a surrogate pair, U+{ord(text[error.start]):04X}, stands alone in its text")
    return None
