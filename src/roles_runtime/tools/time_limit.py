"""A time limit that costs a timer and no cancel scope: most tools are over long before a scope would pay."""

from __future__ import annotations

import asyncio
from types import TracebackType

AGAIN_S = 0.1
"""How long after a cancellation that was not heeded comes the next one."""


class TimeLimit:
    """``with TimeLimit(timeout_s):`` leaves its block when the time is over; what waits in it is cancelled.

    A block that ends nevertheless, or raises something of its own, has its way. A cancellation by anybody else goes
    through. For a block of one task, inside a running event loop.
    """

    __slots__ = ("_before", "_loop", "_rung", "_task", "_timeout_s", "_timer")

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._rung = 0

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task, self._before = task, task.cancelling()
        self._loop = task.get_loop()
        self._timer = self._loop.call_later(self._timeout_s, self._ring)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        self._timer.cancel()
        if not self._rung:
            return False
        for _ in range(self._rung):
            left = self._task.uncancel()
        return isinstance(error, asyncio.CancelledError) and left <= self._before

    def _ring(self) -> None:
        self._rung += 1
        self._task.cancel()
        self._timer = self._loop.call_later(AGAIN_S, self._ring)
