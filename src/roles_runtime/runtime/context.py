"""A fresh context for each turn, though one task runs many."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextvars import Context
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


@coroutine
def in_context(context: Context, work: Coroutine[Any, Any, T], waits_for: object) -> Generator[Any, Any, T]:
    """Drives a coroutine that was started inside ``context``, each of its further steps inside it too.

    Turns of a round share a task, and tasks that a role starts inherit its context: without this, a context variable
    set in one turn (a current span, a bound log field) would leak into the next.

    Args:
        context: A copy made for this turn alone.
        work: What to drive; closed if the driver is.
        waits_for: What its first step gave.
    """
    run = context.run
    send = work.send
    try:
        while True:
            try:
                sent = yield waits_for
            except GeneratorExit:
                run(work.close)
                raise
            except BaseException as error:  # whatever was thrown in belongs to the work, cancellation first of all
                waits_for = run(work.throw, error)
            else:
                waits_for = run(send, sent)
    except StopIteration as stop:
        result: T = stop.value
        return result


async def run_in_context(context: Context, work: Coroutine[Any, Any, T]) -> T:
    """Starts and drives a coroutine inside ``context``."""
    try:
        waits_for = context.run(work.send, None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    return await in_context(context, work, waits_for)
