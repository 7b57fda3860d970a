"""A Backend on the disk: one folder, which several processes may share, and which holds nothing but plain files."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import stat
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

import anyio
import msgspec

from roles_runtime.errors import TaskError
from roles_runtime.kernels.folder import make_private
from roles_runtime.tools.tasks.backend import INTENT, Backend, Contents, FileInfo, intent_of

LOCK = ".lock"
"""The file by which processes wait for each other; it holds how many changes there were."""

MAX_FILE_BYTES = 16 << 20
"""A larger file is not read."""

_POLL_S = 0.01
_OPEN_AT_ONCE = 64
_ASIDE = re.compile(r"\.[0-9a-f]{16}\.tmp")
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
        self._held: _Held | None = None
        self._known = False

    async def ls_info(self, path: str) -> Sequence[FileInfo]:
        """What stands in the folder."""
        self._check_folder(path)
        return await off_loop(self._list)

    async def read(self, path: str) -> str:
        """A file's text."""
        name = self._name(path)
        return await off_loop(lambda: self._read(name))

    async def write(self, path: str, content: str) -> None:
        """Replaces a file; it is on the disk when this returns."""
        name, data = self._name(path), content.encode()
        await off_loop(lambda: self._change({name: data}))

    async def delete(self, path: str) -> None:
        """Deletes a file, if it is there."""
        name = self._name(path)
        with suppress(FileNotFoundError):
            await off_loop(lambda: self._change({name: None}))

    async def names(self, folder: str) -> Collection[str]:
        """The names of what stands in the folder, without a look at each."""
        self._check_folder(folder)
        return await off_loop(self._names)

    async def read_all(self, paths: Sequence[str]) -> Mapping[str, str | Exception]:
        """The text of each file, or why it can not be read: all in one go."""
        names = {path: self._name(path) for path in paths}
        return await off_loop(lambda: self._read_all(names))

    async def change(self, folder: str, contents: Contents) -> None:
        """Changes several files in one go. The folder is flushed once for all of them, not once for each."""
        self._check_folder(folder)
        files = {self._name(path): None if text is None else text.encode() for path, text in contents.items()}
        try:
            await off_loop(lambda: self._change(files))
        except Exception:
            await self.try_undo(folder)
            raise

    async def undo(self, folder: str) -> None:
        """Undoes a change that was cut in the middle, and sweeps out what it had put aside."""
        self._check_folder(folder)
        if self._held is not None:
            await off_loop(self._sweep)
        await super().undo(folder)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Holds the folder's lock.

        Raises:
            TaskError: another process held it for too long.
            OSError: the folder can not be made.
        """
        with ExitStack() as stack:
            try:
                # Names that were just looked up are found without waiting for the disk.
                held = self._open_lock(stack) if self._known else await off_loop(lambda: self._make_lock(stack))
            except FileNotFoundError:
                held = await off_loop(lambda: self._make_lock(stack))
            self._known = True
            with anyio.move_on_after(self._lock_timeout_s) as waiting:
                # Nobody tells a process that another one let go of a lock.
                while not _locked(held.lock):  # noqa: ASYNC110
                    await anyio.sleep(_POLL_S)
            if waiting.cancelled_caught:
                raise TaskError(f"another process holds {self.base_dir} for {self._lock_timeout_s:g} s; try again")
            self._held = held
            stack.callback(self._let_go)
            yield

    async def state(self) -> str:
        """How many changes our own kind made, and when anybody last made or removed a file; empty while not held."""
        if self._held is None:
            return ""
        return f"{_changes(self._held.lock)} {os.fstat(self._held.folder).st_mtime_ns}"

    def _let_go(self) -> None:
        self._held = None

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

    def _make_lock(self, stack: ExitStack) -> _Held:
        make_private(Path(self.base_dir))
        return self._open_lock(stack)

    def _open_lock(self, stack: ExitStack) -> _Held:
        # Whatever is opened is closed by the stack, also where whoever wanted it is cancelled before he has it.
        folder = os.open(self.base_dir, _FOLDER)
        stack.callback(os.close, folder)
        lock = os.open(LOCK, _LOCK, 0o600, dir_fd=folder)
        stack.callback(os.close, lock)
        return _Held(folder, lock)

    def _count(self) -> None:
        # Before the change: if it is cut off, the others read once too often, and never too seldom.
        if self._held is not None:
            os.pwrite(self._held.lock, str(_changes(self._held.lock) + 1).encode(), 0)

    def _sweep(self) -> None:
        with self._folder() as folder:
            _remove(folder, *filter(_ASIDE.fullmatch, os.listdir(folder)))

    def _names(self) -> set[str]:
        with suppress(FileNotFoundError), self._folder() as folder, os.scandir(folder) as entries:
            return {entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)}
        return set()

    def _list(self) -> list[FileInfo]:
        found = []
        with suppress(FileNotFoundError), self._folder() as folder:
            for name in os.listdir(folder):
                with suppress(FileNotFoundError):
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat()
                    found.append(FileInfo(name, stat.S_ISDIR(status.st_mode), status.st_size, changed))
        return found

    def _read_all(self, names: Mapping[str, str]) -> dict[str, str | Exception]:
        found: dict[str, str | Exception] = {}
        try:
            with self._folder() as folder:
                for path, name in names.items():
                    try:
                        found[path] = _read(folder, name)
                    except (OSError, ValueError) as error:
                        found[path] = error
        except FileNotFoundError as error:  # the folder itself
            return dict.fromkeys(names, error)
        return found

    def _read(self, name: str) -> str:
        with self._folder() as folder:
            return _read(folder, name)

    def _change(self, files: Mapping[str, bytes | None]) -> None:
        if any(data is not None for data in files.values()):
            make_private(Path(self.base_dir))
        with self._folder() as folder:
            self._count()
            noted = {INTENT: _intent(folder, files)}
            aside = {f".{token_hex(8)}.tmp": name for name, data in files.items() if data is not None}
            made = {here: files[name] or b"" for here, name in aside.items()}
            try:
                _make(folder, made if len(files) == 1 else {**noted, **made})
                if len(files) > 1:
                    # What stood there is on the disk before anything else stands there.
                    os.fsync(folder)
                self._place(folder, files, aside)
            except BaseException:
                # What is told to have failed is not to be found later: if it can not be undone now, then at a load.
                with suppress(OSError):
                    _make(folder, noted)
                with suppress(OSError):
                    _remove(folder, *aside)
                raise

    def _place(self, folder: int, files: Mapping[str, bytes | None], aside: Mapping[str, str]) -> None:
        for here, name in aside.items():
            os.replace(here, name, src_dir_fd=folder, dst_dir_fd=folder)
        _remove(folder, *(name for name, data in files.items() if data is None))
        os.fsync(folder)
        if len(files) > 1:
            _remove(folder, INTENT)
            os.fsync(folder)


class _Held(msgspec.Struct, frozen=True):
    """A folder that is held: itself, and its lock, both open."""

    folder: int
    lock: int


async def off_loop(work: Callable[[], T]) -> T:
    """Runs what blocks in a thread, and returns when it has ended: also where it is cancelled meanwhile, so that no
    lock is let go of while files are still being changed.
    """
    running = asyncio.get_running_loop().run_in_executor(None, work)
    cancelled: asyncio.CancelledError | None = None
    # A scope that is cancelled would ask again and again; and a task may be cancelled without one.
    with anyio.CancelScope(shield=True):
        while not running.done():
            try:
                await asyncio.wait([running])
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        running.exception()
        raise cancelled
    return running.result()


def _read(folder: int, name: str) -> str:
    opened = os.open(name, _READ, dir_fd=folder)
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{name} is no plain file")
        if status.st_size > MAX_FILE_BYTES:
            raise OSError(f"{name} has more than {MAX_FILE_BYTES >> 20} MiB")
        parts, left = [], MAX_FILE_BYTES
        while left and (part := os.read(opened, min(left, status.st_size + 1))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(opened)
    return b"".join(parts).decode()


def _intent(folder: int, names: Collection[str]) -> bytes:
    try:
        return intent_of({name: _found(folder, name) for name in names}).encode()
    except (OSError, ValueError):
        if len(names) > 1:
            raise
        # What no one can read may be replaced; nothing can put it back.
        return b""


def _found(folder: int, name: str) -> str | None:
    try:
        return _read(folder, name)
    except FileNotFoundError:
        return None


def _make(folder: int, files: Mapping[str, bytes]) -> None:
    """Makes files and flushes them: the first flush is most of those after it, too, where all are written before."""
    names = iter(files)
    while some := tuple(islice(names, _OPEN_AT_ONCE)):
        with ExitStack() as stack:
            made = []
            for name in some:
                file = os.open(name, _MAKE, 0o600, dir_fd=folder)
                stack.callback(os.close, file)
                left = memoryview(files[name])
                while left:
                    left = left[os.write(file, left) :]
                made.append(file)
            for file in made:
                os.fsync(file)


def _remove(folder: int, *names: str) -> None:
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _changes(lock: int) -> int:
    text = os.pread(lock, 20, 0)
    return int(text) if text.isdigit() else 0
