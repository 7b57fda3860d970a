"""Reading a store's file without touching it, and whatever lies around it.

To read beside a writer, SQLite keeps an index of the writer's log in a file of its own. Whoever reads first makes it,
which needs right and room to write, and leaves it and an empty log behind, which the next writer, if he is another
user, may not write to. So SQLite reads that way only where a log lies beside the file, that is while somebody has the
store open, or after a crash. Else the file holds everything there is, and is read as it is, without a lock: a look at
the file afterwards says whether somebody wrote to it meanwhile.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from contextlib import closing
from typing import TypeAlias, TypeVar
from urllib.parse import quote

import apsw

from roles_runtime.errors import StoreCorruptError, StoreError, StoreLockedError, StoreVersionError
from roles_runtime.stores.sqlite_errors import explained
from roles_runtime.stores.sqlite_reader import Reader
from roles_runtime.stores.sqlite_schema import MIGRATIONS, check_version

T = TypeVar("T")

_LOGS = ("-wal", "-journal")
_BESIDE_A_LOG = ("mode=ro", "mode=ro&readonly_shm=1")
"""The second takes the index as it lies there: SQLite can not renew it where the disk is full."""

_RETRY_S = 0.01

_Stamp: TypeAlias = tuple[int, int, int]
"""Of a file with content: which it is, when it was written, its size. It changes with whatever is written to it."""


class _WrittenMeanwhileError(StoreLockedError):
    """What was read without a lock may be half old and half new."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was written to again and again while it was being read; try again.")


class UntouchedReader(Reader):
    """Reads a store of which nobody knows whether it is there, and who else has it open.

    A file that is missing or empty is a store without sessions. Each question is asked on a connection of its own,
    so that a writer who comes or goes between two of them is noticed.
    """

    def check(self) -> None:
        """Whether it can be read.

        Raises:
            StoreError: it can not; the subclass says why.
        """
        self._ask(lambda connection: None)

    def _ask(self, question: Callable[[apsw.Connection], T]) -> T:
        deadline = time.monotonic() + self._lock_timeout_s
        while True:
            self._refuse_if_closed()
            try:
                return self._ask_once(question)
            except _WrittenMeanwhileError:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(_RETRY_S)

    def _ask_once(self, question: Callable[[apsw.Connection], T]) -> T:
        before = _stamp(self._path)
        if before is None:
            return _ask_nobody(question)
        # SQLite looks for logs beside the file itself, not beside a link to it.
        file = os.path.realpath(self._path)
        logs = [file + suffix for suffix in _LOGS if os.path.exists(file + suffix)]
        for how in _BESIDE_A_LOG if logs else ():
            try:
                return self._ask_file(file, how, question)
            except (StoreLockedError, StoreCorruptError, StoreVersionError):
                raise
            except StoreError as error:
                problem = error
        for log in logs:
            if _stamp(log) is not None:
                raise _unreadable(self._path, log, problem) from problem
        return self._ask_unlocked(file, before, question)

    def _ask_unlocked(self, file: str, before: _Stamp, question: Callable[[apsw.Connection], T]) -> T:
        try:
            answer = self._ask_file(file, "immutable=1", question)
        except StoreError as error:
            if _stamp(self._path) == before:
                raise
            raise _WrittenMeanwhileError(self._path) from error
        if _stamp(self._path) == before:
            return answer
        raise _WrittenMeanwhileError(self._path)

    def _ask_file(self, file: str, how: str, question: Callable[[apsw.Connection], T]) -> T:
        connection = None
        try:
            name = f"file:{quote(os.fsencode(file))}?{how}"
            connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            connection.set_busy_timeout(int(self._lock_timeout_s * 1000))
            check_version(self._path, connection)
            version = connection.pragma("user_version")
            if version and version < len(MIGRATIONS):
                raise _old(self._path, version)
            return question(connection) if version else _ask_nobody(question)
        except apsw.Error as error:
            raise explained(error, self._path, connection) from error
        finally:
            if connection is not None:
                connection.close()


def _stamp(path: str) -> _Stamp | None:
    """None where there is no file, or nothing in it."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise StoreError(f"{path} can not be a store: {error.strerror}; name a file.") from error
    except OSError as error:
        raise StoreError(f"{path} can not be looked at: {error.strerror}; name another store.") from error
    except ValueError as error:
        raise StoreError(f"{path!r} is no path: {error}; name another file.") from error
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path} is no regular file, and can not be a store; name another.")
    return (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else None


def _ask_nobody(question: Callable[[apsw.Connection], T]) -> T:
    """What a store without sessions answers."""
    with closing(apsw.Connection(":memory:")) as connection:
        for statements in MIGRATIONS:
            connection.execute(statements)
        return question(connection)


def _unreadable(path: str, log: str, error: StoreError) -> StoreError:
    return StoreError(
        f"{path} can not be read here: what was written last stands in {os.path.basename(log)}, which SQLite can not "
        f"read, or for which it can not make an index ({error.__cause__}). Make room, and give this user the right to "
        f"that folder and the files in it; or copy {path} and its log to a folder of your own."
    )


def _old(path: str, version: int) -> StoreVersionError:
    return StoreVersionError(
        f"{path} is a store of version {version}, and this version of roles_runtime reads version {len(MIGRATIONS)}; "
        "whoever may write to it brings it up to date by opening a chat."
    )
