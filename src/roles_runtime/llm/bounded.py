"""Time limits: a model that keeps us waiting is an error that says which bound it broke."""

from __future__ import annotations

import asyncio
import math
from typing import Literal

import msgspec

from roles_runtime.errors import ConfigError, ModelTimeoutError, StreamIncompleteError
from roles_runtime.llm.model import Chunk, Model
from roles_runtime.llm.request import LLMRequest

_BROKEN = {
    "first_token_s": "it wrote nothing for {:g} s (first_token_s).",
    "stall_s": "it stopped in the middle of its answer and wrote nothing more for {:g} s (stall_s).",
    "total_s": "its answer took longer than {:g} s (total_s).",
}


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """How long one call may keep us waiting, in seconds.

    Attributes:
        connect_s: Until the provider is reached; connections hold to it.
        first_token_s: From asking to the first token, thoughts included; a model that thinks in silence needs it.
        stall_s: From one chunk to the next, after that.
        total_s: From asking to the last chunk. A team's turn has a bound too (``Limits.turn_timeout_s``).
    """

    connect_s: float = 10.0
    first_token_s: float = 120.0
    stall_s: float = 60.0
    total_s: float = 240.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if not (0 < value < math.inf):
                raise ConfigError("timeouts", name, f"{value} is out of range; it must be above 0 and finite.")


class BoundedStream:
    """One call of a model. It must be closed, which ends the call.

    One timer serves the whole stream: when it rings it looks whether the bound has moved on since. It cancels the
    wait for a chunk and nothing else, so that whoever reads the chunks is never hit.
    """

    __slots__ = ("_begins_by", "_chunks", "_deadline", "_ends_at", "_has_begun", "_is_late", "_loop", "_model",
                 "_timeouts", "_timer", "_waiting")  # fmt: skip

    def __init__(self, model: Model, request: LLMRequest, timeouts: Timeouts) -> None:
        """Asks the model; the time runs from now."""
        self._model, self._timeouts = model.name, timeouts
        self._chunks = model.stream(request)
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self._ends_at = now + timeouts.total_s
        self._begins_by = min(now + timeouts.first_token_s, self._ends_at)
        self._deadline = self._begins_by
        self._has_begun = False
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Task[object] | None = None
        self._is_late = False

    async def next(self) -> Chunk:
        """The next chunk.

        Raises:
            ModelTimeoutError: it took too long.
            StreamIncompleteError: there is none, and the last one was no `Finish`.
            ModelError: as the model raises it.
        """
        task = asyncio.current_task()
        assert task is not None
        cancelling = task.cancelling()
        self._arm()
        self._waiting = task
        try:
            chunk = await anext(self._chunks)
        except asyncio.CancelledError:
            if not self._is_late or task.cancelling() > cancelling + 1:
                raise  # somebody else cancelled, whether or not we did
        except StopAsyncIteration:
            raise StreamIncompleteError(self._model) from None
        finally:
            self._waiting = None
            if self._is_late:
                task.uncancel()
        if self._is_late:
            raise self._timeout()
        return chunk

    def begun(self) -> None:
        """The first token came: from now on the bound is that of a stall."""
        self._has_begun = True

    async def aclose(self) -> None:
        """Ends the call."""
        if self._timer is not None:
            self._timer.cancel()
        await self._chunks.aclose()

    def _arm(self) -> None:
        deadline = self._begins_by
        if self._has_begun:
            deadline = min(self._loop.time() + self._timeouts.stall_s, self._ends_at)
        self._deadline = deadline
        if self._timer is not None and self._timer.when() > deadline:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(deadline, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._waiting is None:
            return  # the next wait arms it again
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._ring)
            return
        self._is_late = True
        self._waiting.cancel()

    def _timeout(self) -> ModelTimeoutError:
        bound: Literal["first_token_s", "stall_s", "total_s"] = "total_s"
        if self._deadline < self._ends_at:
            bound = "stall_s" if self._has_begun else "first_token_s"
        return ModelTimeoutError(self._model, _BROKEN[bound].format(getattr(self._timeouts, bound)))
