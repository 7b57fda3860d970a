"""Threads for plain functions: bounded, also those that were left behind."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import anyio
import pytest

from roles_runtime.tools import threads
from roles_runtime.tools.threads import MAX_THREADS, run_in_thread

pytestmark = pytest.mark.anyio

whose: contextvars.ContextVar[str] = contextvars.ContextVar("whose", default="nobody")


async def test_it_gives_what_the_function_returns_or_raises_with_the_callers_context() -> None:
    def fail() -> None:
        raise LookupError("not there")

    whose.set("mine")
    assert await run_in_thread(whose.get) == "mine"
    with pytest.raises(LookupError, match="not there"):
        await run_in_thread(fail)


async def test_no_more_than_some_run_at_once() -> None:
    lock, running, most = threading.Lock(), 0, 0
    everybody = threading.Barrier(MAX_THREADS)

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        everybody.wait(30)
        with lock:
            running -= 1

    async with anyio.create_task_group() as group:
        for _ in range(3 * MAX_THREADS):
            group.start_soon(run_in_thread, work)
    assert most == MAX_THREADS


async def test_a_thread_that_was_left_behind_keeps_its_place_until_it_ends() -> None:
    leave, begun = threading.Event(), threading.Semaphore(0)

    def hang() -> None:
        begun.release()
        leave.wait(30)

    async with anyio.create_task_group() as group:
        for _ in range(MAX_THREADS):
            group.start_soon(run_in_thread, hang)
        await anyio.to_thread.run_sync(lambda: [begun.acquire(timeout=30) for _ in range(MAX_THREADS)])
        group.cancel_scope.cancel()
    with anyio.move_on_after(0.05) as waiting:
        await run_in_thread(threading.get_ident)
    assert waiting.cancelled_caught
    leave.set()
    with anyio.fail_after(30):
        assert await run_in_thread(threading.get_ident) != threading.get_ident()


async def test_a_thread_that_can_not_be_started_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threads.threading, "Thread", Refused)
        for _ in range(MAX_THREADS + 1):
            with pytest.raises(RuntimeError, match="start new thread"):
                await run_in_thread(int)
    assert await run_in_thread(int) == 0


def test_a_loop_that_was_closed_does_not_trouble_a_thread_that_was_left_behind() -> None:
    leave, ended = threading.Event(), threading.Event()

    def hang() -> None:
        leave.wait(30)
        ended.set()

    async def leave_it() -> None:
        with anyio.move_on_after(0.01):
            await run_in_thread(hang)

    asyncio.run(leave_it())
    leave.set()
    assert ended.wait(30)
