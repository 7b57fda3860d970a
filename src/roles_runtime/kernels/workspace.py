"""The only door to a session's files. What lies behind it was written by code that nobody trusts."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import mimetypes
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from roles_runtime.errors import WorkspaceError
from roles_runtime.kernels.folder import (
    excess,
    make_private,
    move_entries,
    open_folder,
    own_everything,
    total_bytes,
    walk_files,
)
from roles_runtime.posts.conversation import ArtifactRef

MAX_UPLOAD_BYTES = 2 << 30
MAX_ARTIFACT_BYTES = 256 << 20
MAX_WORKSPACE_BYTES = 1 << 30
MAX_NAME_BYTES = 180
_CHUNK_BYTES = 1 << 20
_SIZES = "uploads"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Workspace:
    """A session's folder: ``files/`` (what code sees as its current folder) and ``artifacts/`` (kept copies).

    Every path is opened by folder descriptor with O_NOFOLLOW and O_NONBLOCK; only regular files are read.
    Calls block and are made from a worker thread (``anyio.to_thread``) by those in the event loop. Objects of the
    same root, in any thread or process, may be used side by side.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def files(self) -> Path:
        """The folder that the kernel works in."""
        return self.root / "files"

    @property
    def artifacts(self) -> Path:
        """Where kept copies are: ``artifacts/<sha256><suffix>``."""
        return self.root / "artifacts"

    def add(self, source: Path | str, name: str | None = None) -> str:
        """Copies a user's file in; returns the name that code opens it by (its base name, cleaned).

        A name that is taken gets a number, unless the file of that name has the same content.

        Raises:
            WorkspaceError: missing, no regular file, unreadable, empty name, too large, or the disk is full.
        """
        shown = str(source)
        wanted = clean_name(os.path.basename(shown) if name is None else name)
        try:
            # The user's own path may be a link; what it leads to must still be a file.
            descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            raise _refused(shown, error) from error
        with _regular(descriptor, shown) as file:
            size = _size_of(file, shown, MAX_UPLOAD_BYTES)
            return self._put(wanted, file, size, shown)

    def write(self, name: str, content: bytes) -> str:
        """Writes a file of ours (a long result, an upload's bytes), never over another; returns its name.

        Raises:
            WorkspaceError: too large, or the disk is full.
        """
        if len(content) > MAX_UPLOAD_BYTES:
            raise _too_large(name, MAX_UPLOAD_BYTES)
        wanted = clean_name(name)
        return self._put(wanted, io.BytesIO(content), len(content), name)

    def open(self, name: str) -> BinaryIO:
        """Opens a file of the workspace for reading.

        Raises:
            WorkspaceError: it is outside, a link, no regular file, or missing.
        """
        parts = Path(name).parts
        if not parts or Path(name).is_absolute() or ".." in parts or "\0" in name:
            raise WorkspaceError(name, "it is outside the workspace; name a file inside it.")
        with self._opened_files() as root, _errors(name):
            folder = os.dup(root)
            try:
                for part in parts[:-1]:
                    folder, above = os.open(part, _FOLDER, dir_fd=folder), folder
                    os.close(above)
                return _regular(os.open(parts[-1], _READ, dir_fd=folder), name)
            finally:
                os.close(folder)

    def keep(self, name: str, mime: str | None = None) -> ArtifactRef:
        """Copies a file of the workspace to ``artifacts/``, by its content.

        Raises:
            WorkspaceError: as `open`; or it is larger than `MAX_ARTIFACT_BYTES`, or the disk is full.
        """
        with self.open(name) as file:
            _size_of(file, name, MAX_ARTIFACT_BYTES)
            return self._keep(name, file, mime or guess_mime(name))

    def keep_bytes(self, name: str, content: bytes, mime: str) -> ArtifactRef:
        """Keeps bytes (a displayed image, a long text) as an artifact.

        Raises:
            WorkspaceError: larger than `MAX_ARTIFACT_BYTES`, or the disk is full.
        """
        if len(content) > MAX_ARTIFACT_BYTES:
            raise _too_large(name, MAX_ARTIFACT_BYTES)
        return self._keep(name, io.BytesIO(content), mime)

    def snapshot(self) -> dict[str, tuple[int, int]]:
        """Every regular file that is no dot-file: name -> (mtime_ns, size_bytes). For finding what a cell made."""
        with self._opened_files() as folder:
            return dict(walk_files(folder))

    def total_bytes(self) -> int:
        """What all files take, dot-files too; holes in them do not count."""
        with self._opened_files() as folder:
            return total_bytes(folder)

    def excess(self) -> str:
        """Why it holds too much, as a clause; empty where it does not. What a user handed over counts for nothing."""
        with self._opened_files() as folder:
            return excess(folder, MAX_WORKSPACE_BYTES + self._handed_over())

    def kept_bytes(self) -> int:
        """What all artifacts take."""
        try:
            folder = os.open(self.artifacts, _FOLDER)
        except OSError:
            return 0
        try:
            return total_bytes(folder)
        finally:
            os.close(folder)

    def adopt(self, folder: Path, owner: int = 0) -> None:
        """Makes ``folder`` the session's ``files/`` and moves what is there into it.

        A kernel that was started before it had a session has that folder mounted; a mount follows its folder.

        Args:
            folder: On the same file system; it is gone from its place afterwards.
            owner: The user id that all of it shall belong to; 0 leaves it as it is.

        Raises:
            WorkspaceError: the folder could not be moved.
        """
        self._recover()
        with self._locked(fcntl.LOCK_EX), _errors(str(self.files)):
            os.rename(folder, self._incoming)
            self.files.mkdir(mode=0o700, exist_ok=True)
            move_entries(self.files, self._incoming)
            if owner:
                own_everything(self._incoming, owner)
            # Replaces the folder that is empty by now, in one step: there is no instant without files/.
            os.rename(self._incoming, self.files)

    # --- inside --------------------------------------------------------------------------------------------

    @property
    def _incoming(self) -> Path:
        return self.root / "files.next"

    def _recover(self) -> None:
        """Takes back what a runtime that died in `adopt` had moved already."""
        with self._locked(fcntl.LOCK_EX), _errors(str(self.files)):
            if self._incoming.is_dir() and not self._incoming.is_symlink():
                self.files.mkdir(mode=0o700, exist_ok=True)
                move_entries(self._incoming, self.files)
                os.rmdir(self._incoming)

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        with _errors(str(self.root)):
            make_private(self.root)
            lock = os.open(self.root, _FOLDER)
        try:
            fcntl.flock(lock, how)
            yield
        finally:
            os.close(lock)

    @contextmanager
    def _opened_files(self) -> Iterator[int]:
        """The folder of files, made where it is missing; it stays the same one while it is open."""
        if self._incoming.exists():
            self._recover()
        with self._locked(fcntl.LOCK_SH):
            with _errors(str(self.files)):
                self.files.mkdir(mode=0o700, exist_ok=True)
                folder = open_folder(self.files)
            try:
                yield folder
            finally:
                os.close(folder)

    def _put(self, wanted: str, source: BinaryIO, size: int, shown: str) -> str:
        """Copies what is new under a free name; what is there already under that name is found again."""
        with self._opened_files() as folder, _errors(shown):
            digest = _copy(source, len, MAX_UPLOAD_BYTES, shown)
            for candidate in _numbered(wanted):
                if _holds(folder, candidate, size, digest):
                    return candidate
                _check_room(folder, size, shown)
                source.seek(0)
                with suppress(FileExistsError):
                    _create(folder, candidate, source, shown)
                    self._note_size(size)
                    return candidate
        raise WorkspaceError(shown, "too many files have this name already.")

    def _note_size(self, size: int) -> None:
        """Written beside ``files/``, where no code can reach it."""
        with (self.root / _SIZES).open("a", encoding="utf-8") as sizes:
            sizes.write(f"{size}\n")

    def _handed_over(self) -> int:
        try:
            return sum(map(int, (self.root / _SIZES).read_text(encoding="utf-8").split()))
        except (OSError, ValueError):
            return 0

    def _keep(self, name: str, file: BinaryIO, mime: str) -> ArtifactRef:
        suffix = _safe_suffix(name)
        hidden = self.artifacts / f".incoming-{secrets.token_hex(6)}"
        with _errors(name):
            make_private(self.artifacts)
            try:
                with os.fdopen(os.open(hidden, _CREATE, 0o600), "wb") as copy:
                    digest = _copy(file, copy.write, MAX_ARTIFACT_BYTES, name)
                    size = copy.tell()
                kept = self.artifacts / f"{digest}{suffix}"
                os.rename(hidden, kept)
            finally:
                hidden.unlink(missing_ok=True)
        return ArtifactRef(str(kept.absolute()), mime, name, size, digest)


