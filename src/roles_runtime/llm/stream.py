"""A model's stream, gathered: the text goes on to whoever reads it while the whole message is put together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from time import time_ns
from typing import Literal

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

    async def text(self) -> AsyncGenerator[str, None]:
        """The text, piece by piece. Leaving it early ends the call, and what came so far is the answer.

        Raises:
            ModelError: the model could not answer.
            StreamIncompleteError: the stream ended without its terminal signal.
        """
        async for chunk in self._chunks:
            match chunk:
                case TextChunk(text):
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

    @property
    def reason(self) -> Literal["stop", "tool_calls", "length", "refusal"]:
        """Why it ended; ``stop`` where its reader had seen enough."""
        return "stop" if self.finish is None else self.finish.reason

    @property
    def usage(self) -> Usage:
        """What it cost, as far as the model said."""
        return Usage(calls=1) if self.finish is None else self.finish.usage

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


@asynccontextmanager
async def asked(model: Model, request: LLMRequest) -> AsyncIterator[Reply]:
    """Asks a model; the call has ended when the block is left, however it is left.

    Raises:
        ModelError: the model could not answer.
    """
    chunks = model.stream(request)
    try:
        yield Reply(model.name, chunks)
    finally:
        await chunks.aclose()


async def answer_text(model: Model, request: LLMRequest) -> str:
    """The whole text of one answer, where nothing is shown while it comes (a summary, a judgement).

    Raises:
        ModelError: the model could not answer, refused, or was cut off at its limit.
    """
    async with asked(model, request) as reply:
        text = "".join([piece async for piece in reply.text()])
    if reply.reason in ("length", "refusal"):
        raise ModelError(reply.model, "its answer was cut off." if reply.reason == "length" else f"it refused: {text}")
    return text
