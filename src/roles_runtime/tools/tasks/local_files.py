"""A Backend on the disk: one folder, which several processes may share, and which holds nothing but plain files."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

import anyio
from anyio import to_thread

from roles_runtime.errors import TaskError
from roles_runtime.kernels.folder import make_private
from roles_runtime.tools.tasks.backend import Backend, FileInfo

LOCK = ".lock"
"""The file by which processes wait for each other; it holds how many changes there were."""

MAX_FILE_BYTES = 16 << 20
"""A larger file is not read."""

_POLL_S = 0.01
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC

T = TypeVar("T")


class LocalFiles(Backend):
    """The files of one folder. A file is replaced as a whole and durably; a link is never followed."""

    def __init__(self, base_dir: str | Path, *, lock_timeout_s: float = 10.0) -> None:
        """Makes nothing yet; the folder is made when it is first held.

        Args:
            base_dir: The folder.
            lock_timeout_s: How long another process may hold it.
        """
        self.base_dir = os.path.abspath(base_dir)
        self._lock_timeout_s = lock_timeout_s
        self._lock: int | None = None

    async def ls_info(self, path: str) -> Sequence[FileInfo]:
        """What stands in the folder."""
        self._check_folder(path)
        return await self._off_loop(self._list)

    async def read(self, path: str) -> str:
        """A file's text."""
        name = self._name(path)
        return await self._off_loop(lambda: self._read(name))

    async def write(self, path: str, content: str) -> None:
        """Replaces a file; it is on the disk when this returns."""
        name, data = self._name(path), content.encode()
        await self._off_loop(lambda: self._write(name, data))

    async def delete(self, path: str) -> None:
        """Deletes a file, if it is there."""
        name = self._name(path)
        await self._off_loop(lambda: self._delete(name))

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Holds the folder's lock.

        Raises:
            TaskError: another process held it for too long.
            OSError: the folder can not be made.
        """
        lock = await self._off_loop(self._open_lock)
        try:
            with anyio.move_on_after(self._lock_timeout_s) as waiting:
                # Nobody tells a process that another one let go of a lock.
                while not _locked(lock):  # noqa: ASYNC110
                    await anyio.sleep(_POLL_S)
            if waiting.cancelled_caught:
                raise TaskError(f"another process holds {self.base_dir} for {self._lock_timeout_s:g} s; try again")
            self._lock = lock
            yield
        finally:
            self._lock = None
            os.close(lock)

    async def state(self) -> str:
        """How many changes our own kind made, and when anybody last made or removed a file."""
        return await self._off_loop(self._state)

    async def _off_loop(self, work: Callable[[], T]) -> T:
        # Not left behind when cancelled: a file is changed, or it is not.
        return await to_thread.run_sync(work)

    def _check_folder(self, path: str) -> None:
        if os.path.normpath(os.path.join(self.base_dir, path)) != self.base_dir:
            raise PermissionError(f"{path} is not {self.base_dir}")

    def _name(self, path: str) -> str:
        whole = os.path.normpath(os.path.join(self.base_dir, path))
        folder, name = os.path.split(whole)
        if folder != self.base_dir or "\0" in name or name == LOCK:
            raise PermissionError(f"{path} is no file in {self.base_dir}")
        return name

    @contextmanager
    def _folder(self) -> Iterator[int]:
        folder = os.open(self.base_dir, _FOLDER)
        try:
            yield folder
        finally:
            os.close(folder)

    def _open_lock(self) -> int:
        make_private(Path(self.base_dir))
        with self._folder() as folder:
            return os.open(LOCK, _LOCK, 0o600, dir_fd=folder)

    def _state(self) -> str:
        with self._folder() as folder:
            return f"{_changes(self._lock)} {os.fstat(folder).st_mtime_ns}"

    def _count(self) -> None:
        # Before the change: if it is cut off, the others read once too often, and never too seldom.
        if self._lock is not None:
            os.pwrite(self._lock, str(_changes(self._lock) + 1).encode(), 0)

    def _list(self) -> list[FileInfo]:
        found = []
        with suppress(FileNotFoundError), self._folder() as folder:
            for name in os.listdir(folder):
                with suppress(FileNotFoundError):
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat()
                    found.append(FileInfo(name, stat.S_ISDIR(status.st_mode), status.st_size, changed))
        return found

    def _read(self, name: str) -> str:
        with self._folder() as folder:
            opened = os.open(name, _READ, dir_fd=folder)
        with open(opened, "rb") as file:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{name} is no plain file")
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise OSError(f"{name} has more than {MAX_FILE_BYTES >> 20} MiB")
        return data.decode()

    def _write(self, name: str, data: bytes) -> None:
        make_private(Path(self.base_dir))
        with self._folder() as folder:
            self._count()
            made = f".{token_hex(8)}.tmp"
            try:
                with open(os.open(made, _MAKE, 0o600, dir_fd=folder), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(made, dir_fd=folder)
                raise
            os.fsync(folder)

    def _delete(self, name: str) -> None:
        with suppress(FileNotFoundError), self._folder() as folder:
            self._count()
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _changes(lock: int | None) -> int:
    text = b"" if lock is None else os.pread(lock, 20, 0)
    return int(text) if text.isdigit() else 0
