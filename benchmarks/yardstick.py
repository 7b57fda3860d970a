"""What times are held against: one hop of an asyncio.Queue ping-pong, by the wall clock."""

from __future__ import annotations

import asyncio
import time

QUEUE_HOPS = 20_000


async def yardstick() -> float:
    """Seconds of a Queue hop."""
    there: asyncio.Queue[int] = asyncio.Queue()
    back: asyncio.Queue[int] = asyncio.Queue()

    async def play(first: asyncio.Queue[int], second: asyncio.Queue[int]) -> None:
        for _ in range(QUEUE_HOPS):
            second.put_nowait(await first.get())

    there.put_nowait(0)
    start = time.perf_counter()
    await asyncio.gather(play(there, back), play(back, there))
    return (time.perf_counter() - start) / (2 * QUEUE_HOPS)
