"""Keeping a prompt under the model's window: what is oldest goes first, a call never without its result."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from roles_runtime.llm.llm_message import (
    LLMAssistantMessage,
    LLMPart,
    LLMSystemMessage,
    LLMToolMessage,
    LLMUserMessage,
    WireMessage,
)
from roles_runtime.llm.parts import TextPart
from roles_runtime.llm.request import LLMRequest

BYTES_PER_TOKEN = 3
"""On the safe side: English has about four bytes of UTF-8 a token, Chinese about three, code and JSON three to four."""

MEDIA_TOKENS = 1600
"""What a picture costs at most with the providers that say so; a sound or a file may cost more."""

ANSWER_SHARE = 8
"""One part in so many of the window is left to the answer, where the request does not bound it."""

OMITTED = "[Earlier messages were left out, since the conversation is longer than can be shown.]"


def kept_under(window: int | None, messages: list[WireMessage], request: LLMRequest, system: str) -> list[WireMessage]:
    """The messages, without the oldest ones where they are more than the window holds.

    What is dropped are whole groups: a message of the model, the results of its calls, and what the user said after it.
    Instructions stay, and so does the last group, however long; a note says that something is missing.

    Args:
        window: The window in tokens; None where nobody knows, and then nothing is dropped.
        messages: Merged, so that a call and its results stand together.
        request: Its tools, its schema and its bound count too.
        system: Instructions beside the messages.
    """
    if window is None:
        return messages
    room = window - (request.max_tokens or window // ANSWER_SHARE) - _overhead(request, system)
    costs = [tokens_of(each) for each in messages]
    total = sum(costs)
    if total <= room:
        return messages
    leading = next((i for i, each in enumerate(messages) if not isinstance(each, LLMSystemMessage)), len(messages))
    start = leading
    for end in _group_ends(messages, leading):
        if total <= room:
            break
        total -= sum(costs[start:end])
        start = end
    if start == leading:
        return messages
    return [*messages[:leading], *_noted(messages[start:])]


def tokens_of(message: WireMessage) -> int:
    """An estimate, rather too high: a call to a tokeniser of the provider's would cost more than it saves."""
    match message:
        case LLMUserMessage(parts):
            return 4 + sum(_part_tokens(each) for each in parts)
        case LLMAssistantMessage(text, calls, reasoning):
            said = _tokens(text) + sum(_tokens(each.name) + _tokens(each.arguments) + 8 for each in calls)
            return 4 + said + sum(_tokens(each.text) for each in reasoning)
        case LLMToolMessage(_, name, text, _, parts):
            return 8 + _tokens(name) + _tokens(text) + MEDIA_TOKENS * len(parts)
        case LLMSystemMessage(text):
            return 4 + _tokens(text)


def _group_ends(messages: Sequence[WireMessage], start: int) -> list[int]:
    """Where a prompt may begin: at each message of the model or the user that follows a whole group."""
    return [
        index
        for index in range(start + 1, len(messages))
        if not isinstance(messages[index], LLMToolMessage) and not isinstance(messages[index], LLMSystemMessage)
    ]


def _noted(rest: list[WireMessage]) -> list[WireMessage]:
    first = rest[0]
    if isinstance(first, LLMUserMessage):
        return [LLMUserMessage((TextPart(text=OMITTED), *first.parts)), *rest[1:]]
    return [LLMUserMessage((TextPart(text=OMITTED),)), *rest]


def _overhead(request: LLMRequest, system: str) -> int:
    tools = len(msgspec.json.encode(request.tools)) if request.tools else 0
    schema = len(msgspec.json.encode(request.response_schema)) if request.response_schema else 0
    return _tokens(system) + (tools + schema) // BYTES_PER_TOKEN


def _part_tokens(part: LLMPart) -> int:
    return _tokens(part.text) if isinstance(part, TextPart) else MEDIA_TOKENS


def _tokens(text: str) -> int:
    return (len(text) if text.isascii() else len(text.encode())) // BYTES_PER_TOKEN + 1
