"""What Ollama answers: a JSON object a line, the last one ``done``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from roles_runtime.errors import StreamIncompleteError, StreamMalformedError
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.complaint import Complaint, complaint_of
from roles_runtime.llm.decoding import decoded, raw_text, text_of, tokens
from roles_runtime.llm.events import Halves, format_of, no_stream
from roles_runtime.llm.faults import fault_by_words
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.sse import LineDecoder
from roles_runtime.posts.ids import create_id

ORIGIN = "ollama"
"""Whose thoughts they are; it wants none of them back."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _Call(msgspec.Struct):
    function: _Function | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Line(msgspec.Struct):
    message: _Message | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: object = None
    eval_count: object = None
    error: Complaint | str | None = None


_LINE = msgspec.json.Decoder(_Line)


def own_id() -> str:
    """An id for a call; Ollama gives none."""
    return "call-" + create_id()


class OllamaReader:
    """Reads one stream.

    Args:
        name: ``provider:model``, for errors.
        new_id: Gives ids to calls.
    """

    def __init__(self, name: str, new_id: Callable[[], str] = own_id) -> None:
        self._name, self._new_id = name, new_id
        self._lines = LineDecoder()
        self._halves = Halves()
        self._has_any = False
        self._chars = self._calls = 0
        self._thinking: list[str] = []

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """The chunks that these bytes complete. See `StreamReader.feed`."""
        with format_of(self._name):
            for line in self._lines.feed(data):
                if line.strip():
                    yield from self._read(self._decoded(line))

    def close(self) -> Iterator[Chunk]:
        """The stream has ended; its last line may lack an end.

        Raises:
            StreamIncompleteError: no line was ``done``; StreamMalformedError where it was no stream at all.
        """
        with format_of(self._name):
            for line in self._lines.close():
                try:
                    said = self._decoded(line)
                except msgspec.DecodeError:
                    break
                yield from self._read(said)
                if said.done:
                    return
        raise StreamIncompleteError(self._name)

    def _decoded(self, line: bytes) -> _Line:
        try:
            said = decoded(_LINE, line)
        except msgspec.DecodeError:
            if not self._has_any and line.lstrip()[:1] != b"{":
                raise StreamMalformedError(self._name, no_stream(line)) from None
            raise
        self._has_any = True
        return said

    def _read(self, line: _Line) -> Iterator[Chunk]:
        if line.error is not None:
            # The status was sent long ago; what fails now is the server.
            error = complaint_of(line.error)
            raise fault_by_words(self._name, error.http_status or 500, error.about, text_of(error.message))
        if line.message is not None:
            yield from self._take(line.message)
        if line.done:
            yield from self._said(self._halves.rest())
            yield from self._thought_whole()
            yield Finish(
                self._why(line.done_reason),
                Usage(input_tokens=tokens(line.prompt_eval_count), output_tokens=tokens(line.eval_count), calls=1),
            )

    def _take(self, message: _Message) -> Iterator[Chunk]:
        thought = self._halves.join(message.thinking or "")
        if thought:
            self._thinking.append(thought)
            yield ReasoningChunk(thought)
        if message.content:
            yield from self._thought_whole()
            yield from self._said(self._halves.join(message.content))
        for call in message.tool_calls or ():
            yield from self._thought_whole()
            self._calls += 1
            function = call.function or _Function()
            arguments = raw_text(function.arguments)
            yield ToolCallChunk(ToolCall(call_id=self._new_id(), name=function.name or "", arguments=arguments))

    def _said(self, text: str) -> Iterator[Chunk]:
        if text:
            self._chars += len(text)
            yield TextChunk(text)

    def _thought_whole(self) -> Iterator[Chunk]:
        if self._thinking:
            thought = Reasoning(
                text="".join(self._thinking), origin=ORIGIN, after_chars=self._chars, after_calls=self._calls
            )
            self._thinking = []
            yield ReasoningDone(thought)

    def _why(self, reason: str | None) -> Literal["stop", "tool_calls", "length"]:
        if reason == "length":
            return "length"
        return "tool_calls" if self._calls else "stop"
