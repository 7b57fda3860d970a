"""Reads a stream of OpenAI's chat wire, from OpenAI and from servers that have it more or less."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from roles_runtime.errors import ModelUnavailableError
from roles_runtime.llm.call_gathering import CallGatherer
from roles_runtime.llm.calls import Reasoning
from roles_runtime.llm.complaint import Complaint, complaint_of
from roles_runtime.llm.decoding import json_text, text_of, tokens
from roles_runtime.llm.events import Events, Halves, format_of
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage

_LENGTH = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
_REFUSAL = frozenset({"content_filter", "sensitive", "refusal"})
_BROKEN = frozenset({"network_error", "insufficient_system_resource", "error", "abort"})


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, object] | None = None


class _Call(msgspec.Struct):
    index: int | str | None = None
    id: str | int | None = None
    function: _Function | None = None


class _Part(msgspec.Struct):
    text: str | None = None


class _Delta(msgspec.Struct):
    content: str | list[_Part] | None = None
    reasoning_content: object = None
    reasoning: object = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None
    usage: object = None


class _Event(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: object = None
    error: Complaint | str | None = None


def _told(usage: object) -> Usage:
    cached = tokens(usage, "prompt_tokens_details", "cached_tokens") or tokens(usage, "prompt_cache_hit_tokens")
    return Usage(
        input_tokens=tokens(usage, "prompt_tokens"),
        output_tokens=tokens(usage, "completion_tokens"),
        calls=1,
        cached_tokens=cached,
        reasoning_tokens=tokens(usage, "completion_tokens_details", "reasoning_tokens"),
    )


_DECODER = msgspec.json.Decoder(_Event)


class ChatReader:
    """Reads one answer.

    The terminal signal is a ``finish_reason``; after it the usage may still come, and ``[DONE]``, which not every
    server sends.
    """

    def __init__(self, name: str, origin: str) -> None:
        """Takes the model's name, for errors, and whose the thoughts are, empty where nobody wants them back."""
        self._name, self._origin = name, origin
        self._events = Events(name, _DECODER)
        self._calls = CallGatherer()
        self._halves = Halves()
        self._thoughts: list[str] = []
        self._chars = 0
        self._has_refused = False
        self._reason = ""
        self._usage = Usage(calls=1)

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """See `StreamReader`."""
        with format_of(self._name):
            for event in self._events.feed(data):
                if event is not None:
                    yield from self._read(event)
                elif self._reason:
                    yield from self._finished()
                    return

    def close(self) -> Iterator[Chunk]:
        """See `StreamReader`."""
        if not self._reason:
            raise self._events.ended()
        yield from self._finished()

    def _read(self, event: _Event) -> Iterator[Chunk]:
        if event.error is not None:
            raise complaint_of(event.error).fault(self._name)
        if event.usage is not None:
            self._usage = _told(event.usage)
        for choice in event.choices or ():
            if choice.delta is not None:
                yield from self._grown(choice.delta)
            if choice.usage is not None:
                self._usage = _told(choice.usage)
            self._reason = choice.finish_reason or self._reason

    def _grown(self, delta: _Delta) -> Iterator[Chunk]:
        thought = delta.reasoning_content or delta.reasoning
        thought = self._halves.join(thought) if isinstance(thought, str) else ""
        if thought:
            self._thoughts.append(thought)
            yield ReasoningChunk(thought)
        content = delta.content or ""
        if not isinstance(content, str):
            content = "".join(each.text or "" for each in content)
        if delta.refusal:
            self._has_refused = True
            content += delta.refusal
        if content:
            yield from self._thought()
            yield from self._said(self._halves.join(content))
        if delta.tool_calls:
            yield from self._thought()
            for call in delta.tool_calls:
                self._call(call)

    def _said(self, text: str) -> Iterator[Chunk]:
        if text:
            self._chars += len(text)
            yield TextChunk(text)

    def _call(self, call: _Call) -> None:
        function = call.function or _Function()
        arguments = function.arguments or ""
        if not isinstance(arguments, str):
            arguments = json_text(arguments)
        self._calls.add(index=call.index, call_id=text_of(call.id), name=function.name or "", arguments=arguments)

    def _thought(self) -> Iterator[Chunk]:
        """What was thought until here, whole, for a server that wants it back."""
        if self._thoughts and self._origin:
            text = "".join(self._thoughts)
            yield ReasoningDone(
                Reasoning(text=text, origin=self._origin, after_chars=self._chars, after_calls=len(self._calls))
            )
        self._thoughts.clear()

    def _finished(self) -> Iterator[Chunk]:
        if self._reason in _BROKEN:
            raise ModelUnavailableError(self._name, f"it broke its answer off: {self._reason}")
        yield from self._thought()
        yield from self._said(self._halves.rest())
        calls = self._calls.calls()
        for call in calls:
            yield ToolCallChunk(call)
        if self._reason in _LENGTH:
            yield Finish("length", self._usage)
        elif self._reason in _REFUSAL or self._has_refused:
            yield Finish("refusal", self._usage)
        else:
            yield Finish("tool_calls" if calls else "stop", self._usage)
