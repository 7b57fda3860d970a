"""Approvals: what roles ask the user, who is there to answer, and clocks that stand still meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from roles_runtime.errors import ApprovalNotFoundError
from roles_runtime.posts.event import ApprovalAsked


class Verdict(msgspec.Struct, frozen=True):
    """A yes or no, and what was said with it."""

    approved: bool
    comment: str = ""


NOBODY = Verdict(False, "Nobody was there to answer.")


class Approvals:
    """The open questions of a session. They live in memory alone: whoever restores it finds none."""

    __slots__ = ("_attending", "_open")

    def __init__(self) -> None:
        self._attending = 0
        self._open: dict[str, tuple[ApprovalAsked, asyncio.Future[Verdict]]] = {}

    @property
    def questions(self) -> tuple[ApprovalAsked, ...]:
        """Those that are open, in order."""
        return tuple(asked for asked, verdict in self._open.values() if not verdict.done())

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Somebody answers while the block runs; when the last one leaves, what is open is answered no."""
        self._attending += 1
        try:
            yield
        finally:
            self._attending -= 1
            if not self._attending:
                self.refuse()

    @contextmanager
    def opened(self, asked: ApprovalAsked) -> Iterator[asyncio.Future[Verdict]]:
        """The question is open while the block runs, and answered already where nobody is there."""
        verdict: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        if not self._attending:
            verdict.set_result(NOBODY)
        self._open[asked.approval_id] = asked, verdict
        try:
            yield verdict
        finally:
            del self._open[asked.approval_id]

    def answer(self, approval_id: str, verdict: Verdict) -> None:
        """Answers a question.

        Raises:
            ApprovalNotFoundError: it is not open.
        """
        _, future = self._open.get(approval_id, (None, None))
        if future is None or future.done():
            raise ApprovalNotFoundError(approval_id, [each.approval_id for each in self.questions])
        future.set_result(verdict)

    def refuse(self) -> None:
        """Answers all that is open with no."""
        for _, verdict in self._open.values():
            if not verdict.done():
                verdict.set_result(NOBODY)


class Pauses:
    """How long something waited for the user, in seconds; several waits at once count once."""

    __slots__ = ("_begun_s", "_passed_s", "_waits")

    def __init__(self) -> None:
        self._waits = 0
        self._begun_s = self._passed_s = 0.0

    def begin(self, now_s: float) -> None:
        """A wait begins."""
        if not self._waits:
            self._begun_s = now_s
        self._waits += 1

    def end(self, now_s: float) -> None:
        """One ends."""
        self._waits -= 1
        if not self._waits:
            self._passed_s += now_s - self._begun_s

    def until(self, now_s: float) -> float:
        """All waits up to now."""
        return self._passed_s + (now_s - self._begun_s if self._waits else 0.0)
