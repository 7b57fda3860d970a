"""Where a person finds a trace."""

from __future__ import annotations


def trace_line(jaeger_url: str, trace_id: str) -> str:
    """A line with the id of a trace and the link to it.

    Args:
        jaeger_url: Where Jaeger's pages are: ``http://127.0.0.1:16686``.
        trace_id: 32 hexadecimal digits.
    """
    return f"Trace {trace_id}: {jaeger_url.rstrip('/')}/trace/{trace_id}"
