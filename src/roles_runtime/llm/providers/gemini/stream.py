"""What Gemini answers: whole responses over server-sent events, the last one with a ``finishReason``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import msgspec

from roles_runtime.errors import ModelError, ModelRefusedError, ModelUnavailableError
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.complaint import Complaint, complaint_of
from roles_runtime.llm.decoding import raw_text, text_of, tokens
from roles_runtime.llm.events import Events, Halves, format_of
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.posts.ids import create_id

ORIGIN = "gemini"
"""Whose thoughts they are."""

OWN_ID = "gemini-"
"""How an id begins that we gave, since Gemini gave none; it is not told."""

SIGNATURE = "thoughtSignature"
PLACE = "place"
"""In a thought's payload: the signature, and which part it stood on: a ``thought``, a ``text`` or a ``call``."""

LENGTH = "chars"
"""In the payload of a signature on a text: how many characters the part had; they stand behind its place."""

_Reason: TypeAlias = Literal["stop", "tool_calls", "length", "refusal"]

_CUT = frozenset({"MAX_TOKENS", "CONTINUATION"})
_REFUSED = frozenset(
    {
        *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "ESCALATION"),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "NO_IMAGE"),
        "PUP_LIMITED_DISABLED",
    }
)
_FAILED = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "OTHER"}
)
"""The model lost its way; asked again, it mostly finds it."""

_OURS = "MISSING_THOUGHT_SIGNATURE"


class _Call(msgspec.Struct):
    name: str | None = None
    id: str | int | None = None
    args: msgspec.Raw = msgspec.Raw(b"{}")


class _Part(msgspec.Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _Call | None = None


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None


class _Candidate(msgspec.Struct, rename="camel"):
    index: int | None = None
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None


class _Response(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: object = None
    error: Complaint | str | None = None


_RESPONSE = msgspec.json.Decoder(_Response)


def own_id() -> str:
    """An id for a call that came without one."""
    return OWN_ID + create_id()


class GeminiReader:
    """Reads one stream.

    Args:
        name: ``provider:model``, for errors.
        new_id: Gives ids to calls that come without one.
    """

    def __init__(self, name: str, new_id: Callable[[], str] = own_id) -> None:
        self._name, self._new_id = name, new_id
        self._events = Events(name, _RESPONSE)
        self._halves = Halves()
        self._chars = self._calls = 0
        self._thinking: list[str] = []
        self._usage: object = None
        self._reason: _Reason | None = None

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """The chunks that these bytes complete. See `StreamReader.feed`."""
        with format_of(self._name):
            for event in self._events.feed(data):
                if event is not None:
                    yield from self._read(event)

    def close(self) -> Iterator[Chunk]:
        """The stream has ended.

        Raises:
            StreamIncompleteError: no response told why.
        """
        if self._reason is None:
            raise self._events.ended()
        yield from self._finished(self._reason)

    def _read(self, response: _Response) -> Iterator[Chunk]:
        if response.error is not None:
            raise complaint_of(response.error).fault(self._name)
        if response.usage_metadata is not None:
            self._usage = response.usage_metadata
        candidate = response.candidates[0] if response.candidates else None
        if candidate is None:
            if response.prompt_feedback is not None and response.prompt_feedback.block_reason:
                self._reason = "refusal"
        else:
            for part in (candidate.content.parts if candidate.content else None) or ():
                yield from self._take(part)
            if candidate.finish_reason is not None:
                yield from self._thought_whole()
                self._reason = self._why(candidate.finish_reason, candidate.finish_message or "")
        # Its usage may come in a response of its own.
        if self._reason is not None and response.usage_metadata is not None:
            yield from self._finished(self._reason)

    def _take(self, part: _Part) -> Iterator[Chunk]:
        if part.thought:
            yield from self._think(part)
            return
        yield from self._thought_whole()
        if part.function_call is not None:
            yield from self._signed(part, "call")
            call = part.function_call
            self._calls += 1
            arguments = raw_text(call.args)
            call_id = text_of(call.id) or self._new_id()
            yield ToolCallChunk(ToolCall(call_id=call_id, name=call.name or "", arguments=arguments))
        elif part.text is not None:
            text = self._halves.join(part.text)
            yield from self._signed(part, "text", len(text))
            yield from self._said(text)

    def _said(self, text: str) -> Iterator[Chunk]:
        if text:
            self._chars += len(text)
            yield TextChunk(text)

    def _think(self, part: _Part) -> Iterator[Chunk]:
        thought = self._halves.join(part.text or "")
        if thought:
            self._thinking.append(thought)
            yield ReasoningChunk(thought)
        if part.thought_signature:
            yield from self._thought_whole(part.thought_signature)

    def _thought_whole(self, signature: str | None = None) -> Iterator[Chunk]:
        """What was thought up to here, as one piece; parts of a thought without a signature belong together."""
        if not self._thinking and signature is None:
            return
        payload: JsonObject = {PLACE: "thought"}
        if signature is not None:
            payload[SIGNATURE] = signature
        yield self._reasoning("".join(self._thinking), payload)
        self._thinking = []

    def _signed(self, part: _Part, place: Literal["call", "text"], chars: int = 0) -> Iterator[Chunk]:
        if not part.thought_signature:
            return
        payload: JsonObject = {PLACE: place, SIGNATURE: part.thought_signature}
        if place == "text":
            payload[LENGTH] = chars
        yield self._reasoning("", payload)

    def _reasoning(self, text: str, payload: JsonObject) -> ReasoningDone:
        return ReasoningDone(
            Reasoning(text=text, origin=ORIGIN, payload=payload, after_chars=self._chars, after_calls=self._calls)
        )

    def _why(self, reason: str, message: str) -> _Reason:
        if reason in _FAILED or reason == _OURS:
            raise self._fault(reason, message)
        if reason in _CUT:
            return "length"
        if reason in _REFUSED:
            return "refusal"
        return "tool_calls" if self._calls else "stop"

    def _fault(self, reason: str, message: str) -> ModelError:
        told = f"it ended with {reason}" + (f": {message}" if message else "")
        if reason == _OURS:
            return ModelRefusedError(self._name, f"{told}: a call stood without the thought that led to it")
        return ModelUnavailableError(self._name, told)

    def _finished(self, reason: _Reason) -> Iterator[Chunk]:
        yield from self._said(self._halves.rest())
        counted = self._usage
        thought = tokens(counted, "thoughtsTokenCount")
        usage = Usage(
            input_tokens=tokens(counted, "promptTokenCount") + tokens(counted, "toolUsePromptTokenCount"),
            output_tokens=tokens(counted, "candidatesTokenCount") + thought,
            calls=1,
            cached_tokens=tokens(counted, "cachedContentTokenCount"),
            reasoning_tokens=thought,
        )
        yield Finish(reason, usage)
