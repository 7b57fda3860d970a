"""How long a provider asks to wait, in all the forms in which providers say it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?", re.ASCII)
_DURATION = re.compile(r"([+-]?[0-9]+(?:\.[0-9]*)?)s", re.ASCII)
_RETRY_INFO = "google.rpc.RetryInfo"


def retry_after_s(headers: Mapping[str, str], body: bytes, now: datetime) -> float | None:
    """How long to wait, in seconds.

    Args:
        headers: ``retry-after-ms`` is believed first, then ``retry-after``: seconds or an HTTP date.
        body: Of the error; Gemini says it there, as a ``RetryInfo`` among the details.
        now: From when an HTTP date counts; with a time zone.

    Returns:
        At least 0, finite; None where the provider does not say, or says what can not be read.
    """
    said = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = _number(said.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = said.get("retry-after", "")
    seconds = _number(value)
    if seconds is None:
        seconds = _until(value, now)
    return _of_body(body) if seconds is None else seconds


def _number(text: str) -> float | None:
    return _bounded(float(text)) if _NUMBER.fullmatch(text) else None


def _until(text: str, now: datetime) -> float | None:
    try:
        date = parsedate_to_datetime(text)
        # The oldest of the three forms names no zone; all HTTP dates are in GMT.
        return _bounded(((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _of_body(body: bytes) -> float | None:
    if _RETRY_INFO.encode() not in body:
        return None
    try:
        document: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # A stream that is no SSE is an array of answers.
    for each in document if isinstance(document, list) else [document]:
        match each:
            case {"error": {"details": [*details]}}:
                for detail in details:
                    match detail:
                        case {"@type": str(kind), "retryDelay": delay} if kind.endswith(_RETRY_INFO):
                            return _duration(delay)
    return None


def _duration(delay: object) -> float | None:
    """A protobuf Duration, as its JSON (``21.5s``) or by its fields."""
    match delay:
        case str() if found := _DURATION.fullmatch(delay.strip()):
            return _number(found[1])
        case {"seconds": str() | int() as seconds, **rest}:
            nanos = rest.get("nanos", 0)
            whole = _number(str(seconds))
            return None if whole is None else whole + (nanos / 1e9 if isinstance(nanos, int) and nanos > 0 else 0.0)
    return None


def _bounded(seconds: float) -> float | None:
    return max(0.0, seconds) if math.isfinite(seconds) else None
