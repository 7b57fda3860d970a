"""The Backend contract: where the files of a board are. Four methods; what more one can do is optional."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import TypeAlias

import anyio
import msgspec

from roles_runtime.errors import TaskError

INTENT = ".intent"
"""The file that says what stood where, while several files are changed."""

UNDO_S = 5.0
"""How long a change that failed may take to be undone at once; what is left is undone at the next load."""

Contents: TypeAlias = Mapping[str, str | None]
"""Paths, and what is to stand there; None where nothing is."""


class FileInfo(msgspec.Struct, frozen=True):
    """A file as it is listed.

    Attributes:
        path: Where it is; of what a backend says, a board trusts the last part alone.
        is_dir: Whether it is a folder.
        size: In bytes, as UTF-8; 0 where the backend does not say.
        modified_at: RFC 3339, or empty.
    """

    path: str
    is_dir: bool = False
    size: int = 0
    modified_at: str = ""


class Backend(ABC):
    """Keeps small text files.

    A backend of your own needs the first four methods and passes `tests/contracts/test_task_backend.py`. It may raise
    whatever it likes: the model is told, and the board stays whole.
    """

    @abstractmethod
    async def ls_info(self, path: str) -> Sequence[FileInfo]:
        """What stands in a folder, in any order; nothing where there is no such folder.

        Raises:
            OSError: it can not be listed.
        """

    @abstractmethod
    async def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            FileNotFoundError: there is none.
            OSError, ValueError: it can not be read.
        """

    @abstractmethod
    async def write(self, path: str, content: str) -> None:
        """Makes a file, or replaces it.

        Raises:
            OSError: it was not written.
        """

    @abstractmethod
    async def delete(self, path: str) -> None:
        """Deletes a file; nothing happens where there is none.

        Raises:
            OSError: it was not deleted.
        """

    def held(self) -> AbstractAsyncContextManager[None]:
        """Holds the files against other processes, for one operation of a board. By default there are none.

        Raises:
            TaskError: others held them for too long.
        """
        return nullcontext()

    async def state(self) -> str:
        """Changes whenever a file does, whoever changes it; empty where nobody can tell, so that all is read again."""
        return ""

    async def names(self, folder: str) -> Collection[str]:
        """The names of the files in a folder: of what is listed, the last part alone."""
        return {info.path.rpartition("/")[2] for info in await self.ls_info(folder) if not info.is_dir}

    async def read_all(self, paths: Sequence[str]) -> Mapping[str, str | Exception]:
        """The text of each file, or why it can not be read. By default they are read one after the other."""
        found: dict[str, str | Exception] = {}
        for path in paths:
            try:
                found[path] = await self.read(path)
            except Exception as error:  # a backend is anybody's: one file that it can not read is not the board's end
                found[path] = error
        return found

    async def change(self, folder: str, contents: Contents) -> None:
        """Changes several files: all of them, or none after `undo`.

        By default what stood there is noted in one file first. That file goes when all is changed; where it stands
        at a load, the change was cut in the middle, and nobody was told that it was made.

        Raises:
            Exception: whatever kept it from being made.
        """
        if len(contents) == 1:
            for path, content in contents.items():
                await self._put(path, content)
            return
        before = {path: await self._content(path) for path in contents}
        intent = f"{folder}/{INTENT}"
        await self.write(intent, intent_of(before))
        try:
            for path, content in contents.items():
                await self._put(path, content)
            await self.delete(intent)
        except Exception:
            await self.try_undo(folder)
            raise

    async def undo(self, folder: str) -> None:
        """Undoes a change that was cut in the middle, if one was.

        Raises:
            Exception: whatever kept it from being undone.
        """
        intent = f"{folder}/{INTENT}"
        noted = await self._content(intent)
        if noted is None:
            return
        for path, content in _noted(folder, noted).items():
            await self._put(path, content)
        await self.delete(intent)

    async def try_undo(self, folder: str) -> None:
        """Undoes a change that failed, at once if it can be: what is left, the next load undoes."""
        with anyio.move_on_after(UNDO_S), suppress(Exception):
            # What keeps files from being changed may keep them from being restored too.
            await self.undo(folder)

    async def _put(self, path: str, content: str | None) -> None:
        await (self.delete(path) if content is None else self.write(path, content))

    async def _content(self, path: str) -> str | None:
        try:
            return await self.read(path)
        except FileNotFoundError:
            return None


def intent_of(before: Contents) -> str:
    """What an intent file says: what stood where."""
    return json.dumps(dict(before), ensure_ascii=False, separators=(",", ":"))


def _noted(folder: str, text: str) -> dict[str, str | None]:
    """What an intent file says, its paths taken for names in the folder."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        # It was cut while it was written itself, by a backend whose writes are not atomic: nothing was changed yet.
        return {}
    if not isinstance(found, dict) or not all(isinstance(each, str | None) for each in found.values()):
        raise TaskError(f"{folder}/{INTENT} is not ours; look at it and remove it")
    return {f"{folder}/{path.rpartition('/')[2]}": content for path, content in found.items()}
