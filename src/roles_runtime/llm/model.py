"""The Model contract: a request in, chunks out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.options import ProviderOptions
from roles_runtime.llm.request import LLMRequest


class TextChunk(msgspec.Struct, frozen=True):
    """More of the answer's text."""

    text: str


class ReasoningChunk(msgspec.Struct, frozen=True):
    """More of what the model thinks before its answer."""

    text: str


class ReasoningDone(msgspec.Struct, frozen=True):
    """A piece of reasoning, whole, with all that its provider wants back; what grew before it belongs to it.

    A model whose provider wants nothing back need not send it.
    """

    reasoning: Reasoning


class ToolCallChunk(msgspec.Struct, frozen=True):
    """A tool call, whole."""

    call: ToolCall


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens of one or more calls.

    Attributes:
        input_tokens: Of prompts, cached ones included.
        output_tokens: Of answers, reasoning included.
        calls: How many calls; a model's own `Finish` need not say, it is one.
        cached_tokens: Of the input, those that the provider had at hand and takes less for.
        reasoning_tokens: Of the output, those that were thought.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


class Finish(msgspec.Struct, frozen=True):
    """The terminal signal: the last chunk of every whole stream.

    Attributes:
        reason: ``stop``; ``tool_calls``; ``length`` where the answer was cut off; ``refusal``.
        usage: What the call cost.
    """

    reason: Literal["stop", "tool_calls", "length", "refusal"] = "stop"
    usage: Usage = Usage(calls=1)


class Answering(msgspec.Struct, frozen=True):
    """Who answers, where a model stands for several and it is not the first: it comes before all that they say."""

    model: str


Chunk: TypeAlias = Answering | TextChunk | ReasoningChunk | ReasoningDone | ToolCallChunk | Finish


@runtime_checkable
class Model(Protocol):
    """A model of any provider. One object serves many sessions side by side and keeps no state of theirs.

    Attributes:
        name: ``provider:model``, as the user writes it.
        writes_code: Whether code that it writes is an LLM's, which never runs outside a sandbox unasked. Only a
            deterministic model (rules, scripted) says False.
    """

    @property
    def name(self) -> str:
        """``provider:model``."""
        ...

    @property
    def writes_code(self) -> bool:
        """Whether code that it writes is an LLM's."""
        ...

    def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        """Asks the model; chunks come as it writes them, the last one is `Finish`.

        The caller closes it (``contextlib.aclosing``), which ends the call.

        Raises:
            ModelError: it could not answer.
        """
        ...


@runtime_checkable
class Closable(Protocol):
    """A Model that holds something open. The runtime closes it when it is closed itself.

    The same object may serve another runtime, before and after: it must open anew what it is asked for next.
    """

    async def aclose(self) -> None:
        """Closes what is open."""
        ...


@runtime_checkable
class Provider(Protocol):
    """What an entry point of ``roles_runtime.providers`` names: a class of models that is made by name."""

    def from_name(self, model: str, options: ProviderOptions | None = None) -> Model:
        """Makes the model that stands behind the colon of ``provider:model``.

        Args:
            model: Its name.
            options: How the provider is reached, where the user said; given only then.

        Raises:
            ModelError: there is no such model, or what it needs is missing; it says how to mend it.
        """
        ...
