"""Spans in batches, with a count of those that are lost. Imported only where tracing is on."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from roles_runtime.runtime.logs import get_logger

log = get_logger(__name__)


class CountedSpans(BatchSpanProcessor):
    """The SDK's own processor, which takes no span that it has no room for, and knows what became of each.

    The SDK would take it and drop the oldest one, with a line of log each time, on the event loop.

    Attributes:
        closing: No loss is told any more: the end tells how many there were.
    """

    def __init__(self, make: Callable[[], SpanExporter], *, room: int, batch: int, delay_ms: int) -> None:
        """Makes the exporter and starts the thread that feeds it.

        Args:
            make: Makes an exporter; called again in a child of fork, which can not share its parent's connection.
            room: How many spans may wait.
            batch: How many go at once.
            delay_ms: How long one waits at most before it is sent, in milliseconds.
        """
        self.closing = False
        self._room = room
        self._lock = threading.Lock()
        self._ended = self._refused = 0
        self._told = False
        self._delivery = _Delivery(make, self._tell)
        super().__init__(
            self._delivery, max_queue_size=room, max_export_batch_size=batch, schedule_delay_millis=delay_ms
        )
        weak = weakref.WeakMethod(self._begin_anew)

        def anew() -> None:
            if begin := weak():
                begin()

        os.register_at_fork(after_in_child=anew)

    @property
    def lost(self) -> int:
        """How many spans were lost; after `give_up`, all that were not delivered."""
        delivery = self._delivery
        return self._ended - delivery.delivered if delivery.over else self._refused + delivery.failed

    def on_end(self, span: ReadableSpan) -> None:
        """Takes a span if there is room for it."""
        if not (span.context and span.context.trace_flags.sampled):
            return
        with self._lock:
            self._ended += 1
            full = self._delivery.over or self._ended - self._refused - self._delivery.taken > self._room
            if full:
                self._refused += 1
        if full:
            self._tell("there are more of them than the collector takes in time")
        else:
            super().on_end(span)

    def give_up(self) -> None:
        """What was not delivered by now is lost."""
        self._delivery.over = True

    def _tell(self, why: str) -> None:
        if not self._told and not self.closing:
            self._told = True
            log.warning("spans are being lost; how many is told at the end", reason=why)

    def _begin_anew(self) -> None:
        # What waited when the process forked is the parent's to send.
        self._lock = threading.Lock()
        self._ended = self._refused = 0
        self._delivery.begin_anew()


class _Delivery(SpanExporter):
    """Counts what an exporter does. The processor exports one batch at a time."""

    def __init__(self, make: Callable[[], SpanExporter], on_failure: Callable[[str], None]) -> None:
        self.taken = self.delivered = self.failed = 0
        self.over = False
        self._make = make
        self._on_failure = on_failure
        self._exporter = make()
        self._forked = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.taken += len(spans)
        if self._forked:
            self._forked = False
            # Kept, since taking it apart would talk to threads and over a connection that are the parent's.
            self._inherited, self._exporter = self._exporter, self._make()
        result = SpanExportResult.FAILURE
        try:
            if not self.over:
                result = self._exporter.export(spans)
        finally:
            if result is SpanExportResult.SUCCESS:
                self.delivered += len(spans)
            else:
                self.failed += len(spans)
                self._on_failure("the collector does not take them")
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def begin_anew(self) -> None:
        self.taken = self.delivered = self.failed = 0
        self._forked = True
