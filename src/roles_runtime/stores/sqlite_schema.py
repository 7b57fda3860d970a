"""The SQLite file: how it is made, recognised, brought up to date and opened."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import apsw

from roles_runtime.errors import StoreError, StoreFullError, StoreVersionError
from roles_runtime.stores.sqlite_errors import corrupt, explained

T = TypeVar("T")

APPLICATION_ID = 0x524F4C45
"""``ROLE`` in the file's header: this file is ours."""

# Entries lie in the order of their commits, whatever their session: a commit of many sessions then writes few pages.
# A table ordered by session would scatter them, at three to five times the cost; a second index costs half as much
# again. So the one index there is keeps keys unique, finds the rows of a session, and counts them.
MIGRATIONS: Sequence[str] = (
    """
    CREATE TABLE session (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE entry (
        position INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        key TEXT NOT NULL,
        time_ns INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX entry_key ON entry (session, key);
    CREATE TABLE owner (
        session TEXT PRIMARY KEY,
        token TEXT NOT NULL,
        name TEXT NOT NULL,
        since INTEGER NOT NULL
    ) STRICT;
    """,
)
"""Forward only: number ``i`` brings a file of version ``i`` (``PRAGMA user_version``) to ``i + 1``."""

_JOURNAL_BYTES_KEPT = 64 << 20
_RETRY_S = 0.05


def open_for_writing(path: str, lock_timeout_s: float, migrations: Sequence[str] = MIGRATIONS) -> apsw.Connection:
    """Opens the store's file, making it and its parent folders (0600 and 0700) where they are missing.

    Args:
        path: The file.
        lock_timeout_s: How long somebody else's lock is waited for, here and in each later call.
        migrations: What brings a file up to date, oldest first.

    Raises:
        StoreError: it can not be opened; the subclass says why. A file that is not ours is left as it was.
    """
    _make_file(path)
    connection = _connected(path, apsw.SQLITE_OPEN_READWRITE, lock_timeout_s)
    try:
        check_version(path, connection, migrations)
        _patiently(lambda: connection.pragma("journal_mode", journal_mode(apsw.sqlite_lib_version())), lock_timeout_s)
        connection.pragma("synchronous", "FULL")
        connection.pragma("journal_size_limit", _JOURNAL_BYTES_KEPT)
        _migrate(path, connection, migrations)
    except apsw.Error as error:
        reason = explained(error, path, connection)
        connection.close()
        raise reason from error
    except BaseException:
        connection.close()
        raise
    return connection


def open_for_reading(path: str, lock_timeout_s: float) -> apsw.Connection:
    """Opens a file that `open_for_writing` has opened before, read-only."""
    return _connected(path, apsw.SQLITE_OPEN_READONLY, lock_timeout_s)


def journal_mode(sqlite_version: str) -> str:
    """``wal`` where it is safe, else ``truncate``.

    Up to 3.51.2 a checkpoint and a write that restarts the log could race and corrupt the file; 3.44.6 and 3.50.7
    carry the correction back.
    """
    major, minor, patch = (int(part) for part in sqlite_version.split(".")[:3])
    safe = (major, minor, patch) >= (3, 51, 3) or ((major, minor) in ((3, 44), (3, 50)) and patch >= 6 + (minor == 50))
    return "wal" if safe else "truncate"


def _make_file(path: str) -> None:
    try:
        _make_folder(Path(path).parent)
        made = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except (IsADirectoryError, NotADirectoryError, FileExistsError) as error:
        raise StoreError(f"{path} can not be a store: {error.strerror} ({error.filename}); name a file.") from error
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT):
            raise StoreFullError(
                f"{error.filename} can not be written to ({error.strerror}); name a place with room and rights."
            ) from error
        raise StoreError(f"{path!r} can not be opened or made: {error.strerror}; name another file.") from error
    except ValueError as error:
        raise StoreError(f"{path!r} is no path: {error}; name another file.") from error
    try:
        if not stat.S_ISREG(os.fstat(made).st_mode):
            raise StoreError(f"{path} is no regular file, and can not be a store; name another.")
    finally:
        os.close(made)


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(0o700, exist_ok=True)


def _connected(path: str, flags: int, lock_timeout_s: float) -> apsw.Connection:
    try:
        connection = apsw.Connection(path, flags=flags)
    except apsw.Error as error:
        raise explained(error, path) from error
    connection.set_busy_timeout(int(lock_timeout_s * 1000))
    return connection


def check_version(path: str, connection: apsw.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Whether the file is a store of ours, or is to become one. Reads only: whatever is not ours stays untouched.

    Raises:
        StoreCorruptError: it belongs to another program.
        StoreVersionError: it is newer than what ``migrations`` lead to.
    """
    # The tables are looked for first: should another process make them meanwhile, the mark that came with them is seen.
    has_tables = connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is not None
    application_id, version = connection.pragma("application_id"), connection.pragma("user_version")
    if application_id != APPLICATION_ID:
        if application_id or has_tables:
            raise corrupt(path, "it is an SQLite file of another program")
    elif version > len(migrations):
        raise StoreVersionError(
            f"{path} is a store of version {version}, and this version of roles_runtime reads up to "
            f"{len(migrations)}; update it. The file was not touched."
        )


def _migrate(path: str, connection: apsw.Connection, migrations: Sequence[str]) -> None:
    if connection.pragma("user_version") == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster, so that the version is read again under the lock.
        check_version(path, connection, migrations)
        for statements in migrations[connection.pragma("user_version") :]:
            connection.execute(statements)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", len(migrations))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _patiently(action: Callable[[], T], timeout_s: float) -> T:
    """SQLite does not wait for locks where the journal's mode changes; so this does."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return action()
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_S)
