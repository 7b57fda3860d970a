"""What SQLite says, as errors of ours."""

from __future__ import annotations

import errno

import apsw

from roles_runtime.errors import (
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
)

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def explained(error: Exception, path: str, connection: apsw.Connection | None = None) -> StoreError:
    """The error of ours that says what went wrong with the file at ``path``, and what to do next.

    Args:
        error: What a call of apsw raised; a StoreError is handed back as it is.
        path: The store's file.
        connection: The one that raised, if it is open: it knows the system's own error number.
    """
    match error:
        case StoreError():
            return error
        case apsw.BusyError() | apsw.LockedError():
            return StoreLockedError(
                f"{path} is locked by another process, which did not let go in time; end that process, or try again."
            )
        case apsw.NotADBError() | apsw.CorruptError():
            return corrupt(path, str(error))
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreFullError(f"{path} is read-only; make the file and its folder writable, or name another store.")
        case apsw.CantOpenError():
            return StoreError(
                f"{path} can not be opened; give this user the right to it and to its folder, or name another store."
            )
        case apsw.FullError():
            return _no_room(path)
        case apsw.IOError() if connection is not None and connection.system_errno in _NO_ROOM:
            return _no_room(path)
        case _:
            return StoreError(f"{path}: {type(error).__name__}: {error}; nothing acknowledged was lost.")


def corrupt(path: str, problem: str) -> StoreCorruptError:
    """The file is damaged, or is no store of ours."""
    return StoreCorruptError(f"{path} is no store that can be read ({problem}); name another, or restore a copy.")


def _no_room(path: str) -> StoreFullError:
    return StoreFullError(f"{path}: the disk is full, so that nothing of this was written; make room and try again.")
