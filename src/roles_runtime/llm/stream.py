"""A model's stream, gathered: the text goes on to whoever reads it while the whole message is put together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from time import time_ns
from typing import Literal

import anyio

from roles_runtime.errors import ModelError, StreamIncompleteError
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.message import AssistantTextMessage
from roles_runtime.llm.model import (
    Answering,
    Chunk,
    Finish,
    Model,
    ReasoningChunk,
    ReasoningDone,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from roles_runtime.llm.request import LLMRequest

COST_S = 0.5
"""How long the end of an answer is waited for, in seconds, whose reader had seen enough: there stands what it cost."""


class Reply:
    """One answer of a model, while it comes and after.

    Attributes:
        model: The name of who answers.
        started_at: When it was asked for, ``time.time_ns()``.
        finish: The terminal signal; None while it comes, and where its reader had seen enough.
    """

    def __init__(self, model: str, chunks: AsyncGenerator[Chunk, None]) -> None:
        self.model, self._chunks = model, chunks
        self.started_at = time_ns()
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._thoughts: list[Reasoning] = []
        self._calls: list[ToolCall] = []
        self.finish: Finish | None = None
        self._unread: Usage | None = None

    async def text(self, begun: Callable[[], object] | None = None) -> AsyncGenerator[str, None]:
        """The text, piece by piece. Leaving it early is allowed, and what came so far is the answer.

        Args:
            begun: Called when the first piece is there.

        Raises:
            ModelError: the model could not answer.
            StreamIncompleteError: the stream ended without its terminal signal.
        """
        async for chunk in self._chunks:
            match chunk:
                case TextChunk(text):
                    if begun is not None and not self._text:
                        begun()
                    self._text.append(text)
                    yield text
                case ReasoningChunk(text):
                    self._thinking.append(text)
                case ReasoningDone(reasoning):
                    self._thoughts.append(reasoning)
                    self._thinking.clear()
                case ToolCallChunk(call):
                    self._calls.append(call)
                case Answering(model):
                    self.model = model
                case Finish():
                    self.finish = chunk
                    return
                case _:
                    raise ModelError(
                        self.model, f"its stream yielded a {type(chunk).__name__}, and not a chunk: TextChunk(text) …"
                    )
        raise StreamIncompleteError(self.model)

    async def hear_cost(self) -> None:
        """Hears the rest of an answer that was left early, if it comes soon, for what it cost; nothing else counts."""
        if self.finish is not None:
            return
        with anyio.move_on_after(COST_S), suppress(Exception):  # the answer is whole for whoever read it
            async for chunk in self._chunks:
                if isinstance(chunk, Finish):
                    self._unread = chunk.usage
                    return

    @property
    def reason(self) -> Literal["stop", "tool_calls", "length", "refusal"]:
        """Why it ended; ``stop`` where its reader had seen enough."""
        return "stop" if self.finish is None else self.finish.reason

    @property
    def usage(self) -> Usage:
        """What it cost, as far as the model said."""
        if self.finish is not None:
            return self.finish.usage
        return self._unread or Usage(calls=1)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """What the model wishes to have called."""
        return tuple(self._calls)

    @property
    def raw_text(self) -> str:
        """All text so far."""
        return "".join(self._text)

    def message(self, creator: str) -> AssistantTextMessage:
        """The whole answer as a message."""
        thoughts = tuple(self._thoughts)
        if self._thinking:
            thoughts += (Reasoning(text="".join(self._thinking)),)
        return AssistantTextMessage(
            content=self.raw_text, creator=creator, reasoning=thoughts, tool_calls=self.tool_calls
        )


class asked:  # noqa: N801  # it is used as a function is
    """Asks a model: ``async with asked(model, request) as reply``.

    The call has ended when the block is left, however it is left. Every answer is asked for so: a generator that stands
    for the block would cost more than all that is done here.

    Raises:
        ModelError: the model could not answer.
    """

    __slots__ = ("_chunks", "_reply")

    def __init__(self, model: Model, request: LLMRequest) -> None:
        self._chunks = model.stream(request)
        self._reply = Reply(model.name, self._chunks)

    async def __aenter__(self) -> Reply:
        return self._reply

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                await self._reply.hear_cost()
        finally:
            await self._chunks.aclose()
