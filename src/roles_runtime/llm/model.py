"""The Model contract: a request in, chunks out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from roles_runtime.errors import ModelError
from roles_runtime.llm.message import ToolCall
from roles_runtime.llm.request import LLMRequest
from roles_runtime.plugins import load


class TextChunk(msgspec.Struct, frozen=True):
    """More of the answer's text."""

    text: str


class ReasoningChunk(msgspec.Struct, frozen=True):
    """More of what the model thinks before its answer."""

    text: str


class ToolCallChunk(msgspec.Struct, frozen=True):
    """A tool call, whole."""

    call: ToolCall


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one or more calls."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
        )


class Finish(msgspec.Struct, frozen=True):
    """The terminal signal: the last chunk of every whole stream.

    Attributes:
        reason: ``stop``; ``tool_calls``; ``length`` where the answer was cut off; ``refusal``.
        usage: What the call cost.
    """

    reason: Literal["stop", "tool_calls", "length", "refusal"] = "stop"
    usage: Usage = Usage(calls=1)


Chunk: TypeAlias = TextChunk | ReasoningChunk | ToolCallChunk | Finish


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
class Provider(Protocol):
    """What an entry point of ``roles_runtime.providers`` names: a class of models that is made by name."""

    def from_name(self, model: str) -> Model:
        """Makes the model that stands behind the colon of ``provider:model``.

        Raises:
            ModelError: there is no such model, or what it needs is missing; it says how to mend it.
        """
        ...


def resolve_model(model: Model | str) -> Model:
    """The model that a user's ``provider:name`` names; a Model is given back as it is.

    Raises:
        PluginNotFoundError: no such provider is installed.
        ModelError: the provider has no such model, or lacks what it needs; or what was given is no Model.
    """
    if isinstance(model, str):
        provider, _, name = model.partition(":")
        maker = load("provider", provider)
        if not isinstance(maker, Provider):
            raise ModelError(model, f"the provider {provider!r} has no from_name(model) that makes its models.")
        return resolve_model(maker.from_name(name))
    lacking = [each for each in ("name", "writes_code", "stream") if not hasattr(model, each)]
    if lacking:
        raise ModelError(
            type(model).__name__,
            f"it is no Model, for it lacks {', '.join(lacking)}. A Model has a name, says by writes_code whether code "
            "that it writes is an LLM's, and has a stream(request) that yields chunks, Finish last.",
        )
    return model
