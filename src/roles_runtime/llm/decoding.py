"""JSON of a provider, decoded: whatever is wrong with it is one kind of error, and a count is always a count."""

from __future__ import annotations

import json
import math
import re
from typing import TypeVar

import msgspec

from roles_runtime.llm.parts import mend_surrogates

T = TypeVar("T")

MAX_TOKENS = 2**53 - 1
"""No call costs more; what JSON and the journal can hold exactly."""

_HALF = re.compile(
    rb"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def decoded(decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw) -> T:
    """The object that the bytes are. Half of a surrogate pair stays in it, since its other half may come later.

    Raises:
        msgspec.DecodeError: they are no JSON, or none of that type.
    """
    try:
        return decoder.decode(data)
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deep") from None
    except msgspec.DecodeError:
        data = bytes(data)
        if b"\\u" not in data:
            raise
    try:
        value = json.loads(data, parse_float=_finite, parse_constant=_finite)
        return _converted(decoder, value, data)
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deep") from None
    except ValueError as error:
        raise msgspec.DecodeError(str(error)) from None


def _converted(decoder: msgspec.json.Decoder[T], value: object, data: bytes) -> T:
    try:
        halved: T = msgspec.convert(value, decoder.type)
    except msgspec.ValidationError:
        # What is kept as its own bytes can be made of bytes alone.
        return decoder.decode(_HALF.sub(_whole, data))
    return halved


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"JSON has no number like {number:.20}")
    return value


def _whole(found: re.Match[bytes]) -> bytes:
    return found[0] if found[2] else found[1] + b"\\ufffd"


def raw_text(raw: msgspec.Raw) -> str:
    """JSON as it came, as text.

    Raises:
        msgspec.DecodeError: it is no UTF-8, which nobody looked at so far.
    """
    try:
        return bytes(raw).decode()
    except UnicodeDecodeError:
        raise msgspec.DecodeError("Invalid UTF-8 encoded string") from None


def tokens(usage: object, *path: str) -> int:
    """A count of tokens in what a provider says of a call's cost; 0 where it says nothing that is one.

    An answer is none the worse for a bill that can not be read, so nothing here is refused.

    Args:
        usage: Any JSON.
        path: The field, from the outside in.
    """
    for name in path:
        usage = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(usage, str):
        usage = int(usage) if usage.isascii() and usage.isdecimal() and len(usage) < 17 else 0
    if isinstance(usage, bool) or not isinstance(usage, int | float) or not usage > 0:
        return 0
    return int(min(usage, MAX_TOKENS))


def text_of(value: object) -> str:
    """What stands where a text should, as a text, and a whole one."""
    if value is None or isinstance(value, str):
        return mend_surrogates(value or "")
    if isinstance(value, int | float):
        return str(value)
    try:
        return json_text(value)
    except msgspec.DecodeError:
        return ""


def json_text(value: object) -> str:
    """JSON of what was decoded, with nothing in it that is half.

    Raises:
        msgspec.DecodeError: it is nested too deep to be written.
    """
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return mend_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deep") from None
