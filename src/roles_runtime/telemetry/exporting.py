"""Where telemetry goes: the providers of traces, metrics and logs, and their end.

OpenTelemetry's SDK is imported by `make_providers`, not with this module.
"""

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


def make_providers(*, service_name: str = SERVICE_NAME, export_logs: bool = False) -> Providers:
    """The providers that the process has already, else new ones, as the OTEL_* variables say.

    A TracerProvider that the application set is used, with whatever else it set, and stays open at `Providers.close`.
    New ones are not made global, so that each caller has its own; they send OTLP over HTTP to localhost unless told
    otherwise. Nobody waits for a collector: spans go in batches, by a thread, and are lost where nothing takes them.

    Args:
        service_name: What a viewer calls us, where neither OTEL_SERVICE_NAME nor OTEL_RESOURCE_ATTRIBUTES says it.
        export_logs: Exports logs where OTEL_LOGS_EXPORTER says nothing of them.

    Raises:
        ConfigError: a variable is wrong, an endpoint is no URL, or gRPC is wanted and not installed.
    """
    from roles_runtime.telemetry.pipelines import build, of_the_application

    made = of_the_application() or build(service_name, export_logs=export_logs)
    return Providers(
        made.tracer_provider, made.meter_provider, made.logger_provider, spans=made.spans, shutdowns=made.shutdowns
    )


class _Closing:
    """A thread that waits to shut things down: when the interpreter ends, no new one can be started."""

    def __init__(self, acts: Sequence[Callable[[], object]]) -> None:
        self._acts = acts
        self._start()
        weak = weakref.WeakMethod(self._start)

        def again() -> None:
            # A child of fork has none of its parent's threads.
            if start := weak():
                start()

        os.register_at_fork(after_in_child=again)

    def wait(self, timeout_s: float) -> None:
        self._asked.set()
        self._done.wait(timeout_s)

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
