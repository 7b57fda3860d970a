"""A W3C traceparent as text: ``00-{trace id}-{span id}-{flags}``, all hexadecimal. It knows no OpenTelemetry."""

from __future__ import annotations

import re

import msgspec

_FORM = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a traceparent points.

    Attributes:
        trace_id: 32 hex digits.
        span_id: 16 of them.
        flags: From 0 to 255; the lowest bit says that it is sampled.
    """

    trace_id: str
    span_id: str
    flags: int


def place_of(traceparent: str) -> Place | None:
    """Where it points; None where it is no traceparent."""
    found = _FORM.fullmatch(traceparent)
    return Place(found[1], found[2], int(found[3], 16)) if found else None


def trace_id(traceparent: str) -> str:
    """The trace that it names, as 32 hex digits; empty where it is none."""
    place = place_of(traceparent)
    return "" if place is None else place.trace_id
