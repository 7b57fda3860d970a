"""Who owns a session: a row that names the owner, and a lock file that says whether it lives.

The lock is held by ``flock`` for the life of the store object. The kernel drops it when the process ends, however it
ends; so a dead owner's rows count for nothing, a reused pid misleads nobody, two objects in one process exclude each
other, and containers that share a file system see the same truth.

Claiming runs inside a write transaction of SQLite, of which there is one at a time in the world: looking whether the
other lives and taking its place can not race.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import socket
import time
from contextlib import suppress

import apsw

from roles_runtime.errors import SessionBusyError


class Owner:
    """One open store object, as an owner of sessions. All methods but `close` need a write transaction."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._token = secrets.token_hex(8)
        self._name = f"pid {os.getpid()} on {socket.gethostname()}"
        self._lock: int | None = None

    @property
    def holds_lock(self) -> bool:
        """Whether it may have claims at all; an owner that never claimed anything leaves no trace."""
        return self._lock is not None

    def claim(self, connection: apsw.Connection, session_id: str) -> None:
        """Enters this owner for the session.

        Raises:
            SessionBusyError: an owner that lives holds it.
        """
        if self._lock is None:
            sweep(connection, self._path)
            self._lock = _hold(_lock_file(self._path, self._token))
        row = connection.execute("SELECT token, name, since FROM owner WHERE session = ?", (session_id,)).fetchone()
        if row is not None and row[0] != self._token:
            if lives(self._path, row[0]):
                raise _busy(session_id, row[1], row[2])
            sweep(connection, self._path)
        connection.execute(
            "INSERT OR REPLACE INTO owner (session, token, name, since) VALUES (?, ?, ?, ?)",
            (session_id, self._token, self._name, time.time_ns()),
        )

    def release(self, connection: apsw.Connection, session_id: str) -> None:
        """Takes this owner's entry out."""
        connection.execute("DELETE FROM owner WHERE session = ? AND token = ?", (session_id, self._token))

    def release_all(self, connection: apsw.Connection) -> None:
        """Takes all entries of this owner out."""
        connection.execute("DELETE FROM owner WHERE token = ?", (self._token,))

    def close(self) -> None:
        """Drops the lock: from now on this owner is dead, whatever its rows say."""
        if self._lock is not None:
            with suppress(OSError):
                os.unlink(_lock_file(self._path, self._token))
            os.close(self._lock)
            self._lock = None


def owners(connection: apsw.Connection, path: str) -> dict[str, str]:
    """The name of the owner of each session that has one which lives."""
    tokens = connection.execute("SELECT DISTINCT token FROM owner").fetchall()
    alive = {token for (token,) in tokens if lives(path, str(token))}
    rows = connection.execute("SELECT session, name, token FROM owner")
    return {str(session): str(name) for session, name, token in rows if token in alive}


def sweep(connection: apsw.Connection, path: str) -> None:
    """Removes what owners that died have left behind: their rows and lock files. Needs a write transaction."""
    folder, prefix = os.path.split(_lock_file(path, ""))
    left = {str(token) for (token,) in connection.execute("SELECT DISTINCT token FROM owner")}
    with os.scandir(folder or ".") as files:
        left.update(file.name.removeprefix(prefix) for file in files if file.name.startswith(prefix))
    for token in left:
        if not lives(path, token):
            connection.execute("DELETE FROM owner WHERE token = ?", (token,))
            with suppress(OSError):
                os.unlink(_lock_file(path, token))


def lives(path: str, token: str) -> bool:
    """Whether the owner's lock is held. Those who ask take a shared lock, so as not to be taken for the owner."""
    try:
        descriptor = os.open(_lock_file(path, token), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError:
        # It is there and not ours to look at, so that somebody else's claim is taken at its word.
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _busy(session_id: str, name: str, since_ns: int) -> SessionBusyError:
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(since_ns // 1_000_000_000))
    return SessionBusyError(
        f"Session {session_id!r} is open in {name}, since {since}; close it there, or use another session."
    )


def _hold(file: str) -> int:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _lock_file(path: str, token: str) -> str:
    return f"{path}-owner-{token}"
