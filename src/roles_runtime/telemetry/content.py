"""What was said, as attributes: metadata always, content where it is wished for, never more than a span can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.message import Message
from roles_runtime.llm.parts import mend_surrogates
from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.delimiters import remove_all_delimiters
from roles_runtime.posts.post import Post
from roles_runtime.runtime.logs import get_logger
from roles_runtime.telemetry.redaction import mask

log = get_logger(__name__)

MAX_ITEM_CHARS = 4 * 1024
"""How much of one item's content stands in an attribute."""

MAX_CHARS = 16 * 1024
"""How much content an attribute has, all items together."""

MAX_NAME_CHARS = 100
"""How much of a name that a model wrote is told."""

MAX_ITEMS = 64
"""How many attachments, or messages, an attribute names."""

UNTOLD = "[not told: its redaction failed]"

PART_CHARS = 100
"""What a part of a message takes beside its content, near enough: its type, an id, a name."""

_SLACK = 1024
"""How much beyond the cut is looked at, so that a secret which the cut would halve is known."""

Redact: TypeAlias = Callable[[str], str]
"""Takes the secrets out of a text."""


class _Item(msgspec.Struct, omit_defaults=True):
    id: str
    type: str
    bytes: int
    content: str | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET


class _Part(msgspec.Struct, omit_defaults=True):
    type: str
    content: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    arguments: str | UnsetType = UNSET
    response: str | UnsetType = UNSET


class _Said(msgspec.Struct, omit_defaults=True):
    role: str
    parts: list[_Part]
    finish_reason: str | UnsetType = UNSET


class Content:
    """Makes attributes of what was said. JSON stays whole, whatever is cut: it is cut item by item.

    Attributes:
        is_on: Whether content is told, and not only what there was.
    """

    def __init__(self, is_on: bool, redact: Redact = mask) -> None:
        """Takes whether content is wished for, and what masks it."""
        self.is_on = is_on
        self._own = redact

    def _redact(self, text: str) -> str:
        try:
            return str(self._own(text))
        except Exception as error:  # it may be anybody's, and a turn does not hang on what is told of it
            log.warning("a redaction failed; the text is not told", problem=repr(type(error)))
            return UNTOLD

    def text(self, text: str, limit: int = MAX_CHARS) -> str:
        """A text, masked; one that is longer is cut, and says so."""
        shown = self._redact(mend_surrogates(text[: limit + _SLACK]))
        if len(text) <= limit and len(shown) <= limit:
            return shown
        return f"{shown[:limit]}… [{len(text):,} characters]"

    def name(self, name: str) -> str:
        """A name that a model may have written: of no more than a line, masked."""
        return self._redact(mend_surrogates(" ".join(name[:MAX_NAME_CHARS].split())))

    def attachments(self, posts: Iterable[Post]) -> str:
        """``[{id, type, bytes, content?, truncated?}]`` as JSON."""
        left, items = MAX_CHARS, list[_Item]()
        for attachment in (each for post in posts for each in post.attachment_list):
            if len(items) == MAX_ITEMS:
                items.append(_Item("", "…", 0, truncated=True))
                break
            item = _Item(attachment.id, str(attachment.type), size_bytes(attachment))
            if self.is_on:
                limit = min(MAX_ITEM_CHARS, left)
                item.content = self.text(attachment.content, limit)
                left -= min(limit, len(attachment.content))
                if len(attachment.content) > limit:
                    item.truncated = True
            items.append(item)
        return msgspec.json.encode(items).decode()

    def messages(self, messages: Sequence[Message]) -> str:
        """``[{role, parts: [{type, content}]}]`` as JSON, by the GenAI conventions: the last ones, as many as fit."""
        room, told = _Room(), list[_Said]()
        for message in reversed(messages[-MAX_ITEMS:]):
            if room.chars <= 0:
                break
            told.append(_Said(message.role, list(self._parts(message, room))))
        told.reverse()
        return msgspec.json.encode(told).decode()

    def instructions(self, messages: Sequence[Message]) -> str:
        """``[{type, content}]`` as JSON: the system messages."""
        room = _Room()
        return msgspec.json.encode([_Part("text", self._cut(each.text, room)) for each in messages]).decode()

    def answer(self, message: Message, finish_reason: str) -> str:
        """``[{role, parts, finish_reason}]`` as JSON: what a model answered."""
        said = _Said(message.role, list(self._parts(message, _Room())), finish_reason)
        return msgspec.json.encode([said]).decode()

    def spoken(self, texts: Sequence[str]) -> str:
        """What Posts say, one after the other, without the marks that stand in them for later prompts."""
        return self.text("\n\n".join(map(remove_all_delimiters, texts)))

    def _parts(self, message: Message, room: _Room) -> Iterator[_Part]:
        if message.text:
            yield _Part("text", self._cut(message.text, room))
        carried: tuple[ToolCall | ToolReturn, ...] = (*message.tool_calls, *message.tool_reses)
        for part in carried:
            if room.chars <= 0:
                yield _Part("…")
                return
            if isinstance(part, ToolCall):
                yield _Part("tool_call", id=part.call_id, name=part.name, arguments=self._cut(part.arguments, room))
            else:
                yield _Part("tool_call_response", id=part.call_id, response=self._cut(part.result, room))

    def _cut(self, text: str, room: _Room) -> str:
        shown = self.text(text, min(MAX_ITEM_CHARS, max(room.chars, 0)))
        room.chars -= len(shown) + PART_CHARS
        return shown


class _Room:
    """How much content an attribute still has room for."""

    def __init__(self) -> None:
        self.chars = MAX_CHARS


def size_bytes(attachment: Attachment) -> int:
    """The size of an attachment's content in UTF-8."""
    content = attachment.content
    return len(content) if content.isascii() else len(content.encode("utf-8", "surrogatepass"))
