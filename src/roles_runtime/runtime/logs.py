"""Loggers of a library: structlog's manners, handed to the standard library's logging.

An application that configures nothing hears of warnings on stderr, and of nothing else; one that configures logging has
them where it has all others. structlog's own defaults would print everything to stdout, tracebacks with the values of
variables included.
"""

from __future__ import annotations

import logging

import structlog


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """The logger of a module; its fields go into the record's ``extra``."""
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[structlog.stdlib.filter_by_level, structlog.stdlib.render_to_log_kwargs],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return logger
