"""Logs to a collector: what `setup_logs` writes to stderr, as OTLP records. Imported only where they are exported."""

from __future__ import annotations

import time

from opentelemetry._logs import LoggerProvider, LogRecord, SeverityNumber

from roles_runtime.telemetry.logs import Event

_SEVERITIES = {
    "debug": SeverityNumber.DEBUG,
    "info": SeverityNumber.INFO,
    "warning": SeverityNumber.WARN,
    "error": SeverityNumber.ERROR,
    "critical": SeverityNumber.FATAL,
}
# The record has these in places of their own; the ids it takes from the current span itself.
_ELSEWHERE = frozenset({"event", "level", "timestamp", "trace_id", "span_id"})
_SCALARS = (str, bool, int, float)


class LogExport:
    """Hands each log on to a LoggerProvider, which is closed by whoever made it."""

    def __init__(self, provider: LoggerProvider) -> None:
        self._logger = provider.get_logger("roles_runtime")

    def __call__(self, event: Event) -> None:
        """Takes one log; it goes on its way in a batch."""
        level = str(event.get("level", ""))
        self._logger.emit(
            LogRecord(
                timestamp=time.time_ns(),
                severity_text=level,
                severity_number=_SEVERITIES.get(level, SeverityNumber.UNSPECIFIED),
                body=str(event.get("event", "")),
                attributes={
                    "exception.stacktrace" if key == "exception" else key: each
                    if isinstance(each, _SCALARS)
                    else str(each)
                    for key, each in event.items()
                    # structlog keeps what it needs itself under such names.
                    if key not in _ELSEWHERE and not key.startswith("_")
                },
            )
        )
