"""Providers of traces, metrics and logs, and their end. OpenTelemetry's SDK is not imported with this module."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from roles_runtime.runtime.logs import get_logger

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from roles_runtime.telemetry.spans import CountedSpans

SERVICE_NAME = "roles_runtime"
"""What a viewer calls us where nobody says another name."""

CLOSE_S = 2.0
"""How long the end of the process waits for what was not sent yet, in seconds."""

log = get_logger(__name__)


class Providers:
    """Makes spans, metrics and logs. Whoever made it closes it; the process does at its normal end.

    Attributes:
        tracer_provider: Of spans.
        meter_provider: Of metrics.
        logger_provider: Of logs; None where they are not exported.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider,
        meter_provider: MeterProvider,
        logger_provider: LoggerProvider | None = None,
        *,
        spans: Sequence[CountedSpans] = (),
        shutdowns: Sequence[Callable[[], object]] = (),
    ) -> None:
        """Puts providers together.

        Args:
            tracer_provider: Of spans.
            meter_provider: Of metrics.
            logger_provider: Of logs, or None.
            spans: Whose losses are told.
            shutdowns: What `close` calls; a provider of somebody else's is not among them.
        """
        self.tracer_provider = tracer_provider
        self.meter_provider = meter_provider
        self.logger_provider = logger_provider
        self._spans = tuple(spans)
        self._closing = _Closing(shutdowns) if shutdowns else None
        self._told = 0
        if self._closing is not None:
            atexit.register(self.close)

    @property
    def dropped_spans(self) -> int:
        """How many spans were lost until now: no room was left for them, or the collector did not take them."""
        return sum(each.lost for each in self._spans)

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """Sends what is left, and shuts down; nothing happens the second time. It never raises.

        It waits in the calling thread: a coroutine calls it by ``await anyio.to_thread.run_sync(providers.close)``.

        Args:
            timeout_s: How long to wait, in seconds; what is not sent by then is lost, and counted.
        """
        if self._closing is None:
            return
        for each in self._spans:
            each.closing = True
        self._closing.wait(timeout_s)
        for each in self._spans:
            each.give_up()
        atexit.unregister(self.close)
        lost = self.dropped_spans
        if lost > self._told:
            self._told = lost
            log.warning("spans were lost on their way to the collector", count=lost)


class _Closing:
    """A thread that waits to shut things down: when the interpreter ends, no new one can be started."""

    def __init__(self, acts: Sequence[Callable[[], object]]) -> None:
        self._acts = acts
        self._start()
        weak = weakref.WeakMethod(self._start_anew)

        def again() -> None:
            if start := weak():
                start()

        os.register_at_fork(after_in_child=again)

    def wait(self, timeout_s: float) -> None:
        self._asked.set()
        self._done.wait(timeout_s)

    def _start_anew(self) -> None:
        # A child of fork has none of its parent's threads; what the parent closed is closed in the child too.
        if not self._done.is_set():
            self._start()

    def _start(self) -> None:
        self._asked, self._done = threading.Event(), threading.Event()
        arguments = (self._acts, self._asked, self._done)
        threading.Thread(target=_close_when_asked, args=arguments, name="telemetry-closing", daemon=True).start()


def _close_when_asked(acts: Sequence[Callable[[], object]], asked: threading.Event, done: threading.Event) -> None:
    asked.wait()
    for act in acts:
        try:
            act()
        except Exception as error:
            # The SDK raises whatever its exporters raise; the next one is to be closed all the same.
            log.warning("telemetry could not be shut down", error=repr(error))
    done.set()
