"""Walking a folder that somebody else may be changing: by descriptors, never through a link, within bounds."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MAX_FILES = 20_000
MAX_DEPTH = 12
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
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
    return sum(status.st_blocks * 512 for _, status in _walk(folder, "", MAX_DEPTH, hidden=True))


def bytes_below(folder: Path) -> int:
    """What all in a folder takes on the disk; nothing where there is none."""
    try:
        descriptor = os.open(folder, _FOLDER)
    except OSError:
        return 0
    try:
        return total_bytes(descriptor)
    finally:
        os.close(descriptor)


def _walk(folder: int, prefix: str, depth: int, *, hidden: bool) -> Iterator[tuple[str, os.stat_result]]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if not hidden and (name.startswith(".") or name in _UNSEEN or not _speakable(name)):
            continue
        with suppress(OSError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                yield prefix + name, status
            elif depth:
                inner = os.open(name, _FOLDER, dir_fd=folder)
                try:
                    yield from _walk(inner, f"{prefix}{name}/", depth - 1, hidden=hidden)
                finally:
                    os.close(inner)


def _speakable(name: str) -> bool:
    """Whether a name can stand in JSON and on a terminal."""
    return name.isprintable()


def move_entries(source: Path, target: Path) -> None:
    """Moves all that is in one folder into another of the same file system; a name that is taken there is replaced.

    Raises:
        OSError: something could not be moved.
    """
    here, there = os.open(source, _FOLDER), os.open(target, _FOLDER)
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
    inner = os.open(name, _FOLDER, dir_fd=folder)
    try:
        os.fchmod(inner, 0o700)
    finally:
        os.close(inner)


def own_everything(root: Path, owner: int) -> None:
    """Gives a folder and all in it to a user; links are given away themselves, not what they lead to."""
    os.chown(root, owner, owner, follow_symlinks=False)
    for _, folders, files, descriptor in os.fwalk(root, follow_symlinks=False):
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                os.chown(name, owner, owner, dir_fd=descriptor, follow_symlinks=False)
