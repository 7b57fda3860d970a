"""A fresh context for each turn, though one task runs many."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Generator
from contextvars import Context
from types import coroutine
from typing import Any

from roles_runtime.done import DONE


def run_in_context(context: Context, work: Coroutine[Any, Any, None]) -> Awaitable[None]:
    """Runs a coroutine inside ``context`` until it waits for the first time.

    Turns of a round share a task, and tasks that a role starts inherit its context: without this, a context variable
    set in one turn (a current span, a bound log field) would leak into the next.

    Args:
        context: A copy made for this work alone.
        work: What to run. It returns nothing: `next` tells that without an exception, which would cost more than
            all else here.

    Returns:
        The rest of it, or `DONE` where it never waited.
    """
    steps = work.__await__()
    waits_for = context.run(next, steps, DONE)
    return DONE if waits_for is DONE else _go_on(context, steps, waits_for)


@coroutine
def _go_on(context: Context, steps: Generator[Any, Any, None], waits_for: object) -> Generator[Any, Any, None]:
    """Drives what was started inside ``context``, each of its further steps inside it too."""
    run = context.run
    send = steps.send
    try:
        while True:
            try:
                sent = yield waits_for
            except GeneratorExit:
                run(steps.close)
                raise
            except BaseException as error:  # whatever was thrown in belongs to the work, cancellation first of all
                waits_for = run(steps.throw, error)
            else:
                waits_for = run(send, sent)
    except StopIteration:
        return
