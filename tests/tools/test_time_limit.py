"""A time limit ends what waits in its block, and nothing else."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from anyio.lowlevel import checkpoint

from roles_runtime.tools.time_limit import TimeLimit

pytestmark = pytest.mark.anyio


def _cancelling() -> int:
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


async def test_what_waits_is_left_and_nothing_stays_cancelled() -> None:
    ended = False
    with TimeLimit(0.01):
        await anyio.sleep_forever()
        ended = True
    assert not ended
    assert _cancelling() == 0
    await checkpoint()  # a cancellation that stayed would come here


async def test_what_ends_in_time_is_not_touched() -> None:
    with TimeLimit(60):
        await checkpoint()
        ended = True
    assert ended


async def test_a_block_that_swallows_its_cancellation_is_cancelled_again() -> None:
    swallowed = 0
    with TimeLimit(0.01):
        while swallowed < 2:
            try:
                await anyio.sleep_forever()
            except asyncio.CancelledError:
                swallowed += 1
        await anyio.sleep_forever()
    assert swallowed == 2
    assert _cancelling() == 0


async def test_what_a_block_raises_of_its_own_goes_through() -> None:
    async def fail() -> None:
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            raise ZeroDivisionError from None

    with pytest.raises(ZeroDivisionError), TimeLimit(0.01):
        await fail()
    assert _cancelling() == 0


@pytest.mark.parametrize("late", [False, True])
async def test_the_cancellation_of_anybody_else_goes_through(late: bool) -> None:
    async def wait() -> None:
        with TimeLimit(0.01 if late else 60):
            try:
                await anyio.sleep_forever()
            except asyncio.CancelledError:
                if late:
                    task.cancel()
                raise

    task = asyncio.create_task(wait())
    await checkpoint()
    if not late:
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("within", [False, True])
async def test_it_stands_inside_a_cancel_scope_and_round_one(within: bool) -> None:
    with anyio.move_on_after(0.01 if within else 60) as outer, TimeLimit(60 if within else 0.01):
        with anyio.move_on_after(60):
            await anyio.sleep_forever()
    assert outer.cancelled_caught is within
    with TimeLimit(60), anyio.move_on_after(0.01) as inner:
        await anyio.sleep_forever()
    assert inner.cancelled_caught
    assert _cancelling() == 0


async def test_the_tasks_of_its_block_end_with_it() -> None:
    ended: list[int] = []

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(1)

    with TimeLimit(0.01):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            group.start_soon(wait)
    assert ended == [1, 1]
