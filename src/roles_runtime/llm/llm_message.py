"""Between Messages and a provider's format: what every provider has to say somehow, and nothing else.

A Message becomes one or more of these (`BaseMessage.to_llm_request`); an adapter makes the wire's objects of them.
They are made for one request and never stored.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.parts import MediaPart, TextPart

LLMPart: TypeAlias = TextPart | MediaPart


class LLMSystemMessage(msgspec.Struct, frozen=True):
    """Instructions."""

    text: str


class LLMUserMessage(msgspec.Struct, frozen=True):
    """What the model is told, in parts; none of their texts is empty after merging."""

    parts: tuple[LLMPart, ...]


class LLMAssistantMessage(msgspec.Struct, frozen=True):
    """What the model said.

    Attributes:
        text: Its text; may be empty beside calls.
        tool_calls: After merging, each is answered by an `LLMToolMessage` right after, in this order.
        reasoning: What it thought, of whatever origin; an adapter takes what is its own.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()


class LLMToolMessage(msgspec.Struct, frozen=True):
    """The result of one call.

    Attributes:
        parts: Pictures and files beside the text.
    """

    call_id: str
    name: str
    text: str
    is_error: bool = False
    parts: tuple[MediaPart, ...] = ()


class LLMFunctionMessage(msgspec.Struct, frozen=True):
    """The result of a `FunctionCall`, which has no id. Told as the user's text; no provider wants it any more."""

    name: str
    text: str


class LLMTFLMessage(msgspec.Struct, frozen=True):
    """What a console printed. No provider knows a console: merging tells it as the user's text."""

    text: str


LLMMessage: TypeAlias = (
    LLMSystemMessage | LLMUserMessage | LLMAssistantMessage | LLMToolMessage | LLMFunctionMessage | LLMTFLMessage
)

WireMessage: TypeAlias = LLMSystemMessage | LLMUserMessage | LLMAssistantMessage | LLMToolMessage
"""What is left after merging (`assembly.flatten_and_merge`), and all that an adapter sees."""
