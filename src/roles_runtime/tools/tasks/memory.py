"""A Backend in memory."""

from __future__ import annotations

from collections.abc import Sequence

from roles_runtime.tools.tasks.backend import Backend, FileInfo


class MemoryFiles(Backend):
    """Files that live as long as this object.

    Attributes:
        files: The texts by path.
    """

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self._changes = 0

    async def ls_info(self, path: str) -> Sequence[FileInfo]:
        """The files right in a folder."""
        folder = path.rstrip("/")
        return [
            FileInfo(each, size=len(text.encode()))
            for each, text in self.files.items()
            if each.rpartition("/")[0] == folder
        ]

    async def read(self, path: str) -> str:
        """A file's text."""
        try:
            return self.files[path]
        except KeyError:
            raise FileNotFoundError(f"there is no file {path}") from None

    async def write(self, path: str, content: str) -> None:
        """Makes a file, or replaces it."""
        self._changes += 1
        self.files[path] = content

    async def delete(self, path: str) -> None:
        """Deletes a file, if it is there."""
        self._changes += 1
        self.files.pop(path, None)

    async def state(self) -> str:
        """How many changes there were."""
        return str(self._changes)
