"""Logs: structlog on stderr, each line with the session, the round and the role that it belongs to.

A library leaves logging alone; an application calls `setup_logs` once, and puts `LogTurns` round its team's turns.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import Any

import structlog

from roles_runtime.roles.turn import Answer, Respond, Turn

LEVELS = ("debug", "info", "warning", "error")


class LogTurns:
    """A middleware that binds session, round and role to whatever is logged in a turn.

    A turn runs in a context of its own, so that nothing has to be unbound.
    """

    async def __call__(self, turn: Turn, respond: Respond) -> Answer:
        """Binds, and hands on."""
        structlog.contextvars.bind_contextvars(session=turn.session_id, round=turn.round_id, role=turn.role)
        return await respond(turn)


def setup_logs(level: str = "warning", *, pretty: bool = False, clean: Callable[[str], str] = str) -> None:
    """Sends the logs of this process to stderr.

    Args:
        level: One of `LEVELS`; what is below it is dropped before it costs anything.
        pretty: For a person; else a line of JSON each.
        clean: Applied to all text, which may come from a model or a file.
    """

    def cleaned(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: clean(value) if isinstance(value, str) else value for key, value in event.items()}

    # Rich shows tracebacks with the values of variables, which are nobody's business.
    renderer: Any = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if pretty
        else structlog.processors.JSONRenderer()
    )
    marks: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        cleaned,
    ]
    _take_records(level, [structlog.stdlib.ExtraAdder(), *marks], renderer)
    structlog.configure(
        processors=[*marks, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        # Whatever stderr is at that moment: a live display puts itself before it.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )


class _Stderr(logging.StreamHandler[Any]):
    """Writes to whatever stderr is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def _take_records(level: str, marks: list[Any], renderer: Any) -> None:
    """Gives what the library logs the same form; it knows the standard library's logging alone."""
    handler = _Stderr()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer], foreign_pre_chain=marks
        )
    )
    logger = logging.getLogger("roles_runtime")
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
