"""What a role and its model say to each other: one typed family, whatever the provider.

`Message` is the union of them all. A field that crosses JSON is a ``list[Message]`` or a ``tuple[Message, ...]``, never
one of `BaseMessage`, which would forget the classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Discriminator, SerializerFunctionWrapHandler, Tag, model_serializer

from roles_runtime.llm.base_message import BaseMessage
from roles_runtime.llm.calls import Reasoning
from roles_runtime.llm.discriminator import OTHER, Others, discriminator
from roles_runtime.llm.llm_message import LLMAssistantMessage, LLMMessage, LLMPart, LLMUserMessage
from roles_runtime.llm.parts import (
    AudioPart,
    Contact,
    FilePart,
    Frozen,
    ImagePart,
    JsonObject,
    Link,
    MessagePart,
    Text,
    TextPart,
    VideoPart,
)


class SystemMessage(BaseMessage):
    """Instructions."""

    role: Literal["system"] = "system"
    msg_type: Literal["text"] = "text"
    content: Text = ""


class ToolMessage(BaseMessage):
    """Results of tool calls, in the order of the calls."""

    role: Literal["tool"] = "tool"
    msg_type: Literal["returns"] = "returns"
    content: Text = ""


class ConsoleMessage(BaseMessage):
    """Results of cells."""

    role: Literal["console"] = "console"
    msg_type: Literal["results"] = "results"
    content: Text = ""


class FunctionMessage(BaseMessage):
    """The result of a function call, as old records hold it."""

    role: Literal["function"] = "function"
    msg_type: Literal["result"] = "result"
    content: Text = ""


def _reasonings(value: object) -> object:
    """The text that older records hold, as the one piece that it is."""
    if isinstance(value, str):
        return (Reasoning(text=value),) if value else ()
    return value


class AssistantTextMessage(BaseMessage):
    """What the model wrote.

    Attributes:
        reasoning: What it thought, in pieces that know their place and whose they are.
    """

    role: Literal["assistant"] = "assistant"
    msg_type: Literal["text"] = "text"
    content: Text = ""
    reasoning: Annotated[tuple[Reasoning, ...], BeforeValidator(_reasonings)] = ()

    @property
    def reasoning_content(self) -> str:
        """What can be read of its thoughts."""
        return "".join(each.text for each in self.reasoning)

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """Its text, calls and thoughts."""
        return (LLMAssistantMessage(self.content, self.tool_calls, self.reasoning),)


class UserMessage(BaseMessage):
    """What the model is told by a user, or by another role. The base of the family.

    Attributes:
        intermediate_trace: What the turn that answered it thought, called and got back.
    """

    role: Literal["user"] = "user"
    intermediate_trace: IntermediateTrace | None = None


class TextMessage(UserMessage):
    """Text."""

    msg_type: Literal["text"] = "text"
    content: Text = ""

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """The text."""
        return (LLMUserMessage((TextPart(text=self.content),)),)


class ImageMessage(UserMessage):
    """A picture."""

    msg_type: Literal["image"] = "image"
    content: ImagePart

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """The picture."""
        return (LLMUserMessage((self.content,)),)


class AudioMessage(UserMessage):
    """A sound."""

    msg_type: Literal["audio"] = "audio"
    content: AudioPart

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """The sound."""
        return (LLMUserMessage((self.content,)),)


class VideoMessage(UserMessage):
    """A film."""

    msg_type: Literal["video"] = "video"
    content: VideoPart

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """The film."""
        return (LLMUserMessage((self.content,)),)


class AttachmentMessage(UserMessage):
    """A file."""

    msg_type: Literal["attachment"] = "attachment"
    content: FilePart

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """The file."""
        return (LLMUserMessage((self.content,)),)


class ContactMessage(UserMessage):
    """Somebody's address."""

    msg_type: Literal["contact"] = "contact"
    content: Contact

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """What the address book says, a line each."""
        lines = (f"{name}: {value}" for name, value in self.content.model_dump().items() if value)
        return (LLMUserMessage((TextPart(text="Contact\n" + "\n".join(lines)),)),)


class UrlMessage(UserMessage):
    """A link."""

    msg_type: Literal["url"] = "url"
    content: Link

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """The link and what it is about."""
        lines = (self.content.title, self.content.url, self.content.detail)
        return (LLMUserMessage((TextPart(text="\n".join(filter(None, lines))),)),)


