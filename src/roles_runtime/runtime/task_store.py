"""The board of a session in its journal: each change of a task is an event, and a change of several is one append."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from roles_runtime.errors import TaskError
from roles_runtime.posts.event import TaskChanged
from roles_runtime.runtime.ground import Home
from roles_runtime.runtime.journal import Keyed
from roles_runtime.tools.tasks.backend import Backend, Contents, FileInfo
from roles_runtime.tools.tasks.board import MARK, TaskBoard
from roles_runtime.tools.tasks.task import DELETED, decode_task, file_of, number_of

FOLDER = "tasks"


class KeptTasks(msgspec.Struct):
    """The tasks of a session, folded from its journal.

    Attributes:
        files: The texts of those on the board, by id.
        done: The texts of those that were completed when they were taken off, by id.
        last: The highest number that was given.
        changes: How many there were.
    """

    files: dict[str, str] = msgspec.field(default_factory=dict)
    done: dict[str, str] = msgspec.field(default_factory=dict)
    last: int = 0
    changes: int = 0

    def take(self, event: TaskChanged) -> None:
        """Folds the next change in."""
        self.changes += 1
        self.last = max(self.last, int(event.task_id))
        if event.task:
            self.files[event.task_id] = event.task
            return
        text = self.files.pop(event.task_id, "")
        if event.previous == "completed":
            self.done[event.task_id] = text


class _State(msgspec.Struct):
    status: str


class JournalTasks(Backend):
    """Keeps the files of a board in a session's journal. Only while a round runs can they be changed."""

    def __init__(self, session: Home, kept: KeptTasks) -> None:
        """Takes what was kept, which it keeps up to date."""
        self._session, self._kept = session, kept
        self._mark = str(kept.last) if kept.last else ""

    async def ls_info(self, path: str) -> Sequence[FileInfo]:
        """The tasks, and the last number."""
        tasks = [FileInfo(file_of(each), size=len(text.encode())) for each, text in self._kept.files.items()]
        return [*tasks, FileInfo(MARK, size=len(self._mark))] if self._mark else tasks

    async def read(self, path: str) -> str:
        """A file's text."""
        name = path.rpartition("/")[2]
        text = self._mark if name == MARK else self._kept.files.get(name.removesuffix(".json"), "")
        if not text:
            raise FileNotFoundError(f"there is no file {name}")
        return text

    async def write(self, path: str, content: str) -> None:
        """Writes a task into the journal. The last number needs no place there: it is that of a task."""
        if path.rpartition("/")[2] == MARK:
            self._mark = content
        else:
            await self.change(FOLDER, {path: content})

    async def delete(self, path: str) -> None:
        """Writes into the journal that a task is gone."""
        await self.change(FOLDER, {path: None})

    async def state(self) -> str:
        """How many changes there were."""
        return f"{self._kept.changes} {self._mark}"

    async def undo(self, folder: str) -> None:
        """Does nothing: an append is whole, or it is not."""

    async def change(self, folder: str, contents: Contents) -> None:
        """Writes all changes in one append.

        Raises:
            TaskError: no round runs that they could belong to.
            StoreError: they could not be written.
        """
        round_id = self._running()
        events = [self._event(round_id, path, content) for path, content in contents.items()]
        keyed: list[Keyed] = []
        for event in (each for each in events if each.previous or each.task):
            # Before the wait: what is handed to a journal is written, whoever waits for it. If it can not be, the
            # session reads all again.
            self._kept.take(event)
            keyed.append((event, f"{round_id}/task-{self._kept.changes}"))
        await self._session.journal.append(keyed)

    def _running(self) -> str:
        rounds = self._session.conversation.rounds
        if not rounds or not self._session.runs(rounds[-1].id):
            raise TaskError("the round that this belongs to is over")
        return rounds[-1].id

    def _event(self, round_id: str, path: str, content: str | None) -> TaskChanged:
        name = path.rpartition("/")[2]
        if number_of(name) is None:
            raise TaskError(f"{name} is no task's file")
        task_id = name.removesuffix(".json")
        before = self._kept.files.get(task_id, "")
        # It was checked when it came in.
        previous = msgspec.json.decode(before, type=_State).status if before else ""
        if content is None:
            return TaskChanged(round_id, task_id, previous, DELETED)
        task = decode_task(name, content)
        return TaskChanged(round_id, task_id, previous, task.status, task.owner, content)


def board_of(session: Home, kept: KeptTasks) -> TaskBoard:
    """The board of a session."""
    return TaskBoard(JournalTasks(session, kept), FOLDER)
