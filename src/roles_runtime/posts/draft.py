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
        problem: What is wrong with the model's answer that it was filled from, as a clause; None while nothing is.
        fields: ``message``, ``send_to`` and the attachment types whose values were seen whole, each once, in order.
        warnings: What was ignored in the answer, one line each.
        raw_text: The answer as the model wrote it.
        reasoning: What the model thought before its answer (a ``<think>`` block); it reaches no other role.
    """

    def __init__(self, round_id: str, role: RoleName, emit: Emit, send_to: RoleName = UNKNOWN) -> None:
        self.round_id, self.role = round_id, role
        self._emit, self._default_to = emit, send_to
        self._grown = False
        self._restart()

    def _restart(self) -> None:
        self._post = Post.create("", self.role, self._default_to)
        self.complete = True
        self.problem: str | None = None
        self.fields: list[str] = []
        self.warnings: list[str] = []
        self.raw_text = ""
        self.reasoning = ""
        # Pieces are joined when the Post is asked for: text that grows in place would cost its length at every piece.
        self._message: list[str] = []
        self._content: list[str] = []
        self._open: Attachment | None = None

    @property
    def post(self) -> Post:
        """The Post as it stands; the same object until the draft is withdrawn."""
        if self._message:
            self._post.message += "".join(self._message)
            self._message.clear()
        self._settle_attachment()
        return self._post

    def status(self, status: str) -> None:
        """Says what the role is busy with."""
        self._emit(StatusChanged(self.round_id, self.role, status))

    def grow_message(self, text: str, *, is_end: bool = False) -> None:
        """Appends to the message."""
        self._grown = True
        self._message.append(text)
        send_to = "" if self._post.send_to == UNKNOWN else self._post.send_to
        self._emit(MessageGrew(self.round_id, self.role, text, send_to, is_end))

    def address(self, send_to: RoleName) -> None:
        """Sets the recipient."""
        self._post.send_to = send_to

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
            self._settle_attachment()
            current = self._open = Attachment.create(type, "", extra=extra)
            self._post.add_attachment(current)
        self._content.append(text)
        if is_end:
            self._settle_attachment()
            self._open = None
        self._emit(AttachmentGrew(self.round_id, self.role, current.id, current.type, text, is_end))

    def _settle_attachment(self) -> None:
        if self._open is not None and self._content:
            self._open.content += "".join(self._content)
            self._content.clear()

    def withdraw(self) -> None:
        """Begins anew; listeners are told if anything had grown."""
        if self._grown:
            self._emit(PostWithdrawn(self.round_id, self.role))
            self._grown = False
        self._restart()
