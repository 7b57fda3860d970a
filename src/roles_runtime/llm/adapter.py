"""The Adapter contract: a provider's format, and nothing but its format. Pure: no I/O, no SDK, no clock.

A new provider is one file: an Adapter with three hooks for what is asked and one for what comes back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

import msgspec

from roles_runtime.llm.llm_message import WireMessage
from roles_runtime.llm.model import Chunk
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import LLMRequest

Media = Literal["image", "audio", "video", "file"]


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a model takes; what it does not take is told in words, left out, or put elsewhere.

    Attributes:
        media: Media types that a user's message may hold, each exact (``image/png``) or a whole kind (``image/*``).
        urls: Whether media may be given by URL.
        tool_media: Of `media`, those that may stand in a tool's result; others follow as a user's message.
        tools: Whether it calls tools.
        system_param: Whether the instructions at the beginning have a field of their own, beside the messages.
        system_inside: Whether instructions may stand among the messages; else later ones are told as the user's text.
        sampling: Whether ``temperature`` and ``top_p`` may be given.
        schema_with_tools: Whether a response schema may be enforced together with tools. Without tools it always may
            where `schema` is True.
        schema: Whether the provider can enforce a response schema.
        context_window: In tokens; None where nobody knows.
        max_output: The bound of an answer in tokens, sent where the request names none and the provider wants one.
        reasoning: Whether the model thinks and wants its own thoughts back.
    """

    media: frozenset[str] = frozenset()
    urls: bool = True
    tool_media: frozenset[str] = frozenset()
    tools: bool = True
    system_param: bool = False
    system_inside: bool = False
    sampling: bool = True
    schema_with_tools: bool = False
    schema: bool = True
    context_window: int | None = None
    max_output: int | None = None
    reasoning: bool = False

    def takes(self, mime: str, *, url: bool, tool: bool = False) -> bool:
        """Whether media of that type may be given."""
        accepted = self.tool_media if tool else self.media
        return (self.urls or not url) and (mime in accepted or f"{mime.partition('/')[0]}/*" in accepted)


class StreamReader(Protocol):
    """Makes chunks of a provider's bytes, however they are cut. One object reads one stream.

    The last chunk is a `Finish`; what comes after it is not read.
    """

    def feed(self, data: bytes) -> Iterable[Chunk]:
        """The chunks that these bytes complete.

        Raises:
            ModelError: the stream holds an error of the provider; its class says which.
            StreamMalformedError: the bytes are not of the provider's format.
        """
        ...

    def close(self) -> Iterable[Chunk]:
        """The stream has ended: what is still to be said.

        Raises:
            StreamIncompleteError: it ended without its terminal signal.
        """
        ...


class Adapter(ABC):
    """A provider's format for one model. One object serves all requests and keeps no state of theirs.

    Attributes:
        name: ``provider:model``, for errors.
        wire: Which rules `validate.validate_wire` holds a body to: ``openai-chat``, ``openai-responses``,
            ``anthropic``, ``gemini``, ``ollama``, or another's with rules of its own.
        origin: Whose thoughts it takes back: what stands in `Reasoning.origin` of those that it reads itself.
        model: The provider's own name of the model.
        capabilities: What the model takes.
    """

    wire: str
    origin: str

    def __init__(self, name: str, model: str, capabilities: Capabilities) -> None:
        """Takes what it is to speak for."""
        self.name, self.model, self.capabilities = name, model, capabilities

    @abstractmethod
    def configure_api_params(self, request: LLMRequest, system: str) -> JsonObject:
        """The first hook: the body's fields beside messages and tools.

        That is the model, bounds and sampling as far as the model takes them, a response schema, the instructions, and
        that the answer shall be streamed, with its usage.

        Args:
            request: What is asked.
            system: The instructions, where the capabilities say ``system_param``; else empty: they lead the messages.
        """

    @abstractmethod
    def reformat_request_msg_to_api(self, messages: Sequence[WireMessage]) -> list[JsonObject]:
        """The second hook: the messages as the provider has them.

        Args:
            messages: Merged (see `assembly`): no empty text, no two of a kind in a row but the results of one
                message's calls, which stand right after it, each answered once and in order; ids unique and as
                `fit_call_id` makes them; arguments are JSON objects; only media that the capabilities take; a user's
                message before any assistant's, and none of an assistant's at the end.
        """

    @abstractmethod
    def assemble_api_request(self, params: JsonObject, messages: list[JsonObject], request: LLMRequest) -> JsonObject:
        """The third hook: the whole body, tools included."""

    @abstractmethod
    def reader(self) -> StreamReader:
        """What reads one answer's stream."""

    @abstractmethod
    def read_error(self, status: int, body: bytes) -> tuple[str, str]:
        """What the provider says in an answer that is an error.

        Args:
            status: The HTTP status.
            body: At most some KiB; it may be HTML of a proxy, or empty.

        Returns:
            Its code or type (empty if it has none), and its words on one line.
        """

    def fit_call_id(self, call_id: str) -> str:
        """The id as the provider takes it; ids that it gave itself stay. Two ids may not become one: see `assembly`."""
        return call_id
