"""The only door to a session's files. What lies behind it was written by code that nobody trusts."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from roles_runtime.posts.conversation import ArtifactRef

MAX_UPLOAD_BYTES = 2 << 30
MAX_ARTIFACT_BYTES = 256 << 20
MAX_WORKSPACE_BYTES = 1 << 30


class Workspace:
    """A session's folder: ``files/`` (what code sees as its current folder) and ``artifacts/`` (kept copies).

    Every path is opened by folder descriptor with O_NOFOLLOW and O_NONBLOCK; only regular files are read.
    Calls block and are made from a worker thread (``anyio.to_thread``) by those in the event loop.
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

        Raises:
            WorkspaceError: missing, no regular file, unreadable, empty name, too large, or the disk is full.
        """
        raise NotImplementedError

    def write(self, name: str, content: bytes) -> str:
        """Writes a file of ours (a long result, an upload's bytes), never over another; returns its name."""
        raise NotImplementedError

    def open(self, name: str) -> BinaryIO:
        """Opens a file of the workspace for reading.

        Raises:
            WorkspaceError: it is outside, a link, no regular file, or missing.
        """
        raise NotImplementedError

    def keep(self, name: str, mime: str | None = None) -> ArtifactRef:
        """Copies a file of the workspace to ``artifacts/``, by its content."""
        raise NotImplementedError

    def keep_bytes(self, name: str, content: bytes, mime: str) -> ArtifactRef:
        """Keeps bytes (a displayed image, a long text) as an artifact."""
        raise NotImplementedError

    def snapshot(self) -> dict[str, tuple[int, int]]:
        """Every regular file that is no dot-file: name -> (mtime_ns, size_bytes). For finding what a cell made."""
        raise NotImplementedError
