"""Threads for tools that are plain functions: bounded, and left behind where they do not end in time."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
from anyio.lowlevel import RunVar

T = TypeVar("T")
E = TypeVar("E")

MAX_THREADS = 32
"""How many run at most in one event loop, those included that were left behind; then a call waits for its turn."""

_slots: RunVar[anyio.CapacityLimiter] = RunVar("roles_runtime_tool_threads")


async def run_in_thread(work: Callable[[], T]) -> T:
    """Runs a function off the event loop, and gives what it returns or raises.

    Nothing can stop a thread. Where the caller is cancelled, the thread is left behind: what it returns is dropped, its
    slot is free when it ends, and the process does not wait for it.
    """
    slots, loop, slot = _limiter(), asyncio.get_running_loop(), object()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(settled: Callable[[], None]) -> None:
        slots.release_on_behalf_of(slot)
        if not done.done():
            settled()

    def run() -> None:
        try:
            result = context.run(work)
        except BaseException as error:
            # A future takes no StopIteration.
            told = RuntimeError(f"StopIteration: {error}") if isinstance(error, StopIteration) else error
            _tell(loop, lambda: settle(lambda: done.set_exception(told)))
        else:
            _tell(loop, lambda: settle(lambda: done.set_result(result)))

    await slots.acquire_on_behalf_of(slot)
    try:
        threading.Thread(target=run, name="roles-runtime tool", daemon=True).start()
    except BaseException:
        slots.release_on_behalf_of(slot)
        raise
    return await done


def from_thread(emit: Callable[[E], None]) -> Callable[[E], None]:
    """What hands on to ``emit`` in the running event loop, whichever thread calls it."""
    loop = asyncio.get_running_loop()
    return lambda event: _tell(loop, partial(emit, event))


def _limiter() -> anyio.CapacityLimiter:
    try:
        return _slots.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(MAX_THREADS)
        _slots.set(limiter)
        return limiter


def _tell(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(act)
    except RuntimeError:  # the loop was closed meanwhile, and nobody waits any more
        return
