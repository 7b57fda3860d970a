"""The tasks that a runtime starts: every one is known, and none outlives it by more than a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any, TypeVar

import structlog

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Children:
    """Starts tasks, and ends them together.

    A task group would wait for ever for a role that does not heed its cancellation; this waits for a grace, then says
    which ones it abandons.
    """

    def __init__(self, context: Context) -> None:
        """All children start with a copy of ``context``."""
        self._context = context
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Starts a child."""
        task = asyncio.get_running_loop().create_task(work, context=self._context.copy())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def end(self, grace_s: float) -> None:
        """Cancels all and waits for them, ``grace_s`` at most."""
        if not self._tasks:
            return
        for task in self._tasks:
            task.cancel()
        _, left = await asyncio.wait(self._tasks, timeout=grace_s)
        for task in left:
            log.warning("a task did not heed its cancellation and is abandoned", task=repr(task.get_coro()))
