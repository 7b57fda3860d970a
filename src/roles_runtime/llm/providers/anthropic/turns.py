"""Messages as Anthropic has them: turns of user and assistant, each a list of blocks."""

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
from roles_runtime.llm.parts import FilePart, JsonObject, TextPart
from roles_runtime.llm.providers.anthropic.stream import ORIGIN
from roles_runtime.llm.weaving import woven


def turns_of(messages: Sequence[WireMessage]) -> list[JsonObject]:
    """The turns. Results of calls stand first in the turn after them, and what the user says in the same turn."""
    turns: list[JsonObject] = []
    blocks: list[JsonValue] = []
    speaker = ""
    for place, message in enumerate(messages):
        if isinstance(message, LLMSystemMessage) and _stands_free(messages, place):
            turns.append({"role": "system", "content": message.text})
            speaker = "system"
            continue
        role = "assistant" if isinstance(message, LLMAssistantMessage) else "user"
        if role != speaker:
            blocks, speaker = [], role
            turns.append({"role": role, "content": blocks})
        blocks.extend(_blocks(message))
    return turns


def _stands_free(messages: Sequence[WireMessage], place: int) -> bool:
    """Whether instructions stand where they may: after the user, and before the model or at the end."""
    after = messages[place + 1 :][:1]
    return (
        place > 0
        and isinstance(messages[place - 1], LLMUserMessage)
        and not any(isinstance(each, LLMUserMessage) for each in after)
    )


def _blocks(message: WireMessage) -> Iterator[JsonObject]:
    match message:
        case LLMUserMessage(parts):
            yield from map(_block, parts)
        case LLMToolMessage():
            yield _result(message)
        case LLMAssistantMessage():
            yield from _said(message)
        case LLMSystemMessage(text):
            yield {"type": "text", "text": f"<system>\n{text}\n</system>"}


def _said(message: LLMAssistantMessage) -> Iterator[JsonObject]:
    ours = (each for each in message.reasoning if _is_ours(each))
    for strand in woven(message.text, message.tool_calls, ours):
        match strand:
            case str():
                # A block of blanks is refused.
                if strand.strip():
                    yield {"type": "text", "text": strand}
            case Reasoning():
                yield dict(strand.payload)
            case ToolCall():
                yield {"type": "tool_use", "id": strand.call_id, "name": strand.name, "input": arguments_of(strand)}


def _is_ours(thought: Reasoning) -> bool:
    """Whether Anthropic signed it; what it did not sign it refuses."""
    if thought.origin != ORIGIN:
        return False
    match thought.payload:
        case {"type": "thinking", "thinking": str(), "signature": str(signature)}:
            return bool(signature)
        case {"type": "redacted_thinking", "data": str(data)}:
            return bool(data)
    return False


def _result(message: LLMToolMessage) -> JsonObject:
    result: JsonObject = {"type": "tool_result", "tool_use_id": message.call_id}
    said = message.text.strip()
    if message.parts:
        shown: list[JsonValue] = [{"type": "text", "text": message.text}] if said else []
        result["content"] = [*shown, *map(_block, message.parts)]
    elif said:
        result["content"] = message.text
    if message.is_error:
        result["is_error"] = True
    return result


def _block(part: LLMPart) -> JsonObject:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    media = part.media
    source: JsonObject = (
        {"type": "url", "url": media.url}
        if media.url is not None
        else {"type": "base64", "media_type": media.mime, "data": media.base64}
    )
    if not isinstance(part, FilePart):
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, **({"title": media.name} if media.name else {})}
