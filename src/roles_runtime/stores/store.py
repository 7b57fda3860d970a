"""The Store contract: where the journal of each session rests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Iterable, Sequence
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

import msgspec

from roles_runtime.posts.event import Entry, RoundOpened

TITLE_CHARS = 80
"""How much of its first question stands for a session; whoever shows it strips control characters."""


class SessionInfo(msgspec.Struct, frozen=True):
    """What a store tells of a session without opening it.

    Attributes:
        session_id: Its id.
        entries: How many entries its journal has.
        created_at, updated_at: Of the first and the last entry, ``time.time_ns()``.
        title: The first question asked, its first 80 characters.
        owner: Who holds it now (``pid 4711 on host``), or empty.
    """

    session_id: str
    entries: int
    created_at: int
    updated_at: int
    title: str
    owner: str = ""


def title_of(entries: Iterable[Entry]) -> str:
    """The first question asked among them, its first `TITLE_CHARS` characters; empty if there is none."""
    asked = (entry.event.user_query for entry in entries if isinstance(entry.event, RoundOpened))
    return next(asked, "")[:TITLE_CHARS]


@runtime_checkable
class Store(Protocol):
    """Keeps one journal a session, in order, idempotent by key.

    A store is opened by ``async with`` and closed by it, in one event loop; it may be opened again later, but not
    twice at a time. Used while it is not open, every call raises `StoreError`. All calls may run side by side;
    appends of one session come from its owner alone, in the order of their ``seq``, and become durable in that
    order. Every wait inside has a bound and ends in a `StoreError`.
    """

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False) -> Self:
        """Makes the store that a URL names (``sqlite:///roles.db``, ``local:``); opens nothing yet.

        Args:
            url: Where it is.
            read_only: It is for reading alone: it leaves no trace, and needs neither right nor room to write. One
                that does not exist yet is empty, and is not made. `append` and `claim` raise `StoreError`.
        """
        ...

    async def __aenter__(self) -> Self:
        """Opens it.

        Raises:
            StoreError: it can not be opened; the subclass says why.
        """
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it, after what was being appended is durable; gives up all claims."""
        ...

    def append(self, session_id: str, entries: Sequence[Entry]) -> Awaitable[None]:
        """Makes the entries durable, all or none; to be awaited until they are.

        A store that never waits gives `DONE`: they are durable already. The call itself may raise.

        An entry whose key stands already in that session is left out silently: the first one wins. A new session
        begins with its first entry. Whoever is cancelled while waiting here has handed the entries over: they are
        written all the same, all of them.

        Raises:
            StoreError: nothing of it was written.
        """
        ...

    def read(self, session_id: str, after_seq: int = 0) -> AsyncGenerator[Entry, None]:
        """Yields the entries with ``seq > after_seq`` in order; none if the session is unknown.

        Close it (``contextlib.aclosing``) if you leave it early. Needs no claim: reading always works.

        Raises:
            StoreError: they can not be read.
        """
        ...

    async def sessions(self) -> list[SessionInfo]:
        """All sessions, the one last written to first."""
        ...

    async def claim(self, session_id: str) -> None:
        """Makes this store object the session's owner, until `release`, close, or the process's end.

        Claiming what one holds changes nothing. A claim of a process that died counts for nothing.

        A claim that is cancelled may be held all the same, until `release` or close.

        Raises:
            SessionBusyError: another process, or another open store object, holds it; the message names the owner.
        """
        ...

    async def release(self, session_id: str) -> None:
        """Gives a claim up; releasing what one does not hold changes nothing."""
        ...