# --- names and types ---------------------------------------------------------------------------------------


def clean_name(name: str) -> str:
    """A name that is safe as a file's: the base name without control characters, no dot at its start, not too long.

    Raises:
        WorkspaceError: nothing is left of it.
    """
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    # What was no UTF-8 stands as lone surrogates, which no JSON can carry.
    base = base.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    base = "".join(char for char in base if char.isprintable()).strip().lstrip(".").strip()
    if not base:
        raise WorkspaceError(name, "it has no usable name; give it one with letters or digits.")
    stem, suffix = os.path.splitext(base)
    if len(base.encode()) > MAX_NAME_BYTES:
        suffix = suffix if len(suffix.encode()) <= 20 else ""
        base = stem.encode()[: MAX_NAME_BYTES - 20].decode("utf-8", "ignore") + suffix
    return base


def guess_mime(name: str) -> str:
    """The media type by the name's suffix; nothing is parsed."""
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def _safe_suffix(name: str) -> str:
    suffix = os.path.splitext(name)[1]
    return suffix if suffix[1:].isalnum() and suffix.isascii() and len(suffix) <= 12 else ""


def _numbered(name: str) -> Iterator[str]:
    stem, suffix = os.path.splitext(name)
    yield name
    for number in range(1, 1000):
        yield f"{stem}-{number}{suffix}"


