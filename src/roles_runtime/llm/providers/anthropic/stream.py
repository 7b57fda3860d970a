"""What Anthropic answers: events over server-sent events, the last one ``message_stop``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from roles_runtime.errors import ModelError, StreamIncompleteError
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.faults import fault_by_words
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.sse import EventDecoder

ORIGIN = "anthropic"
"""Whose thoughts they are."""

Reason: TypeAlias = Literal["stop", "tool_calls", "length", "refusal"]

_REASONS: Mapping[str, Reason] = MappingProxyType(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        # The answer is not at its end; what would go on with it is a tool of the provider's own, and none was given.
        "pause_turn": "length",
        "refusal": "refusal",
    }
)

_STATUS: Mapping[str, int] = MappingProxyType(
    {
        "invalid_request_error": 400,
        "authentication_error": 401,
        "billing_error": 402,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "api_error": 500,
        "timeout_error": 504,
        "overloaded_error": 529,
    }
)
"""Which HTTP status an error would have that comes inside the stream; one of an unknown type is the server's."""


class _Details(msgspec.Struct):
    thinking_tokens: int | None = None


class _Counted(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: _Details | None = None


class _Message(msgspec.Struct):
    usage: _Counted | None = None


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Error(msgspec.Struct):
    type: str = ""
    message: str = ""


class _Event(msgspec.Struct):
    type: str
    index: int = -1
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Counted | None = None
    error: _Error | None = None


class _Refusal(msgspec.Struct):
    error: _Error


_EVENT = msgspec.json.Decoder(_Event)
_REFUSAL = msgspec.json.Decoder(_Refusal)


def said_by(body: bytes) -> tuple[str, str]:
    """The type and the words of an error's body; of what is none of Anthropic's, the body itself."""
    try:
        error = _REFUSAL.decode(body).error
    except msgspec.DecodeError:
        return "", body.decode(errors="replace")
    return error.type, error.message


class _Growing:
    """A block that is not whole yet."""

    __slots__ = ("after_calls", "after_chars", "block", "pieces")

    def __init__(self, block: _Block, after_chars: int, after_calls: int) -> None:
        self.block, self.after_chars, self.after_calls = block, after_chars, after_calls
        self.pieces: list[str] = []


class AnthropicReader:
    """Reads one stream."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._events = EventDecoder()
        self._blocks: dict[int, _Growing] = {}
        self._chars = self._calls = 0
        self._usage = _Counted()
        self._reason: Reason | None = None

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """The chunks that these bytes complete. See `StreamReader.feed`."""
        for event in self._events.feed(data):
            yield from self._read(_EVENT.decode(event.data))

    def close(self) -> Iterator[Chunk]:
        """The stream has ended, and not by ``message_stop``, which nothing is read after.

        Raises:
            StreamIncompleteError: always.
        """
        raise StreamIncompleteError(self._name)

    def _read(self, event: _Event) -> Iterator[Chunk]:
        match event:
            case _Event(type="content_block_delta", delta=_Delta() as delta):
                yield from self._grow(event.index, delta)
            case _Event(type="content_block_start", content_block=_Block() as block):
                yield from self._begin(event.index, block)
            case _Event(type="content_block_stop"):
                yield from self._end(event.index)
            case _Event(type="message_start", message=_Message(usage=_Counted() as usage)):
                self._count(usage)
            case _Event(type="message_delta"):
                if event.usage is not None:
                    self._count(event.usage)
                if event.delta is not None and event.delta.stop_reason is not None:
                    self._reason = _REASONS.get(event.delta.stop_reason, "tool_calls" if self._calls else "stop")
            case _Event(type="message_stop"):
                yield self._finish()
            case _Event(type="error"):
                raise self._fault(event.error or _Error())

    def _begin(self, index: int, block: _Block) -> Iterator[Chunk]:
        self._blocks[index] = _Growing(block, self._chars, self._calls)
        if block.type == "tool_use":
            self._calls += 1
        elif block.text or block.thinking:
            first = _Delta(type=f"{block.type}_delta", text=block.text, thinking=block.thinking)
            yield from self._grow(index, first)

    def _grow(self, index: int, delta: _Delta) -> Iterator[Chunk]:
        if delta.type == "text_delta":
            if delta.text:
                self._chars += len(delta.text)
                yield TextChunk(delta.text)
            return
        growing = self._blocks.get(index)
        if growing is None:
            return
        if delta.type == "input_json_delta":
            growing.pieces.append(delta.partial_json)
        elif delta.type == "signature_delta":
            growing.block.signature += delta.signature
        elif delta.type == "thinking_delta" and delta.thinking:
            growing.pieces.append(delta.thinking)
            yield ReasoningChunk(delta.thinking)

    def _end(self, index: int) -> Iterator[Chunk]:
        growing = self._blocks.pop(index, None)
        if growing is None:
            return
        block, whole = growing.block, "".join(growing.pieces)
        if block.type == "tool_use":
            # Nothing came where the input stands in the block itself, or where there is none.
            arguments = whole or bytes(block.input).decode()
            yield ToolCallChunk(ToolCall(call_id=block.id, name=block.name, arguments=arguments))
        elif block.type == "thinking":
            signed: JsonObject = {"type": "thinking", "thinking": whole, "signature": block.signature}
            yield self._thought(growing, whole, signed)
        elif block.type == "redacted_thinking":
            yield self._thought(growing, "", {"type": "redacted_thinking", "data": block.data})

    def _thought(self, growing: _Growing, text: str, payload: JsonObject) -> ReasoningDone:
        return ReasoningDone(
            Reasoning(
                text=text,
                origin=ORIGIN,
                payload=payload,
                after_chars=growing.after_chars,
                after_calls=growing.after_calls,
            )
        )

    def _count(self, usage: _Counted) -> None:
        """Takes what is counted so far: each field counts from the beginning, and one that is missing stands."""
        for field in usage.__struct_fields__:
            value = getattr(usage, field)
            if value is not None:
                setattr(self._usage, field, value)

    def _finish(self) -> Finish:
        if self._reason is None:
            raise StreamIncompleteError(self._name, "the stream ended without saying why.")
        counted = self._usage
        cached = counted.cache_read_input_tokens or 0
        details = counted.output_tokens_details or _Details()
        usage = Usage(
            # What was read from the cache, and what was written to it, is counted apart.
            input_tokens=(counted.input_tokens or 0) + cached + (counted.cache_creation_input_tokens or 0),
            output_tokens=counted.output_tokens or 0,
            calls=1,
            cached_tokens=cached,
            reasoning_tokens=details.thinking_tokens or 0,
        )
        return Finish(self._reason, usage)

    def _fault(self, error: _Error) -> ModelError:
        return fault_by_words(self._name, _STATUS.get(error.type, 500), error.type, error.message)
