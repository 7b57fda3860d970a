"""What Gemini answers: whole responses over server-sent events, the last one with a ``finishReason``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import msgspec

from roles_runtime.errors import ModelError, ModelRefusedError, ModelUnavailableError, StreamIncompleteError
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.faults import fault_by_words
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.sse import EventDecoder
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
    name: str = ""
    id: str | None = None
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


class _Counted(msgspec.Struct, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None


class _Error(msgspec.Struct):
    code: int = 0
    status: str = ""
    message: str = ""


class _Response(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Counted | None = None
    error: _Error | None = None


class _Refusal(msgspec.Struct):
    error: _Error


_RESPONSE = msgspec.json.Decoder(_Response)
_REFUSAL = msgspec.json.Decoder(_Refusal | list[_Refusal])


def said_by(body: bytes) -> tuple[str, str]:
    """The status and the words of an error's body; of what is none of Gemini's, the body itself."""
    try:
        refusal = _REFUSAL.decode(body)
    except msgspec.DecodeError:
        return "", body.decode(errors="replace")
    # An answer that would have been an array of responses is an array of one error.
    found = refusal if isinstance(refusal, list) else [refusal]
    return (found[0].error.status, found[0].error.message) if found else ("", "")


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
        self._events = EventDecoder()
        self._chars = self._calls = 0
        self._thinking: list[str] = []
        self._usage = _Counted()
        self._reason: _Reason | None = None

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """The chunks that these bytes complete. See `StreamReader.feed`."""
        for event in self._events.feed(data):
            yield from self._read(_RESPONSE.decode(event.data))

    def close(self) -> Iterator[Chunk]:
        """The stream has ended.

        Raises:
            StreamIncompleteError: no response told why.
        """
        if self._reason is None:
            raise StreamIncompleteError(self._name)
        yield self._finish(self._reason)

    def _read(self, response: _Response) -> Iterator[Chunk]:
        if response.error is not None:
            error = response.error
            raise fault_by_words(self._name, error.code, error.status, error.message)
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
            yield self._finish(self._reason)

    def _take(self, part: _Part) -> Iterator[Chunk]:
        if part.thought:
            yield from self._think(part)
            return
        yield from self._thought_whole()
        if part.function_call is not None:
            yield from self._signed(part, "call")
            call = part.function_call
            self._calls += 1
            arguments = bytes(call.args).decode()
            call_id = call.id or self._new_id()
            yield ToolCallChunk(ToolCall(call_id=call_id, name=call.name, arguments=arguments))
        elif part.text is not None:
            yield from self._signed(part, "text")
            self._chars += len(part.text)
            if part.text:
                yield TextChunk(part.text)

    def _think(self, part: _Part) -> Iterator[Chunk]:
        if part.text:
            self._thinking.append(part.text)
            yield ReasoningChunk(part.text)
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

    def _signed(self, part: _Part, place: Literal["call", "text"]) -> Iterator[Chunk]:
        if not part.thought_signature:
            return
        payload: JsonObject = {PLACE: place, SIGNATURE: part.thought_signature}
        if place == "text":
            payload[LENGTH] = len(part.text or "")
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

    def _finish(self, reason: _Reason) -> Finish:
        counted = self._usage
        thought = counted.thoughts_token_count or 0
        usage = Usage(
            input_tokens=(counted.prompt_token_count or 0) + (counted.tool_use_prompt_token_count or 0),
            output_tokens=(counted.candidates_token_count or 0) + thought,
            calls=1,
            cached_tokens=counted.cached_content_token_count or 0,
            reasoning_tokens=thought,
        )
        return Finish(reason, usage)
