"""A traceparent is read in one way, whoever reads it: by the journal's readers, and by the coats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import SpanContext, TraceFlags

from roles_runtime.telemetry.traceparent import Place, place_of, trace_id
from roles_runtime.telemetry.tracing import span_context, traceparent_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_it_tells_trace_span_and_flags_of_later_versions_too() -> None:
    assert place_of(f"00-{TRACE}-{SPAN}-01") == Place(TRACE, SPAN, 1)
    assert place_of(f"01-{TRACE}-{SPAN}-00-what-comes-later") == Place(TRACE, SPAN, 0)
    assert trace_id(f"00-{TRACE}-{SPAN}-01") == TRACE


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "00",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-+1",
        f"00-{TRACE}-{SPAN}-01\n",
        f"00- {TRACE[1:]}-{SPAN}-1_0",
    ],
)
def test_what_is_none_leads_nowhere(bad: str) -> None:
    assert trace_id(bad) == ""
    assert span_context(bad) is None


@given(st.integers(1, 2**128 - 1), st.integers(1, 2**64 - 1), st.integers(0, 255))
def test_what_a_span_writes_is_read_as_its_place(trace: int, span: int, flags: int) -> None:
    written = traceparent_of(SpanContext(trace, span, is_remote=False, trace_flags=TraceFlags(flags)))
    assert span_context(written) == SpanContext(trace, span, is_remote=True, trace_flags=TraceFlags(flags))
