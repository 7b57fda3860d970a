"""Tracing of a command: switched on by the user, told after each round, sent before the process ends."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from anyio import CancelScope, to_thread

from roles_runtime.apps.interrupts import TERMINATE, end_at_once
from roles_runtime.apps.jaeger import trace_line
from roles_runtime.apps.text import clean
from roles_runtime.telemetry import environment
from roles_runtime.telemetry.logs import setup_logs

if TYPE_CHECKING:
    from roles_runtime.apps.config import Config
    from roles_runtime.apps.sections import TelemetrySettings
    from roles_runtime.telemetry.telemetry import Telemetry


class Tracing:
    """What a command knows of its traces.

    Attributes:
        telemetry: The coat that its runtime wears; None where nothing is traced.
    """

    def __init__(self, jaeger_url: str, telemetry: Telemetry | None) -> None:
        self.telemetry = telemetry
        self._jaeger_url = jaeger_url

    def line(self, round_id: str) -> str:
        """Where the trace of a round is found; empty where it has none."""
        trace_id = "" if self.telemetry is None else self.telemetry.trace_id(round_id)
        return trace_line(self._jaeger_url, trace_id) if trace_id else ""


@asynccontextmanager
async def tracing(config: Config) -> AsyncIterator[Tracing]:
    """Traces a command while the block runs, and sends what is left at its end.

    Raises:
        ConfigError: an OTEL_* variable is wrong, or gRPC is wanted and not installed.
    """
    settings = config.settings.telemetry
    if not is_wanted(settings):
        yield Tracing(settings.jaeger_url, None)
        return
    telemetry = _make(settings)
    with _sent_before_the_end(telemetry):
        try:
            yield Tracing(settings.jaeger_url, telemetry)
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(telemetry.close)


def is_wanted(settings: TelemetrySettings) -> bool:
    """Whether rounds are traced."""
    asked = environment.names_an_endpoint() if settings.trace is None else settings.trace
    return asked and not environment.is_disabled()


def _make(settings: TelemetrySettings) -> Telemetry:
    # Nobody but whoever traces pays for the import of OpenTelemetry.
    from roles_runtime.telemetry.exporting import make_providers
    from roles_runtime.telemetry.telemetry import Telemetry

    providers = make_providers(export_logs=settings.export_logs)
    if providers.logger_provider is not None:
        from roles_runtime.telemetry.log_export import LogExport

        export = LogExport(providers.logger_provider)
        setup_logs(settings.log, pretty=sys.stderr.isatty(), clean=clean, export=export)
    return Telemetry(providers, content=settings.content)


@contextmanager
def _sent_before_the_end(telemetry: Telemetry) -> Iterator[None]:
    """Sends what is left when a signal ends the process at a moment when nothing else listens to it."""

    def end(number: int, _: FrameType | None) -> None:
        telemetry.close()
        end_at_once(number)

    ours = [number for number in TERMINATE if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
