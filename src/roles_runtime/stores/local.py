"""A store in memory: real, complete, and gone with the object."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Sequence
from types import TracebackType
from typing import Self

from roles_runtime.done import DONE
from roles_runtime.errors import StoreError
from roles_runtime.posts.event import Entry
from roles_runtime.stores.store import SessionInfo, title_of

_Journal = dict[str, Entry]
"""Entries by key: a dict keeps the order of the first insertion, which is the contract in one structure."""


class LocalStore:
    """Keeps the journals of this object in memory; they outlive closing, so that it may be opened again.

    Nobody else can reach them, so that a claim is always granted: the object is the owner. For the same reason it
    can not be opened twice at a time, and two runtimes need two of them. Entries are kept as they are, not copied.
    """

    def __init__(self, *, read_only: bool = False) -> None:
        self._journals: dict[str, _Journal] = {}
        self._read_only = read_only
        self._open = self._writable = False

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False) -> Self:
        """Makes an empty one for ``local:``; read-only, it stays empty. See `Store.from_url`."""
        if url != "local:":
            raise StoreError(f"{url!r} names no local store; write local: and nothing after it.")
        return cls(read_only=read_only)

    async def __aenter__(self) -> Self:
        if self._open:
            raise StoreError("This local store is open already; make a second one, or share the runtime.")
        self._open, self._writable = True, not self._read_only
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._open:
            raise _closed()
        self._open = self._writable = False

    def append(self, session_id: str, entries: Sequence[Entry]) -> Awaitable[None]:
        """Keeps the entries; never waits. See `Store.append`."""
        if not self._writable:
            raise self._refusal()
        journal = self._journals.get(session_id)
        if journal is None:
            if not entries:
                return DONE
            journal = self._journals[session_id] = {}
        for entry in entries:
            journal.setdefault(entry.key, entry)
        return DONE

    async def read(self, session_id: str, after_seq: int = 0) -> AsyncGenerator[Entry, None]:
        """Yields what stood there when the reading began. See `Store.read`."""
        if not self._open:
            raise _closed()
        for entry in tuple(self._journals.get(session_id, {}).values()):
            if entry.seq > after_seq:
                yield entry

    async def sessions(self) -> list[SessionInfo]:
        """All sessions, the one last written to first; none names an owner. See `Store.sessions`."""
        if not self._open:
            raise _closed()
        found = [_described(session_id, tuple(journal.values())) for session_id, journal in self._journals.items()]
        return sorted(found, key=lambda info: info.updated_at, reverse=True)

    async def claim(self, session_id: str) -> None:
        """Always granted, if it is not read-only."""
        if not self._writable:
            raise self._refusal()

    async def release(self, session_id: str) -> None:
        """Changes nothing."""
        if not self._open:
            raise _closed()

    def _refusal(self) -> StoreError:
        return (
            StoreError("This local store is for reading alone; make one without read_only.")
            if self._open
            else _closed()
        )


def _described(session_id: str, entries: Sequence[Entry]) -> SessionInfo:
    return SessionInfo(session_id, len(entries), entries[0].time_ns, entries[-1].time_ns, title_of(entries))


def _closed() -> StoreError:
    return StoreError("This local store is not open; use it inside `async with store:`.")
