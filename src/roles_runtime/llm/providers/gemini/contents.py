"""Messages as Gemini has them: contents of user and model, each a list of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from roles_runtime.llm.calls import Reasoning, ToolCall, arguments_of
from roles_runtime.llm.llm_message import (
    LLMAssistantMessage,
    LLMPart,
    LLMSystemMessage,
    LLMToolMessage,
    LLMUserMessage,
    WireMessage,
)
from roles_runtime.llm.parts import JsonObject, TextPart
from roles_runtime.llm.providers.gemini.stream import LENGTH, ORIGIN, OWN_ID, PLACE, SIGNATURE
from roles_runtime.llm.weaving import woven

UNSIGNED = "skip_thought_signature_validator"
"""What the vendor names to stand for a signature that there never was: the call is another model's."""


def contents_of(messages: Sequence[WireMessage], *, signs: bool) -> list[JsonObject]:
    """The contents. All results of one message's calls are one content, and nothing else stands in it.

    Args:
        messages: Merged.
        signs: Whether calls of the current turn, which is what follows the user's last words, need a signature.
    """
    turn = max((i for i, each in enumerate(messages) if isinstance(each, LLMUserMessage)), default=-1)
    contents: list[JsonObject] = []
    parts: list[JsonValue] = []
    speaker: type[WireMessage] | None = None
    for place, message in enumerate(messages):
        # What the user says beside results is a content of its own; instructions inside are the user's to tell.
        kind = LLMUserMessage if isinstance(message, LLMSystemMessage) else type(message)
        if kind is not speaker:
            parts, speaker = [], kind
            contents.append({"role": "model" if kind is LLMAssistantMessage else "user", "parts": parts})
        parts.extend(_parts(message, signs=signs and place > turn))
    return contents


def _parts(message: WireMessage, *, signs: bool) -> Iterator[JsonObject]:
    match message:
        case LLMUserMessage(parts):
            yield from map(_part, parts)
        case LLMSystemMessage(text):
            yield {"text": text}
        case LLMToolMessage():
            yield _result(message)
        case LLMAssistantMessage():
            said = list(_said(message))
            if signs:
                _sign(said)
            yield from said


def _said(message: LLMAssistantMessage) -> Iterator[JsonObject]:
    ours = [each for each in message.reasoning if each.origin == ORIGIN and PLACE in each.payload]
    signature: JsonObject = {}
    for strand in woven(message.text, message.tool_calls, ours, map(_end, ours)):
        match strand:
            case Reasoning(payload={"place": "thought"} as payload):
                if strand.text or SIGNATURE in payload:
                    yield {"text": strand.text, "thought": True, **_signature(payload)}
            case Reasoning(payload=payload):
                if payload.get(LENGTH) == 0:
                    # It came alone, behind the text it is of.
                    yield {"text": "", **_signature(payload)}
                else:
                    signature = _signature(payload)
            case ToolCall():
                yield {"functionCall": _call(strand), **signature}
                signature = {}
            case str():
                if strand.strip() or signature:
                    yield {"text": strand, **signature}
                signature = {}


def _end(thought: Reasoning) -> int:
    length = thought.payload.get(LENGTH)
    return thought.after_chars + (length if isinstance(length, int) else 0)


def _signature(payload: JsonObject) -> JsonObject:
    return {SIGNATURE: payload[SIGNATURE]} if SIGNATURE in payload else {}


def _sign(parts: list[JsonObject]) -> None:
    """Lets the first call of a step pass that another provider's model made."""
    first = next((each for each in parts if "functionCall" in each), None)
    if first is not None and SIGNATURE not in first:
        first[SIGNATURE] = UNSIGNED


def _call(call: ToolCall) -> JsonObject:
    return {**_id(call.call_id), "name": call.name, "args": arguments_of(call)}


def _result(message: LLMToolMessage) -> JsonObject:
    response: JsonObject = {"error" if message.is_error else "output": message.text}
    result: JsonObject = {**_id(message.call_id), "name": message.name, "response": response}
    if message.parts:
        result["parts"] = [_part(each) for each in message.parts]
    return {"functionResponse": result}


def _id(call_id: str) -> JsonObject:
    return {} if call_id.startswith(OWN_ID) else {"id": call_id}


def _part(part: LLMPart) -> JsonObject:
    if isinstance(part, TextPart):
        return {"text": part.text}
    media = part.media
    if media.url is not None:
        return {"fileData": {"mimeType": media.mime, "fileUri": media.url}}
    return {"inlineData": {"mimeType": media.mime, "data": media.base64}}
