"""An Actor: one role at its mailbox, for one round of one session."""

from __future__ import annotations

from typing import Protocol

from roles_runtime.kernels.kernel import Kernel
from roles_runtime.mail.envelope import Envelope
from roles_runtime.mail.transport import Mailbox
from roles_runtime.posts.post import USER, Post, RoleName
from roles_runtime.runtime.approvals import Pauses
from roles_runtime.runtime.seats import Seat


class Running(Protocol):
    """A turn under way, as its actor knows it."""

    envelope: Envelope
    started_at: int
    pauses: Pauses | None

    @property
    def turn_id(self) -> str:
        """Its event key."""
        ...

    def withdraw(self) -> None:
        """Says that what had grown of its answer is void."""
        ...


class Actor:
    """One role at its mailbox. It lives for a round, and only once a Post has come for it.

    Attributes:
        seat: The role with its middleware, model and tools.
        name: The role's.
        leads: Whether its Post to User closes the round.
        mailbox: Where its Posts land.
        busy: Whether somebody runs it, or will.
        more: Whether something landed meanwhile, or while its fan-out was out.
        envelope: What it answers, or was taken to be answered next.
        requester: The sender of the last Post of this round that came from another.
        corrections: Self-corrections in this round.
        joins: Fan-outs of its own that are still out; it takes nothing before they are in.
        kernel: The session's, as this role sees it, or None.
        scope: Of the turn under way, or None.
        sending: Posts that are being written and have not been delivered yet.
        straight: Every exact name that it may write to without further thought.
    """

    __slots__ = (
        "busy",
        "corrections",
        "envelope",
        "joins",
        "kernel",
        "leads",
        "mailbox",
        "more",
        "name",
        "requester",
        "scope",
        "seat",
        "sending",
        "straight",
    )

    def __init__(self, seat: Seat, leader: RoleName) -> None:
        self.seat = seat
        self.name = seat.name
        self.leads = seat.name == leader
        self.kernel: Kernel | None = None
        self.requester = leader
        self.mailbox: Mailbox
        self.busy = self.more = False
        self.envelope: Envelope | None = None
        self.corrections = 0
        self.joins = 0
        self.scope: Running | None = None
        self.sending: tuple[Post, ...] = ()
        self.straight = seat.others - {USER} if self.leads else seat.others

    def take_on(self, woken: list[Actor]) -> None:
        """Takes what landed while it was busy, to be run again."""
        self.envelope = self.mailbox.take()
        if self.envelope is None:
            self.busy = self.more = False
        else:
            woken.append(self)

    def turn_id(self) -> str:
        """The event key of the turn under way."""
        return "" if self.scope is None else self.scope.turn_id