# --- reading and writing -----------------------------------------------------------------------------------


def _check_room(folder: int, size: int, name: str) -> None:
    """One file may be larger than all that fits, where it is alone."""
    if total_bytes(folder) + size > max(MAX_WORKSPACE_BYTES, size):
        raise WorkspaceError(
            name, f"with it the workspace would hold more than {MAX_WORKSPACE_BYTES >> 20} MiB; delete some files."
        )


def _create(folder: int, name: str, source: BinaryIO, shown: str) -> None:
    """A new file; it belongs to whom the folder belongs to, which may be the kernel's own user."""
    with os.fdopen(os.open(name, _CREATE, 0o600, dir_fd=folder), "wb", buffering=0) as file:
        owner = os.fstat(folder)
        try:
            if os.geteuid() == 0 and owner.st_uid != 0:
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            _copy(source, file.write, MAX_UPLOAD_BYTES, shown)
        except BaseException:
            os.unlink(name, dir_fd=folder)
            raise


def _copy(source: BinaryIO, sink: Callable[[bytes], object], limit: int, name: str) -> str:
    """Copies at most ``limit`` bytes, however the file may grow meanwhile; returns their sha256."""
    digest, left = hashlib.sha256(), limit
    while chunk := source.read(_CHUNK_BYTES):
        left -= len(chunk)
        if left < 0:
            raise _too_large(name, limit)
        digest.update(chunk)
        sink(chunk)
    return digest.hexdigest()


def _regular(descriptor: int, name: str) -> BinaryIO:
    """The descriptor as a file, if it is one; else it is closed."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WorkspaceError(name, "it is no regular file; only files can be read.")
    return os.fdopen(descriptor, "rb")


def _size_of(file: BinaryIO, name: str, limit: int) -> int:
    size = os.fstat(file.fileno()).st_size
    if size > limit:
        raise _too_large(name, limit)
    return size


def _holds(folder: int, name: str, size: int, digest: str) -> bool:
    """Whether a file of that name has that content."""
    try:
        with _regular(os.open(name, _READ, dir_fd=folder), name) as file:
            return _size_of(file, name, size) == size and _copy(file, len, size, name) == digest
    except (OSError, WorkspaceError):
        return False


def _too_large(name: str, limit: int) -> WorkspaceError:
    return WorkspaceError(name, f"it is larger than {limit >> 20} MiB; give a smaller file.")


@contextmanager
def _errors(name: str) -> Iterator[None]:
    """Turns the system's errors into ours."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise _refused(name, error) from error


def _refused(name: str, error: Exception) -> WorkspaceError:
    if not isinstance(error, OSError):
        # Python words it differently in each version: a NUL, or what the locale can not encode.
        return WorkspaceError(name, "it is no path; a character in it can not stand in one.")
    code = error.errno
    problems = {
        errno.ENOENT: "there is no such file.",
        errno.EACCES: "it can not be read; check its permissions.",
        errno.EPERM: "it can not be read; check its permissions.",
        errno.ELOOP: "it is a link; only the file itself can be read.",
        errno.ENOTDIR: "a part of its path is no folder.",
        errno.EISDIR: "it is a folder; name a file.",
        errno.EEXIST: "something else has this name.",
        errno.ENXIO: "it is no regular file; only files can be read.",
        errno.ENAMETOOLONG: "its name is too long.",
        errno.ENOSPC: "the disk is full.",
        errno.EDQUOT: "the disk quota is used up.",
        errno.EROFS: "the folder is read-only.",
    }
    return WorkspaceError(name, problems.get(code or 0, f"{error}."))
