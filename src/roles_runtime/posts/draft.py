"""The Post that is being written: it grows piece by piece, and tells its listeners."""

from __future__ import annotations

from collections.abc import Callable

from roles_runtime.posts.attachment import Attachment, AttachmentType, Json
from roles_runtime.posts.event import AttachmentGrew, MessageGrew, PassingEvent, PostWithdrawn, StatusChanged
from roles_runtime.posts.post import UNKNOWN, Post, RoleName
from roles_runtime.posts.shared import SharedMemoryEntry

Emit = Callable[[PassingEvent], None]
"""Hands a passing event to whoever listens; it never blocks and never raises."""


class Draft:
    """A growing Post. The translator fills it; `post` is what came of it.

    Attributes:
        complete: Whether every value in it was seen to its end; what was cut off is never acted upon.
        reasoning: What the model thought before its answer (a ``<think>`` block); it reaches no other role.
    """

    def __init__(self, round_id: str, role: RoleName, emit: Emit, send_to: RoleName = UNKNOWN) -> None:
        self.round_id, self.role = round_id, role
        self._emit, self._default_to = emit, send_to
        self._grown = False
        self._restart()

    def _restart(self) -> None:
        self.post = Post.create("", self.role, self._default_to)
        self.complete = True
        self.reasoning = ""
        self._open: Attachment | None = None

    def status(self, status: str) -> None:
        """Says what the role is busy with."""
        self._emit(StatusChanged(self.round_id, self.role, status))

    def grow_message(self, text: str, *, is_end: bool = False) -> None:
        """Appends to the message."""
        self._grown = True
        self.post.message += text
        send_to = "" if self.post.send_to == UNKNOWN else self.post.send_to
        self._emit(MessageGrew(self.round_id, self.role, text, send_to, is_end))

    def address(self, send_to: RoleName) -> None:
        """Sets the recipient."""
        self.post.send_to = send_to

    def grow_attachment(
        self,
        type: AttachmentType | str,
        text: str,
        *,
        is_end: bool = False,
        extra: Json | SharedMemoryEntry = None,
    ) -> None:
        """Appends to the attachment under way, or begins one if the last has ended or is of another type.

        Raises:
            AttachmentTypeError: the type is neither known nor registered.
        """
        self._grown = True
        current = self._open
        if current is None or current.type != type:
            current = Attachment.create(type, "", extra=extra)
            self.post.add_attachment(current)
        current.content += text
        self._open = None if is_end else current
        self._emit(AttachmentGrew(self.round_id, self.role, current.id, current.type, text, is_end))

    def withdraw(self) -> None:
        """Begins anew; listeners are told if anything had grown."""
        if self._grown:
            self._emit(PostWithdrawn(self.round_id, self.role))
            self._grown = False
        self._restart()
