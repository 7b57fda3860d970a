"""A typed thing that a Post carries."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from roles_runtime.errors import AttachmentTypeError, DocumentError, PostSealedError
from roles_runtime.posts.ids import create_id
from roles_runtime.posts.shared import SharedMemoryEntry

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

if TYPE_CHECKING:
    Extra: TypeAlias = Json | SharedMemoryEntry
else:
    # msgspec can not tell two kinds of JSON object apart here; the attachment's type does (see `codec`).
    Extra = Any


class AttachmentType(StrEnum):
    """The attachment types of the Planner, the CodeInterpreter and their kin; a role may register more."""

    init_plan = "init_plan"
    plan = "plan"
    current_plan_step = "current_plan_step"
    plan_reasoning = "plan_reasoning"
    stop = "stop"
    thought = "thought"
    reply_type = "reply_type"
    reply_content = "reply_content"
    verification = "verification"
    code_error = "code_error"
    execution_status = "execution_status"
    execution_result = "execution_result"
    artifact_paths = "artifact_paths"
    revise_message = "revise_message"
    function = "function"
    web_exploring_plan = "web_exploring_plan"
    web_exploring_screenshot = "web_exploring_screenshot"
    web_exploring_link = "web_exploring_link"
    invalid_response = "invalid_response"
    text = "text"
    shared_memory_entry = "shared_memory_entry"
    image_url = "image_url"


KNOWN_TYPES: dict[str, str] = {member.value: member for member in AttachmentType}
"""Every type that `Attachment.create` accepts, by name; it only grows."""

DEPRECATED_TYPES = frozenset({"python", "sample"})
"""Names that old documents used; they are refused, since their meaning changed."""


def register_attachment_type(name: str) -> str:
    """Makes ``name`` a type of attachment, for a role that carries something of its own.

    Registering the same name again changes nothing.

    Returns:
        The name, so that a module can write ``CHART = register_attachment_type("chart")``.

    Raises:
        AttachmentTypeError: the name is no lower-case identifier.
    """
    if not name.isidentifier() or name != name.lower() or name in ("message", "send_to", *DEPRECATED_TYPES):
        raise AttachmentTypeError(name, tuple(KNOWN_TYPES))
    return KNOWN_TYPES.setdefault(name, name)


class Attachment(msgspec.Struct, gc=False, eq=False):
    """A typed thing that a Post carries: a plan, code, an execution's result, a path.

    Attributes:
        id: ``atta-…``, kept through every round trip.
        type: An `AttachmentType`, a registered name, or a name that is unknown here and is kept as it came.
        content: Its text.
        extra: JSON, or a `SharedMemoryEntry` for attachments of type ``shared_memory_entry``.
    """

    id: str
    type: str
    content: str
    extra: Extra = None

    @staticmethod
    def create(
        type: AttachmentType | str,
        content: str,
        id: str | None = None,
        extra: Extra = None,
    ) -> Attachment:
        """A new attachment.

        Raises:
            AttachmentTypeError: ``type`` is neither known nor registered.
        """
        known = KNOWN_TYPES.get(type)
        if known is None:
            raise AttachmentTypeError(type, tuple(KNOWN_TYPES))
        return Attachment(id or "atta-" + create_id(), known, content, extra)

    def to_dict(self) -> dict[str, Json]:
        """Keys id, type, content, extra, in this order."""
        extra: Json = {**self.extra.to_dict()} if isinstance(self.extra, SharedMemoryEntry) else self.extra
        return {"id": self.id, "type": str(self.type), "content": self.content, "extra": extra}

    @staticmethod
    def from_dict(content: Mapping[str, object]) -> Attachment:
        """Reads one back; its id is kept if there is one, an unknown type is kept as it is.

        Raises:
            DocumentError: ``type`` or ``content`` is missing or no text, or the type is a deprecated one.
        """
        kind, text = content.get("type"), content.get("content")
        if not isinstance(kind, str) or not isinstance(text, str):
            raise DocumentError("attachment", "it needs a 'type' and a 'content', both text.")
        if kind in DEPRECATED_TYPES:
            raise DocumentError("attachment", f"the type {kind!r} is deprecated; use reply_content or text instead.")
        extra = cast("Extra", content.get("extra"))
        if kind == AttachmentType.shared_memory_entry and isinstance(extra, dict):
            extra = SharedMemoryEntry.from_dict(extra)
        given = content.get("id")
        return Attachment(
            given if isinstance(given, str) else "atta-" + create_id(), KNOWN_TYPES.get(kind, kind), text, extra
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attachment):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.type.upper()}: {self.content}"

    __repr__ = __str__


class SealedAttachment(Attachment, gc=False, eq=False):
    """An attachment of a delivered Post: it reads as before, and refuses to change."""

    def __setattr__(self, name: str, value: object) -> None:
        raise PostSealedError("attachment")
