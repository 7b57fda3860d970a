"""A store in one SQLite file: durable when `append` returns, also if the power goes."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

import anyio
import anyio.to_thread
import apsw

from roles_runtime.errors import StoreError
from roles_runtime.posts.codec import encode_entry
from roles_runtime.posts.event import Entry
from roles_runtime.stores.ownership import Owner
from roles_runtime.stores.sqlite_reader import Reader
from roles_runtime.stores.sqlite_schema import open_for_writing
from roles_runtime.stores.sqlite_untouched import UntouchedReader
from roles_runtime.stores.sqlite_writer import Append, Call, Row, Writer
from roles_runtime.stores.store import SessionInfo

LOCK_TIMEOUT_S = 5.0

_SCHEME = "sqlite:///"
_READERS = 4


class SqliteStore:
    """Keeps all journals in one file, beside which SQLite keeps its log, and each owner of sessions its lock file.

    Several processes may use one file. An append is durable (``synchronous=FULL``) when it returns; those that wait
    at the same time share one commit.

    Args:
        path: The file; it and its folders are made where they are missing, for this user alone.
        read_only: It is for reading alone: nothing is made or changed. See `Store.from_url`.
        lock_timeout_s: How long another process's lock on the file is waited for.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, read_only: bool = False, lock_timeout_s: float = LOCK_TIMEOUT_S
    ) -> None:
        self.path = os.path.abspath(path)
        self._read_only, self._lock_timeout_s = read_only, lock_timeout_s
        self._opened: _Reading | None = None
        self._opening = False

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False) -> Self:
        """Makes the store of ``sqlite:///relative.db`` or ``sqlite:////absolute/path.db``; opens nothing yet.

        Args:
            url: Where the file is.
            read_only: See `Store.from_url`.

        Raises:
            StoreError: the URL has another form.
        """
        path = url.removeprefix(_SCHEME)
        if path == url or not path or path.endswith("/") or path == ":memory:" or "\0" in path:
            raise StoreError(
                f"{url!r} names no SQLite store; write sqlite:///relative.db or sqlite:////absolute/path.db, "
                "or local: for one in memory."
            )
        return cls(path, read_only=read_only)

    async def __aenter__(self) -> Self:
        if self._opened is not None or self._opening:
            raise StoreError(f"{self.path} is open already in this object; make a second one, or share the runtime.")
        self._opening = True
        try:
            self._opened = await (self._open_to_read() if self._read_only else self._open_to_write())
        finally:
            self._opening = False
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        opened, self._opened = self._opened, None
        if opened is None:
            raise self._closed()
        await opened.aclose()

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        """Makes the entries durable. See `Store.append`."""
        writing = self._writing()
        if entries:
            await writing.writer.do(Append(session_id, [_row(entry) for entry in entries]))

    async def read(self, session_id: str, after_seq: int = 0) -> AsyncGenerator[Entry, None]:
        """Yields what stood there when the reading began, page by page. See `Store.read`."""
        if self._opened is None:
            raise self._closed()
        reader, limiter = self._opened.reader, self._opened.limiter
        positions = await anyio.to_thread.run_sync(reader.positions, session_id, after_seq, limiter=limiter)
        start = 0
        while start < len(positions):
            page = await anyio.to_thread.run_sync(reader.page, positions, start, limiter=limiter)
            start += len(page)
            for entry in page:
                yield entry

    async def sessions(self) -> list[SessionInfo]:
        """All sessions, the one last written to first. See `Store.sessions`."""
        if self._opened is None:
            raise self._closed()
        return await anyio.to_thread.run_sync(self._opened.reader.sessions, limiter=self._opened.limiter)

    async def claim(self, session_id: str) -> None:
        """Makes this object the session's owner. See `Store.claim`."""
        await self._writing().claim(session_id)

    async def release(self, session_id: str) -> None:
        """Gives a claim up. See `Store.release`."""
        if self._opened is None:
            raise self._closed()
        if isinstance(self._opened, _Writing):
            await self._opened.release(session_id)

    async def _open_to_read(self) -> _Reading:
        reader = UntouchedReader(self.path, self._lock_timeout_s)
        await anyio.to_thread.run_sync(reader.check, limiter=anyio.CapacityLimiter(1))
        return _Reading(reader)

    async def _open_to_write(self) -> _Writing:
        connection = await anyio.to_thread.run_sync(
            open_for_writing, self.path, self._lock_timeout_s, limiter=anyio.CapacityLimiter(1)
        )
        return _Writing(self.path, connection, self._lock_timeout_s)

    def _writing(self) -> _Writing:
        match self._opened:
            case _Writing() as writing:
                return writing
            case None:
                raise self._closed()
            case _:
                raise StoreError(f"The store {self.path} is for reading alone; make one without read_only.")

    def _closed(self) -> StoreError:
        return StoreError(f"The store {self.path} is not open; use it inside `async with store:`.")


class _Reading:
    """What there is between opening and closing."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.limiter = anyio.CapacityLimiter(_READERS)

    async def aclose(self) -> None:
        """Ends the reading."""
        self.reader.close()


class _Writing(_Reading):
    """What more there is where it may be written to."""

    def __init__(self, path: str, connection: apsw.Connection, lock_timeout_s: float) -> None:
        super().__init__(Reader(path, lock_timeout_s))
        self.writer = Writer(path, connection)
        self._owner = Owner(path)
        self._claimed: set[str] = set()

    async def claim(self, session_id: str) -> None:
        if session_id in self._claimed:
            return
        await self.writer.do(Call(partial(self._owner.claim, session_id=session_id)))
        self._claimed.add(session_id)

    async def release(self, session_id: str) -> None:
        self._claimed.discard(session_id)
        if self._owner.holds_lock:
            await self.writer.do(Call(partial(self._owner.release, session_id=session_id)))

    async def aclose(self) -> None:
        """Reading ends first, then all that was handed over becomes durable, then the claims go."""
        with anyio.CancelScope(shield=True):
            self.reader.close()
            try:
                # Where it can not be written, the lock that goes below says the same.
                with suppress(StoreError):
                    if self._owner.holds_lock:
                        await self.writer.do(Call(self._owner.release_all))
            finally:
                try:
                    await self.writer.aclose()
                finally:
                    self._owner.close()


def _row(entry: Entry) -> Row:
    try:
        return entry.seq, entry.key, entry.time_ns, encode_entry(entry)
    except (TypeError, ValueError, OverflowError) as error:
        raise StoreError(f"Entry {entry.key} can not be written as JSON: {error}; nothing of it was kept.") from error
