"""Models that fail as they are told, and a time that passes only when somebody waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeAlias

from roles_runtime.llm.message import SystemMessage, TextMessage
from roles_runtime.llm.model import Chunk, Finish, Model, TextChunk
from roles_runtime.llm.reliable import ReliableModel, RetryPolicy, Timeouts
from roles_runtime.llm.request import LLMRequest

REQUEST = LLMRequest((SystemMessage(content="You answer."), TextMessage(content="How many?", creator="User")))

Step: TypeAlias = Chunk | BaseException | str
"""What a call does next: yield a chunk, raise, or hang for ever."""

HANG = "hang"
DONE: Sequence[Step] = (TextChunk("42"), Finish())


class Told:
    """Each call does what it is told; the last that was told is done again and again."""

    writes_code = True

    def __init__(self, name: str, *calls: Sequence[Step]) -> None:
        self.name = name
        self.calls = calls
        self.asked = 0
        self.open = 0
        self.closed = 0

    async def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        steps = self.calls[min(self.asked, len(self.calls) - 1)]
        self.asked += 1
        self.open += 1
        try:
            for step in steps:
                if isinstance(step, BaseException):
                    raise step.with_traceback(None)
                if isinstance(step, str):
                    await asyncio.Event().wait()
                else:
                    yield step
        finally:
            self.open -= 1

    async def aclose(self) -> None:
        self.closed += 1


class Time:
    """Passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def reliable(
    *models: Model, time: Time | None = None, timeouts: Timeouts | None = None, chance: float = 1.0, **policy: float
) -> ReliableModel:
    """A ReliableModel whose time is virtual, but for its time limits."""
    passing = time or Time()
    return ReliableModel(
        models,
        RetryPolicy(**policy),  # type: ignore[arg-type]
        timeouts,
        clock=passing,
        sleep=passing.sleep,
        chance=lambda: chance,
    )


async def chunks_of(model: Model) -> list[Chunk]:
    async with aclosing(model.stream(REQUEST)) as stream:
        return [chunk async for chunk in stream]
