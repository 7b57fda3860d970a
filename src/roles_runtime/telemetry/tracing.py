"""What all coats share: the tracer, the meters, what may be told, and the rounds under way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from traceback import walk_tb
from types import CodeType
from typing import Literal, TypeAlias

import msgspec
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanContext, Status, StatusCode, TraceFlags, Tracer

from roles_runtime.posts.post import RoleName
from roles_runtime.runtime.text import line_of
from roles_runtime.telemetry import names
from roles_runtime.telemetry.content import Content
from roles_runtime.telemetry.meters import Meters
from roles_runtime.telemetry.traceparent import place_of

HopParent: TypeAlias = Literal["round", "send"]
"""What a hop's span hangs on: the round, flat and in order of time, or the ``send`` that led to it, as a chain."""

MAX_FRAMES = 50
"""How much of a traceback is told, from where it was raised."""

MAX_REMEMBERED = 1_000
"""Of how many rounds the trace's id is known after their end."""

_NO_SPAN = Context()
_SEEN = "__roles_recorded__"


class Sent(msgspec.Struct, frozen=True, gc=False):
    """An envelope that is under way, or waits."""

    span: SpanContext
    role: RoleName
    at_s: float


class RoundTrace:
    """A round under way.

    Attributes:
        context: With its root span alone.
        traceparent: Of its root span.
        sent: What nobody took yet, by the envelope's key.
    """

    __slots__ = ("context", "sent", "traceparent")

    def __init__(self, root: Span) -> None:
        self.context = trace.set_span_in_context(root, _NO_SPAN)
        self.traceparent = traceparent_of(root.get_span_context())
        self.sent: dict[str, Sent] = {}


class Tracing:
    """What all coats share.

    Attributes:
        tracer: Makes spans.
        meters: Count and measure.
        content: Says what may be told.
        hop_parent: What a hop's span hangs on.
        rounds: Those under way, by id.
        trace_ids: Of the last rounds, by id, those that are over too.
    """

    def __init__(self, tracer: Tracer, meters: Meters, content: Content, hop_parent: HopParent) -> None:
        self.tracer, self.meters, self.content, self.hop_parent = tracer, meters, content, hop_parent
        self.rounds: dict[str, RoundTrace] = {}
        self.trace_ids: dict[str, str] = {}

    def begin(self, round_id: str, root: Span) -> RoundTrace:
        """A round is under way."""
        seen = self.rounds[round_id] = RoundTrace(root)
        self.trace_ids[round_id] = trace.format_trace_id(root.get_span_context().trace_id)
        if len(self.trace_ids) > MAX_REMEMBERED:
            del self.trace_ids[next(iter(self.trace_ids))]
        return seen

    def fail(self, span: Span, error: BaseException) -> None:
        """Marks a span whose work raised; the innermost one holds the exception, the others its type.

        What an error says may be anybody's words, so that it is told where content is, and masked. A cancellation is no
        failure: it leaves the span as it is.
        """
        if isinstance(error, asyncio.CancelledError):
            return
        kind = type(error).__qualname__
        told = self.content.text(line_of(error), 1024) if self.content.is_on else ""
        span.set_attribute(names.ERROR, kind)
        span.set_status(Status(StatusCode.ERROR, told or kind))
        if getattr(error, _SEEN, False):
            return
        # Without room for a mark it is recorded by each span that it passes.
        with suppress(AttributeError, TypeError):
            setattr(error, _SEEN, True)
        message = {"exception.message": told} if told else {}
        span.add_event("exception", {"exception.type": kind, "exception.stacktrace": _frames(error), **message})
        self.meters.failed(kind)


def _frames(error: BaseException) -> str:
    """Where it came from, without the lines of code, which may hold a key, and without the message."""
    frames = [f'File "{code.co_filename}", line {line}, in {code.co_qualname}' for code, line in _walked(error)]
    return "\n".join(frames[-MAX_FRAMES:])


def _walked(error: BaseException) -> Iterator[tuple[CodeType, int]]:
    return ((frame.f_code, line) for frame, line in walk_tb(error.__traceback__))


@contextmanager
def current(span: Span) -> Iterator[None]:
    """Makes a span the current one while the block runs; never across a ``yield`` to somebody else."""
    token = contexts.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        contexts.detach(token)


def traceparent_of(context: SpanContext) -> str:
    """A span's place as W3C trace context has it; empty where there is no span."""
    if not context.is_valid:
        return ""
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


def span_context(traceparent: str) -> SpanContext | None:
    """The place that a traceparent names; None where it names none."""
    place = place_of(traceparent)
    if place is None:
        return None
    ids = int(place.trace_id, 16), int(place.span_id, 16)
    return SpanContext(*ids, is_remote=True, trace_flags=TraceFlags(place.flags))


def context_of(span: SpanContext | None) -> Context:
    """A context with that span alone; without one, one in which a new trace begins."""
    return _NO_SPAN if span is None else trace.set_span_in_context(trace.NonRecordingSpan(span), _NO_SPAN)
