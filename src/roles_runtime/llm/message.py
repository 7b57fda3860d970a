"""What a role and its model say to each other: one typed family, whatever the provider."""

from __future__ import annotations

import time
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag

from roles_runtime.posts.ids import create_id


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _message_id() -> str:
    return "msg-" + create_id()


def mend_surrogates(text: str) -> str:
    """The text with halves of surrogate pairs joined, and lone ones replaced by U+FFFD.

    A stream that was cut, or a tool, may leave some; JSON and UTF-8 have no place for them.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


Text: TypeAlias = Annotated[str, AfterValidator(mend_surrogates)]
"""Text that can be written down."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Frozen):
    """A model's wish to have a tool called.

    Attributes:
        call_id: Given by the provider; its result names it.
        name: The tool's name.
        arguments: JSON text of an object, as the model wrote it: unchecked.
    """

    call_id: str
    name: str
    arguments: Text


class ToolReturn(_Frozen):
    """What came of a `ToolCall`.

    Attributes:
        call_id, name: Of the call.
        result: Text for the model.
        is_error: Whether the tool failed; the result says how.
    """

    call_id: str
    name: str
    result: Text
    is_error: bool = False


class ConsoleResult(_Frozen):
    """What came of a cell.

    Attributes:
        result: The whole text.
        summary_result: The form without temporal parts, for later rounds.
        attachments: Paths of files that it made.
    """

    result: Text
    summary_result: Text = ""
    attachments: tuple[str, ...] = ()


class BaseMessage(_Frozen):
    """What all messages have.

    Attributes:
        role: Who speaks.
        content: The text.
        creator: The name of the role or user who wrote it, or empty.
        msg_id: Its identity; a Post's id where it stands for a Post.
        create_ts: When it was made, in milliseconds.
    """

    role: Literal["system", "user", "assistant", "tool", "console"]
    content: Text = ""
    creator: str = ""
    msg_id: str = Field(default_factory=_message_id)
    create_ts: int = Field(default_factory=_now_ms)


class SystemMessage(BaseMessage):
    """Instructions."""

    role: Literal["system"] = "system"
    msg_type: Literal["text"] = "text"


class TextMessage(BaseMessage):
    """Text from the user's side of the conversation: a user, or another role."""

    role: Literal["user"] = "user"
    msg_type: Literal["text"] = "text"


class AssistantTextMessage(BaseMessage):
    """What the model wrote.

    Attributes:
        reasoning: What it thought before, where the provider tells.
        tool_calls: What it wishes to have called.
    """

    role: Literal["assistant"] = "assistant"
    msg_type: Literal["text"] = "text"
    reasoning: Text = ""
    tool_calls: tuple[ToolCall, ...] = ()


class ToolMessage(BaseMessage):
    """Results of tool calls, in the order of the calls."""

    role: Literal["tool"] = "tool"
    msg_type: Literal["returns"] = "returns"
    tool_reses: tuple[ToolReturn, ...] = ()


class ConsoleMessage(BaseMessage):
    """Results of cells."""

    role: Literal["console"] = "console"
    msg_type: Literal["results"] = "results"
    console_reses: tuple[ConsoleResult, ...] = ()


def _discriminate(value: object) -> str:
    if isinstance(value, dict):
        return f"{value.get('role')}:{value.get('msg_type')}"
    return f"{getattr(value, 'role', None)}:{getattr(value, 'msg_type', None)}"


Message: TypeAlias = Annotated[
    Annotated[SystemMessage, Tag("system:text")]
    | Annotated[TextMessage, Tag("user:text")]
    | Annotated[AssistantTextMessage, Tag("assistant:text")]
    | Annotated[ToolMessage, Tag("tool:returns")]
    | Annotated[ConsoleMessage, Tag("console:results")],
    Discriminator(_discriminate),
]
"""Every message there is, told apart by ``role:msg_type``."""

JsonObject: TypeAlias = dict[str, JsonValue]
"""A JSON object; a JSON Schema is one."""
