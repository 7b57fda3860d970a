"""A Post: what one role says to another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn, SupportsIndex, TypeAlias

import msgspec

from roles_runtime.errors import DocumentError, PostSealedError
from roles_runtime.posts.attachment import Attachment, AttachmentType, Json, SealedAttachment
from roles_runtime.posts.ids import create_post_id, reload_id
from roles_runtime.posts.shared import SharedMemoryEntry

RoleName: TypeAlias = str
"""A role's name, which is its address: what stands in ``send_to``."""

USER: RoleName = "User"
"""The user is a mailbox of this name."""

UNKNOWN: RoleName = "Unknown"
"""The recipient of a Post that has none yet."""


class SealedList(tuple[Attachment, ...]):
    """The attachments of a sealed Post: a tuple whose list methods say why they refuse."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise PostSealedError

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse

    def __setitem__(self, key: SupportsIndex | slice, value: object) -> NoReturn:
        raise PostSealedError

    def __delitem__(self, key: SupportsIndex | slice) -> NoReturn:
        raise PostSealedError


_NO_ATTACHMENTS = SealedList()


class Post(msgspec.Struct, gc=False, eq=False):
    """What one role says to another: always a text, and attachments for all that is no text.

    Open until it is delivered; from then on sealed, and whatever changes it raises `PostSealedError`.

    Attributes:
        id: ``post-…``, minted when it is made, ordered by time, kept.
        message: The text.
        send_from: The role that says it.
        send_to: The role it is for; ``User``; the sender itself (a self-send); ``Unknown`` until chosen.
        attachment_list: In the order in which they were added.
    """

    id: str
    message: str
    send_from: RoleName
    send_to: RoleName
    attachment_list: Sequence[Attachment]

    @staticmethod
    def create(
        message: str | None,
        send_from: RoleName,
        send_to: RoleName = UNKNOWN,
        attachment_list: list[Attachment] | None = None,
    ) -> Post:
        """A new, open Post; no message is the empty one."""
        return Post(
            create_post_id(),
            message or "",
            send_from,
            send_to,
            [] if attachment_list is None else attachment_list,
        )

    @property
    def sealed(self) -> bool:
        """Whether it was delivered."""
        return isinstance(self, SealedPost)

    def add_attachment(self, attachment: Attachment) -> None:
        """Appends one.

        Raises:
            PostSealedError: the Post was delivered.
        """
        self.attachment_list.append(attachment)  # type: ignore[attr-defined]

    def get_attachment(self, type: AttachmentType | str) -> list[Attachment]:
        """All attachments of that type, in order."""
        return [attachment for attachment in self.attachment_list if attachment.type == type]

    def del_attachment(self, type_list: Collection[AttachmentType | str]) -> None:
        """Drops all attachments of these types.

        Raises:
            PostSealedError: the Post was delivered.
        """
        self.attachment_list = [each for each in self.attachment_list if each.type not in type_list]

    def to_dict(self) -> dict[str, Json]:
        """Keys id, message, send_from, send_to, attachment_list, in this order."""
        return {
            "id": self.id,
            "message": self.message,
            "send_from": self.send_from,
            "send_to": self.send_to,
            "attachment_list": [attachment.to_dict() for attachment in self.attachment_list],
        }

    @staticmethod
    def from_dict(content: Mapping[str, object], *, keep_id: bool = False) -> Post:
        """Reads one from a document, open, and with a new identity: an example is another Post each time.

        Args:
            content: As `to_dict` gives it; ``attachment_list`` may be null, ``id`` may be missing.
            keep_id: Keep the identity, as a journal does.

        Raises:
            DocumentError: a field is missing or of the wrong type.
        """
        attachments = content.get("attachment_list", msgspec.UNSET)
        if attachments is None:
            attachments = []
        if not isinstance(attachments, list) or not all(isinstance(each, Mapping) for each in attachments):
            raise DocumentError("post", "it needs an 'attachment_list': a list of attachments, or null.")
        message, sender, recipient = (content.get(key) for key in ("message", "send_from", "send_to"))
        if not (message is None or isinstance(message, str)):
            raise DocumentError("post", "'message' must be text.")
        if not isinstance(sender, str) or not isinstance(recipient, str):
            raise DocumentError("post", "it needs a 'send_from' and a 'send_to', both text.")
        given = content.get("id")
        identity = given if keep_id and isinstance(given, str) else "post-" + reload_id()
        return Post(identity, message or "", sender, recipient, [Attachment.from_dict(each) for each in attachments])

    def open_copy(self) -> RecalledPost:
        """A copy of the same identity that may be changed; the router refuses to send it."""
        return RecalledPost(
            self.id, self.message, self.send_from, self.send_to, [_opened(each) for each in self.attachment_list]
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Post):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.send_from} -> {self.send_to}: {self.message}"


class SealedPost(Post, gc=False, eq=False):
    """A delivered Post: it reads as before, and refuses to change."""

    def __setattr__(self, name: str, value: object) -> None:
        raise PostSealedError


class RecalledPost(Post, gc=False, eq=False):
    """An open copy of a delivered Post, as memory hands it out; it is not for sending."""


def seal(post: Post) -> None:
    """Seals a Post and its attachments in place, by their class.

    The mark can not be a field, which would go onto the wire; a class costs an open Post nothing.
    """
    attachments = post.attachment_list
    if attachments:
        for attachment in attachments:
            if type(attachment) is Attachment:  # one that was received may be passed on, sealed as it is
                attachment.__class__ = SealedAttachment
        post.attachment_list = SealedList(attachments)
    else:
        post.attachment_list = _NO_ATTACHMENTS
    post.__class__ = SealedPost


def _opened(attachment: Attachment) -> Attachment:
    extra = attachment.extra
    if not (extra is None or isinstance(extra, SharedMemoryEntry)):
        extra = msgspec.json.decode(msgspec.json.encode(extra))
    return Attachment(attachment.id, attachment.type, attachment.content, extra)