class MultiPartMessage(UserMessage):
    """Several parts, in order."""

    msg_type: Literal["multi_part"] = "multi_part"
    content: tuple[MessagePart, ...]

    @property
    def text(self) -> str:
        """The text parts, a line each."""
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """The parts."""
        return (LLMUserMessage(self.content),)


class HistoryMessage(UserMessage):
    """Messages of another conversation, handed on to read: whoever spoke in them, they are the user's to tell."""

    msg_type: Literal["history"] = "history"
    content: tuple[Message, ...]

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """A transcript, each message with its speaker; pictures and files stay in their place."""
        parts: list[LLMPart] = []
        for each in self.content:
            parts.extend(_quoted(each.creator or each.role, each.to_llm_request()))
        return (LLMUserMessage(tuple(parts)),)


class UnknownMessage(BaseMessage):
    """A message of a kind that this version does not know: kept with all its data, and written again as it came."""

    role: str  # type: ignore[assignment]  # also a role that is unknown here
    content: object = ""
    # What it came without it has not, so that two readings of one record are equal.
    msg_id: str = ""
    create_ts: int = 0

    @model_serializer(mode="wrap")
    def _as_it_came(self, handler: SerializerFunctionWrapHandler) -> JsonObject:
        written: JsonObject = handler(self)
        known = type(self).model_fields
        return {name: value for name, value in written.items() if name not in known or name in self.model_fields_set}

    def to_llm_request(self) -> tuple[LLMMessage, ...]:
        """Its text, where it has one; else the words that there was something."""
        told = self.text or f"[a {self.role} message of type {self.msg_type!r}, which can not be shown here]"
        if self.role == "assistant":
            return (LLMAssistantMessage(told, self.tool_calls),)
        return (LLMUserMessage((TextPart(text=told),)),)


class IntermediateTrace(Frozen):
    """What happened between a message and its answer: thoughts, calls and their results, in order.

    Attributes:
        records: The messages. Those that are older than the message they hang on stand before it, the others after.
        dropped: How many were left out since a trace has a bound.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    records: tuple[Message, ...] = ()
    dropped: int = 0


BUILT_IN: tuple[type[BaseMessage], ...] = (
    SystemMessage,
    ToolMessage,
    ConsoleMessage,
    FunctionMessage,
    AssistantTextMessage,
    TextMessage,
    ImageMessage,
    AudioMessage,
    VideoMessage,
    AttachmentMessage,
    ContactMessage,
    UrlMessage,
    MultiPartMessage,
    HistoryMessage,
)
"""The classes of the union, `UnknownMessage` and registered ones beside."""

Message: TypeAlias = Annotated[
    Annotated[SystemMessage, Tag("system:text")]
    | Annotated[ToolMessage, Tag("tool:returns")]
    | Annotated[ConsoleMessage, Tag("console:results")]
    | Annotated[FunctionMessage, Tag("function:result")]
    | Annotated[AssistantTextMessage, Tag("assistant:text")]
    | Annotated[TextMessage, Tag("user:text")]
    | Annotated[ImageMessage, Tag("user:image")]
    | Annotated[AudioMessage, Tag("user:audio")]
    | Annotated[VideoMessage, Tag("user:video")]
    | Annotated[AttachmentMessage, Tag("user:attachment")]
    | Annotated[ContactMessage, Tag("user:contact")]
    | Annotated[UrlMessage, Tag("user:url")]
    | Annotated[MultiPartMessage, Tag("user:multi_part")]
    | Annotated[HistoryMessage, Tag("user:history")]
    | Annotated[Annotated[UnknownMessage, Others(UnknownMessage)], Tag(OTHER)],
    Discriminator(
        discriminator(
            frozenset(
                f"{each.model_fields['role'].default}:{each.model_fields['msg_type'].default}" for each in BUILT_IN
            )
        )
    ),
]
"""Every message there is, told apart by ``role:msg_type``."""


def _quoted(speaker: str, told: Iterable[LLMMessage]) -> Iterable[LLMPart]:
    for each in told:
        if isinstance(each, LLMUserMessage):
            for part in each.parts:
                yield TextPart(text=f"{speaker}: {part.text}\n") if isinstance(part, TextPart) else part
        elif each.text:
            yield TextPart(text=f"{speaker}: {each.text}\n")
        if isinstance(each, LLMAssistantMessage):
            for call in each.tool_calls:
                yield TextPart(text=f"{speaker} called {call.name}({call.arguments})\n")


UserMessage.model_rebuild()
for _each in BUILT_IN:
    _each.model_rebuild()
