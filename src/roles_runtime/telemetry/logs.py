"""Logs: structlog on stderr, each line with the session, the round and the role that it belongs to.

A library leaves logging alone; an application calls `setup_logs` once, and puts `LogTurns` round its team's turns.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import Any, Literal, TypeAlias

import structlog

from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.telemetry.redaction import mask

Level: TypeAlias = Literal["debug", "info", "warning", "error"]
"""The least that is logged."""

Event: TypeAlias = MutableMapping[str, Any]
"""What is logged, as structlog's processors hand it on."""


class LogTurns:
    """A middleware that binds session, round and role to whatever is logged in a turn.

    A turn runs in a context of its own, so that nothing has to be unbound.
    """

    async def __call__(self, turn: Turn, respond: Respond) -> Answer:
        """Binds, and hands on."""
        structlog.contextvars.bind_contextvars(session=turn.session_id, round=turn.round_id, role=turn.role)
        return await respond(turn)


def add_trace(_: object, __: str, event: Event) -> Event:
    """Adds the ids of the current span, so that a trace leads to its logs; a processor of structlog."""
    # Whoever traces has imported it: where nobody does there is no span, and logging is no reason to import it.
    trace = sys.modules.get("opentelemetry.trace")
    if trace is not None:
        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            event["trace_id"], event["span_id"] = f"{context.trace_id:032x}", f"{context.span_id:016x}"
    return event


def setup_logs(
    level: Level = "warning",
    *,
    pretty: bool = False,
    clean: Callable[[str], str] = str,
    export: Callable[[Event], None] | None = None,
) -> None:
    """Sends the logs of this process to stderr.

    Args:
        level: What is below it is dropped before it costs anything.
        pretty: For a person; else a line of JSON each.
        clean: Applied to all text, which may come from a model or a file; what looks like a secret is masked anyhow.
        export: Is given each log too, once it is clean.
    """

    def cleaned(_: object, __: str, event: Event) -> Event:
        return {key: mask(clean(value)) if isinstance(value, str) else value for key, value in event.items()}

    def exported(_: object, __: str, event: Event) -> Event:
        if export is not None:
            export(event)
        return event

    renderer = _renderer(pretty=pretty)
    marks: list[Any] = [
        structlog.contextvars.merge_contextvars,
        add_trace,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        cleaned,
    ]
    extra = structlog.stdlib.ExtraAdder()
    _take_records("roles_runtime", level, [extra, *marks, exported], renderer)
    # What the exporters log is not exported: each failure would bring the next one.
    _take_records("opentelemetry", level, [extra, *marks], renderer).addFilter(_Once())
    structlog.configure(
        processors=[*marks, exported, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        # Whatever stderr is at that moment: a live display puts itself before it.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _renderer(*, pretty: bool) -> Any:
    if pretty:
        # Rich shows tracebacks with the values of variables, which are nobody's business.
        return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    return structlog.processors.JSONRenderer()


class _Stderr(logging.StreamHandler[Any]):
    """Writes to whatever stderr is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


class _Once(logging.Filter):
    """Lets each kind of line through once: where a collector is down, each batch would bring the same one."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[tuple[str, int]] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        place = (record.pathname, record.lineno)
        if place in self._seen:
            return False
        self._seen.add(place)
        return True


def _take_records(name: str, level: Level, marks: list[Any], renderer: Any) -> _Stderr:
    """Gives what a library logs the same form; it knows the standard library's logging alone."""
    handler = _Stderr()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer], foreign_pre_chain=marks
        )
    )
    logger = logging.getLogger(name)
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
    return handler
