"""What Anthropic answers: events over server-sent events, the last one ``message_stop``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from roles_runtime.errors import ModelError, StreamIncompleteError
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.complaint import Complaint, complaint_of
from roles_runtime.llm.decoding import raw_text, text_of, tokens
from roles_runtime.llm.events import Events, Halves, format_of
from roles_runtime.llm.faults import fault_by_words
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject

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


class _Message(msgspec.Struct):
    usage: object = None


class _Block(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | int | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _Delta(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Event(msgspec.Struct):
    type: str = ""
    index: int | str | None = None
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: object = None
    error: Complaint | str | None = None


_EVENT = msgspec.json.Decoder(_Event)


class _Growing:
    """A block that is not whole yet."""

    __slots__ = ("after_calls", "after_chars", "block", "pieces", "signature")

    def __init__(self, block: _Block, after_chars: int, after_calls: int) -> None:
        self.block, self.after_chars, self.after_calls = block, after_chars, after_calls
        self.pieces: list[str] = []
        self.signature = [block.signature or ""]


class AnthropicReader:
    """Reads one stream."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._events = Events(name, _EVENT)
        self._halves = Halves()
        self._blocks: dict[int | str | None, _Growing] = {}
        self._chars = self._calls = 0
        self._usage: dict[str, object] = {}
        self._reason: Reason | None = None

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """The chunks that these bytes complete. See `StreamReader.feed`."""
        with format_of(self._name):
            for event in self._events.feed(data):
                if event is not None:
                    yield from self._read(event)

    def close(self) -> Iterator[Chunk]:
        """The stream has ended, and not by ``message_stop``, which nothing is read after.

        Raises:
            StreamIncompleteError: always; StreamMalformedError or another ModelError where it was no stream at all.
        """
        raise self._events.ended()

    def _read(self, event: _Event) -> Iterator[Chunk]:
        match event:
            case _Event(type="content_block_delta", delta=_Delta() as delta):
                yield from self._grow(event.index, delta)
            case _Event(type="content_block_start", content_block=_Block() as block):
                yield from self._begin(event.index, block)
            case _Event(type="content_block_stop"):
                yield from self._end(event.index)
            case _Event(type="message_start", message=_Message(usage=usage)):
                self._count(usage)
            case _Event(type="message_delta"):
                self._count(event.usage)
                if event.delta is not None and event.delta.stop_reason is not None:
                    self._reason = _REASONS.get(event.delta.stop_reason, "tool_calls" if self._calls else "stop")
            case _Event(type="message_stop"):
                yield from self._finished()
            case _ if event.type == "error" or event.error is not None:
                raise self._fault(complaint_of(event.error or Complaint()))

    def _begin(self, index: int | str | None, block: _Block) -> Iterator[Chunk]:
        self._blocks[index] = _Growing(block, self._chars, self._calls)
        if block.type == "tool_use":
            self._calls += 1
        elif block.text or block.thinking:
            first = _Delta(type=f"{block.type}_delta", text=block.text, thinking=block.thinking)
            yield from self._grow(index, first)

    def _grow(self, index: int | str | None, delta: _Delta) -> Iterator[Chunk]:
        if delta.type == "text_delta":
            yield from self._said(delta.text or "")
            return
        growing = self._blocks.get(index)
        if growing is None:
            return
        if delta.type == "input_json_delta":
            growing.pieces.append(delta.partial_json or "")
        elif delta.type == "signature_delta":
            growing.signature.append(delta.signature or "")
        elif delta.type == "thinking_delta" and delta.thinking:
            thought = self._halves.join(delta.thinking)
            growing.pieces.append(thought)
            if thought:
                yield ReasoningChunk(thought)

    def _said(self, text: str) -> Iterator[Chunk]:
        text = self._halves.join(text)
        if text:
            self._chars += len(text)
            yield TextChunk(text)

    def _end(self, index: int | str | None) -> Iterator[Chunk]:
        growing = self._blocks.pop(index, None)
        if growing is None:
            return
        block, whole = growing.block, "".join(growing.pieces)
        if block.type == "tool_use":
            # Nothing came where the input stands in the block itself, or where there is none.
            arguments = whole or raw_text(block.input)
            yield ToolCallChunk(ToolCall(call_id=text_of(block.id), name=block.name or "", arguments=arguments))
        elif block.type == "thinking":
            signed: JsonObject = {"type": "thinking", "thinking": whole, "signature": "".join(growing.signature)}
            yield self._thought(growing, whole, signed)
        elif block.type == "redacted_thinking":
            yield self._thought(growing, "", {"type": "redacted_thinking", "data": block.data or ""})

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

    def _count(self, usage: object) -> None:
        """Takes what is counted so far: each field counts from the beginning, and one that is missing stands."""
        if isinstance(usage, dict):
            self._usage |= {field: value for field, value in usage.items() if value is not None}

    def _finished(self) -> Iterator[Chunk]:
        if self._reason is None:
            raise StreamIncompleteError(self._name, "the stream ended without saying why.")
        yield from self._said(self._halves.rest())
        # Some servers do not say where a block ends.
        for index in tuple(self._blocks):
            yield from self._end(index)
        counted = self._usage
        cached = tokens(counted, "cache_read_input_tokens")
        usage = Usage(
            # What was read from the cache, and what was written to it, is counted apart.
            input_tokens=tokens(counted, "input_tokens") + cached + tokens(counted, "cache_creation_input_tokens"),
            output_tokens=tokens(counted, "output_tokens"),
            calls=1,
            cached_tokens=cached,
            reasoning_tokens=tokens(counted, "output_tokens_details", "thinking_tokens"),
        )
        yield Finish(self._reason, usage)

    def _fault(self, error: Complaint) -> ModelError:
        kind = text_of(error.type)
        return fault_by_words(self._name, _STATUS.get(kind, 500), kind, text_of(error.message))
