"""What all messages have, and the contract by which each becomes what a model is told."""

from __future__ import annotations

import time
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from roles_runtime.errors import MessageError
from roles_runtime.llm.calls import ConsoleResult, FunctionCall, ToolCall, ToolReturn
from roles_runtime.llm.llm_message import (
    LLMFunctionMessage,
    LLMMessage,
    LLMPart,
    LLMSystemMessage,
    LLMTFLMessage,
    LLMToolMessage,
    LLMUserMessage,
)
from roles_runtime.llm.parts import CleanObject, Text
from roles_runtime.posts.ids import create_id

MessageRole: TypeAlias = Literal["system", "user", "assistant", "function", "tool", "console"]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _message_id() -> str:
    return "msg-" + create_id()


class BaseMessage(BaseModel):
    """What all messages have. A value: it never changes (`model_copy(update=...)` gives another one).

    Fields that this version does not know are kept and written again, so that an older reader loses nothing.

    Attributes:
        role: Who speaks.
        msg_type: Which kind of message of that role it is; with it a reader finds the class.
        content: What is said; a subclass says of which type.
        tool_calls: What a model wishes to have called.
        tool_reses: What came of calls, in their order.
        function_call, function_res: The form before tool calls, as old records hold it.
        console_reses: What came of cells.
        tfl_scripts: Scripts of a DSL that a model wrote: carried and stored, not run here.
        additional_kwargs: Free JSON of the application.
        creator: The name of the role or user who wrote it; empty where nobody of the team did.
        group: The group it was said in, or empty.
        msg_id: Its identity; a Post's id where it stands for a Post.
        conversation_id: Its session's, or empty.
        create_ts: When it was made, in milliseconds.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    # The default of a Literal in a subclass; a class without one can be told apart by nothing.
    msg_type: str = ""

    role: MessageRole
    content: object = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_reses: tuple[ToolReturn, ...] = ()
    function_call: FunctionCall | None = None
    function_res: Text | None = None
    console_reses: tuple[ConsoleResult, ...] = ()
    tfl_scripts: tuple[Text, ...] = ()
    additional_kwargs: CleanObject = Field(default_factory=dict)
    creator: Text = ""
    group: Text = ""
    msg_id: str = Field(default_factory=_message_id)
    conversation_id: str = ""
    create_ts: int = Field(default_factory=_now_ms)

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """What a model is told by this message, in order, whatever the provider.

        A message of a user or an assistant must say it itself: only its class knows what its content means, and a
        guess would drop what a model must not miss, tool calls first of all.

        Raises:
            MessageError: this class is of a user or an assistant and does not say it.
        """
        match self.role:
            case "system":
                return (LLMSystemMessage(self.text),)
            case "tool":
                return tuple(
                    LLMToolMessage(each.call_id, each.name, each.result, each.is_error, each.attachments)
                    for each in self.tool_reses
                )
            case "console":
                return self._console()
            case "function":
                name = "" if self.function_call is None else self.function_call.name
                return (LLMFunctionMessage(name, self.text if self.function_res is None else self.function_res),)
        raise MessageError(
            f"{type(self).__name__} of role {self.role!r} does not say what a model is told by it; load it as Message "
            "(never as BaseMessage), or give its class a to_llm_request()."
        )

    @property
    def text(self) -> str:
        """The content, where it is a text; else empty."""
        return self.content if isinstance(self.content, str) else ""

    def _console(self) -> tuple[LLMMessage, ...]:
        if not self.console_reses:
            return (LLMTFLMessage(self.text),)
        told: list[LLMMessage] = []
        for each in self.console_reses:
            told.append(LLMTFLMessage(each.result))
            shown: tuple[LLMPart, ...] = tuple(part for part in each.attachments if not isinstance(part, str))
            if shown:
                told.append(LLMUserMessage(shown))
        return tuple(told)
