"""The tasks that a runtime starts: every one is known, and none outlives it by more than a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any, TypeVar

from roles_runtime.runtime.logs import get_logger

T = TypeVar("T")

log = get_logger(__name__)


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
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + grace_s
        told: set[asyncio.Task[Any]] = set()
        # A task that is cancelled may start another one, which says what came of it.
        while self._tasks and (left_s := deadline_s - loop.time()) > 0:
            for task in self._tasks - told:
                task.cancel()
            told |= self._tasks
            await asyncio.wait(self._tasks, timeout=left_s)
        for task in self._tasks:
            log.warning("a task did not heed its cancellation and is abandoned", task=repr(task.get_coro()))
