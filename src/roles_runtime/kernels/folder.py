"""Walking a folder that somebody else may be changing: by descriptors, never through a link, within bounds."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

MAX_FILES = 20_000
MAX_DEPTH = 12
MAX_ENTRIES = 200_000
MAX_NESTED = 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ITSELF = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_UNSEEN = frozenset({"__pycache__"})


def make_private(folder: Path) -> None:
    """Makes a folder, and each of its parents that is missing, for its owner alone."""
    if folder.is_dir():
        return
    make_private(folder.parent)
    folder.mkdir(0o700, exist_ok=True)


def walk_files(folder: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each regular file below an open folder: (name, (mtime_ns, size_bytes)); nothing that begins with a dot."""
    count = 0
    for name, status in _walk(folder, "", MAX_DEPTH, hidden=False):
        if stat.S_ISREG(status.st_mode):
            count += 1
            if count > MAX_FILES:
                return
            yield name, (status.st_mtime_ns, status.st_size)


def total_bytes(folder: int) -> int:
    """What all below an open folder takes on the disk."""
    return sum(status.st_blocks * 512 for _, status in _walk(folder, "", MAX_NESTED, hidden=True))


def excess(folder: int, most_bytes: int) -> str:
    """Why what is below an open folder is too much, as a clause; empty where it is not. It looks no further than that.

    Small files and deep folders take little by themselves, but a disk has only so many, and whoever walks through
    them pays for each.
    """
    size = 0
    for count, (name, status) in enumerate(_walk(folder, "", MAX_NESTED, hidden=True)):
        size += status.st_blocks * 512
        if size > most_bytes:
            return f"more than {most_bytes >> 20} MiB"
        if count > MAX_ENTRIES:
            return f"more than {MAX_ENTRIES} files"
        if stat.S_ISDIR(status.st_mode) and name.count("/") >= MAX_NESTED:
            return f"folders nested deeper than {MAX_NESTED}"
    return ""


def excess_below(folder: Path, most_bytes: int) -> str:
    """As `excess`, by the folder's name; empty where there is none."""
    try:
        descriptor = open_folder(folder)
    except OSError:
        return ""
    try:
        return excess(descriptor, most_bytes)
    finally:
        os.close(descriptor)


def open_folder(folder: Path) -> int:
    """Opens a folder that somebody else may have locked us out of.

    Raises:
        OSError: it is no folder, or not ours.
    """
    above = os.open(folder.parent, _FOLDER & ~os.O_NOFOLLOW)
    try:
        opened = _enter(folder.name, above)
    finally:
        os.close(above)
    with suppress(PermissionError):
        if stat.S_IMODE(os.fstat(opened).st_mode) & 0o700 != 0o700:
            os.fchmod(opened, 0o700)
    return opened


def _walk(folder: int, prefix: str, depth: int, *, hidden: bool) -> Iterator[tuple[str, os.stat_result]]:
    """All that is below an open folder, folders before what is in them, down to so many levels."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if not hidden and (name.startswith(".") or name in _UNSEEN or not _speakable(name)):
            continue
        with suppress(OSError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            yield prefix + name, status
            if stat.S_ISDIR(status.st_mode) and depth:
                inner = _enter(name, folder)
                try:
                    yield from _walk(inner, f"{prefix}{name}/", depth - 1, hidden=hidden)
                finally:
                    os.close(inner)


def _enter(name: str, folder: int) -> int:
    """Opens a folder in another; where its owner took the right to do so from himself, it is given back.

    Raises:
        OSError: it is no folder, or not ours.
    """
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:
        # The name may lead elsewhere in the next instant; this descriptor can not.
        itself = os.open(name, _ITSELF, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{itself}", 0o700)
            return os.open(".", _FOLDER, dir_fd=itself)
        finally:
            os.close(itself)


def _speakable(name: str) -> bool:
    """Whether a name can stand in JSON and on a terminal."""
    return name.isprintable()


def move_entries(source: Path, target: Path) -> None:
    """Moves all that is in one folder into another of the same file system; a name that is taken there is replaced.

    Raises:
        OSError: something could not be moved.
    """
    here, there = open_folder(source), open_folder(target)
    try:
        for name in os.listdir(here):
            try:
                os.rename(name, name, src_dir_fd=here, dst_dir_fd=there)
            except PermissionError:
                # A folder without write permission can not change its parent.
                _make_writable(name, here)
                os.rename(name, name, src_dir_fd=here, dst_dir_fd=there)
    finally:
        os.close(here)
        os.close(there)


def _make_writable(name: str, folder: int) -> None:
    inner = _enter(name, folder)
    try:
        os.fchmod(inner, 0o700)
    finally:
        os.close(inner)


def own_everything(root: Path, owner: int) -> None:
    """Gives a folder and all in it to a user; links are given away themselves, not what they lead to.

    Raises:
        OSError: it is not ours to give.
    """
    folder = open_folder(root)
    try:
        os.fchown(folder, owner, owner)
        _own_entries(folder, owner, MAX_NESTED)
    finally:
        os.close(folder)


def _own_entries(folder: int, owner: int, depth: int) -> None:
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):
            os.chown(name, owner, owner, dir_fd=folder, follow_symlinks=False)
            if depth and stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                inner = _enter(name, folder)
                try:
                    _own_entries(inner, owner, depth - 1)
                finally:
                    os.close(inner)


def remove_tree(root: Path) -> None:
    """Removes a folder and all below it, however deep it goes and whatever its permissions are; links are not followed.

    What can not be removed stays, and nothing is raised. Folders are taken out of those that hold them and put side
    by side, so that no depth costs a stack or descriptors.
    """
    try:
        top = open_folder(root)
    except OSError:
        return
    try:
        while (names := os.listdir(top)) and sum(_remove_entry(name, top) for name in names):
            pass
    except OSError:
        return
    finally:
        os.close(top)
    with suppress(OSError):
        os.rmdir(root)


def _remove_entry(name: str, top: int) -> bool:
    """Removes a file, or a folder whose own folders are moved up; returns whether it is gone."""
    with suppress(OSError):
        os.unlink(name, dir_fd=top)
        return True
    with suppress(OSError):
        _make_writable(name, top)
        folder = os.open(name, _FOLDER, dir_fd=top)
        try:
            for entry in os.listdir(folder):
                _take_out(entry, folder, top)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)
        return True
    return False


def _take_out(name: str, folder: int, top: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        # A folder changes its parent only if it can be written to.
        _make_writable(name, folder)
        os.rename(name, token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
