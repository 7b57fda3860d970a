"""Reads a stream of OpenAI's Responses wire."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from roles_runtime.errors import ModelError
from roles_runtime.llm.call_gathering import CallGatherer
from roles_runtime.llm.calls import Reasoning
from roles_runtime.llm.complaint import Complaint, complaint_of
from roles_runtime.llm.decoding import decoded, text_of, tokens
from roles_runtime.llm.events import Events, Halves, format_of
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject


class _Content(msgspec.Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    call_id: str | int | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[_Content] | None = None
    summary: list[_Content] | None = None
    encrypted_content: str | None = None


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _Response(msgspec.Struct):
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: object = None
    error: Complaint | str | None = None
    incomplete_details: _Incomplete | None = None


def _told(usage: object) -> Usage:
    return Usage(
        input_tokens=tokens(usage, "input_tokens"),
        output_tokens=tokens(usage, "output_tokens"),
        calls=1,
        cached_tokens=tokens(usage, "input_tokens_details", "cached_tokens"),
        reasoning_tokens=tokens(usage, "output_tokens_details", "reasoning_tokens"),
    )


_TAKEN_BACK = ("type", "id", "summary", "content", "encrypted_content", "status")
"""The fields of a thought that may be sent; the vendor's own type has no other."""

_NULL = msgspec.Raw(b"null")


class _Event(msgspec.Struct):
    """An event. What is large and seldom looked at (the response is echoed whole at the beginning) stays raw."""

    type: str = ""
    delta: object = None
    arguments: str | None = None
    output_index: int | str | None = None
    summary_index: int | None = None
    item: msgspec.Raw = _NULL
    response: msgspec.Raw = _NULL
    error: Complaint | str | None = None
    message: object = None
    code: object = None


_DECODER = msgspec.json.Decoder(_Event)
_ITEM = msgspec.json.Decoder(_Item | None)
_OBJECT: msgspec.json.Decoder[JsonObject] = msgspec.json.Decoder(dict)
_RESPONSE = msgspec.json.Decoder(_Response | None)


class ResponsesReader:
    """Reads one answer; ``response.completed``, ``.incomplete``, ``.failed``, ``.cancelled`` and ``error`` end it."""

    def __init__(self, name: str, origin: str) -> None:
        """Takes the model's name, for errors, and whose the thoughts are."""
        self._name, self._origin = name, origin
        self._events = Events(name, _DECODER)
        self._calls = CallGatherer()
        self._halves = Halves()
        self._chars = 0
        self._spoken: set[int | str | None] = set()
        self._has_refused = False

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """See `StreamReader`."""
        with format_of(self._name):
            for event in self._events.feed(data):
                if event is not None:
                    yield from self._read(event)

    def close(self) -> Iterator[Chunk]:
        """See `StreamReader`."""
        raise self._events.ended()

    def _read(self, event: _Event) -> Iterator[Chunk]:
        delta = event.delta if isinstance(event.delta, str) else ""
        match event.type:
            case "response.output_text.delta":
                yield from self._said(event.output_index, delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield from self._mused(delta)
            case "response.function_call_arguments.delta":
                self._calls.add(index=event.output_index, arguments=delta)
            case "response.output_item.added":
                self._begun(event.output_index, decoded(_ITEM, event.item) or _Item())
            case "response.output_item.done":
                yield from self._done(event.output_index, event.item)
            case "response.refusal.delta":
                self._has_refused = True
                yield from self._said(event.output_index, delta)
            case "response.reasoning_summary_part.added" if event.summary_index:
                yield ReasoningChunk("\n\n")
            case "response.function_call_arguments.done" if event.arguments:
                self._calls.replace_arguments(event.arguments, index=event.output_index)
            case "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled":
                yield from self._ended(event)
            case _ if event.type == "error" or event.error is not None:
                raise self._complaint(event)

    def _said(self, index: int | str | None, text: str) -> Iterator[Chunk]:
        self._spoken.add(index)
        text = self._halves.join(text)
        if text:
            self._chars += len(text)
            yield TextChunk(text)

    def _mused(self, text: str) -> Iterator[Chunk]:
        text = self._halves.join(text)
        if text:
            yield ReasoningChunk(text)

    def _begun(self, index: int | str | None, item: _Item) -> None:
        if item.type == "function_call":
            self._calls.add(
                index=index, call_id=text_of(item.call_id), name=item.name or "", arguments=item.arguments or ""
            )

    def _done(self, index: int | str | None, raw: msgspec.Raw) -> Iterator[Chunk]:
        item = decoded(_ITEM, raw) or _Item()
        if item.type == "function_call":
            call_id, name = text_of(item.call_id), item.name or ""
            self._calls.add(index=index, call_id=call_id, name=name)
            if item.arguments:
                self._calls.replace_arguments(item.arguments, index=index, call_id=call_id)
        elif item.type == "reasoning":
            yield ReasoningDone(self._thought(item, raw))
        elif item.type == "message" and index not in self._spoken:
            # A server that gives a message at once, without growing it.
            self._has_refused |= any(each.refusal for each in item.content or ())
            yield from self._said(index, "".join(each.text or each.refusal or "" for each in item.content or ()))

    def _thought(self, item: _Item, raw: msgspec.Raw) -> Reasoning:
        """The item as it came; without its encrypted content it could not be given back, for nothing is stored."""
        parts = [*(item.summary or ()), *(item.content or ())]
        payload: JsonObject = {}
        if item.encrypted_content:
            whole: JsonObject = decoded(_OBJECT, raw)
            payload = {"summary": [], **{key: whole[key] for key in _TAKEN_BACK if whole.get(key) is not None}}
        return Reasoning(
            text="\n\n".join(each.text for each in parts if each.text),
            origin=self._origin if payload else "",
            payload=payload,
            after_chars=self._chars,
            after_calls=len(self._calls),
        )

    def _ended(self, event: _Event) -> Iterator[Chunk]:
        response = decoded(_RESPONSE, event.response) or _Response()
        if event.type in ("response.failed", "response.cancelled"):
            how = event.type.removeprefix("response.")
            error = complaint_of(response.error or Complaint(f"the answer was {how}", code="server_error"))
            raise error.fault(self._name)
        if not len(self._calls):
            for raw in response.output or ():
                item = decoded(_ITEM, raw) or _Item()
                if item.type == "function_call":
                    self._calls.add_whole(
                        call_id=text_of(item.call_id), name=item.name or "", arguments=item.arguments or ""
                    )
        yield from self._said(None, self._halves.rest())
        calls = self._calls.calls()
        for call in calls:
            yield ToolCallChunk(call)
        usage = _told(response.usage)
        yield self._finish(event.type, response, usage, has_calls=bool(calls))

    def _finish(self, kind: str, response: _Response, usage: Usage, *, has_calls: bool) -> Finish:
        reason = response.incomplete_details.reason if response.incomplete_details is not None else None
        if self._has_refused or reason == "content_filter":
            return Finish("refusal", usage)
        if kind == "response.incomplete" or response.status == "incomplete":
            return Finish("length", usage)
        return Finish("tool_calls" if has_calls else "stop", usage)

    def _complaint(self, event: _Event) -> ModelError:
        if event.error is not None:
            return complaint_of(event.error).fault(self._name)
        return Complaint(event.message, None, event.code).fault(self._name)
