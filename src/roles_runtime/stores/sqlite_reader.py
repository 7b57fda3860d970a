"""Those that read: read-only connections, each used by one thread at a time, and pages of a journal."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

import apsw

from roles_runtime.errors import RolesError, StoreError
from roles_runtime.posts.codec import decode_entry
from roles_runtime.posts.event import Entry
from roles_runtime.stores.ownership import owners
from roles_runtime.stores.sqlite_errors import explained
from roles_runtime.stores.sqlite_schema import open_for_reading
from roles_runtime.stores.store import SessionInfo, title_of

T = TypeVar("T")

PAGE_ENTRIES = 256
PAGE_BYTES = 4 << 20
"""A page ends with the entry that reaches either."""

Positions: TypeAlias = "array[int]"
"""Where the entries of one session lie in the table, in order; 8 bytes each, so that a long journal is no burden."""


class Reader:
    """Reads from any thread, several at a time. Nothing is held between two calls.

    Args:
        path: The file, which a writer has opened before and has open still.
        lock_timeout_s: How long somebody else's lock is waited for.
    """

    def __init__(self, path: str, lock_timeout_s: float) -> None:
        self._path, self._lock_timeout_s = path, lock_timeout_s
        self._idle: list[apsw.Connection] = []
        self._closed = False

    def positions(self, session_id: str, after_seq: int) -> Positions:
        """Of the entries with ``seq > after_seq``, as they stand now.

        Raises:
            StoreError: they can not be read; so with all that reads here.
        """
        return self._ask(partial(_positions, session_id=session_id, after_seq=after_seq))

    def page(self, positions: Positions, start: int) -> list[Entry]:
        """The entries from ``positions[start]`` on, as many as make a page; at least one while there are any."""
        page = self._ask(partial(_page, positions=positions, start=start))
        if not page and start < len(positions):
            raise StoreError(f"{self._path} was replaced while it was being read; read it again.")
        return page

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the one last written to first."""
        return self._ask(partial(_sessions, path=self._path))

    def close(self) -> None:
        """Closes what is idle; what is in use is closed when its reading ends."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _ask(self, question: Callable[[apsw.Connection], T]) -> T:
        connection = self._take()
        try:
            return question(connection)
        except apsw.Error as error:
            raise explained(error, self._path, connection) from error
        finally:
            self._put_back(connection)

    def _take(self) -> apsw.Connection:
        self._refuse_if_closed()
        try:
            return self._idle.pop()
        except IndexError:
            return open_for_reading(self._path, self._lock_timeout_s)

    def _put_back(self, connection: apsw.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreError(f"{self._path} was closed while it was being read.")


def _positions(connection: apsw.Connection, session_id: str, after_seq: int) -> Positions:
    """The index answers it without touching an entry.

    Since a session's entries are appended in the order of their seq, a few probes find where to begin.
    """
    found = connection.execute(
        "SELECT position FROM entry WHERE session = (SELECT number FROM session WHERE id = ?) ORDER BY position",
        (session_id,),
    )
    positions = array("q", (row[0] for row in found))
    if after_seq <= 0:
        return positions

    def seq_of(position: int) -> int:
        ((seq,),) = connection.execute("SELECT seq FROM entry WHERE position = ?", (position,))
        return int(seq)

    return positions[bisect_right(positions, after_seq, key=seq_of) :]


def _page(connection: apsw.Connection, positions: Positions, start: int) -> list[Entry]:
    entries: list[Entry] = []
    size = 0
    wanted = ((position,) for position in positions[start : start + PAGE_ENTRIES])
    for (body,) in connection.executemany("SELECT body FROM entry WHERE position = ?", wanted):
        entries.append(decode_entry(body))
        size += len(body)
        if size >= PAGE_BYTES:
            break
    return entries


def _sessions(connection: apsw.Connection, path: str) -> list[SessionInfo]:
    """Counted from the index, so that appends keep no figures."""
    owned = owners(connection, path)
    listed = connection.execute(
        """
        SELECT session.id, each.entries, first.time_ns, last.time_ns, first.body, each.session
        FROM (
            SELECT session, count(*) AS entries, min(position) AS first, max(position) AS last
            FROM entry GROUP BY session
        ) AS each
        JOIN session ON session.number = each.session
        JOIN entry AS first ON first.position = each.first
        JOIN entry AS last ON last.position = each.last
        ORDER BY each.last DESC
        """
    )
    return [
        SessionInfo(name, entries, created, updated, _title(connection, number, body), owned.get(name, ""))
        for name, entries, created, updated, body, number in listed
    ]


def _title(connection: apsw.Connection, session: int, first: bytes) -> str:
    """Nearly always the first entry opens a round; an entry that a newer version wrote must not hide the session."""
    try:
        if title := title_of([decode_entry(first)]):
            return title
        rest = connection.execute("SELECT body FROM entry WHERE session = ? ORDER BY position", (session,))
        return title_of(decode_entry(body) for (body,) in rest)
    except RolesError:
        return ""
