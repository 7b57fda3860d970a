"""The TaskBoard: the one owner of the tasks of a session. Whoever works with them asks it, one at a time."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TypeAlias

import anyio
import msgspec
from pydantic import JsonValue

from roles_runtime.errors import StoreError, TaskError
from roles_runtime.tools.tasks import change as rules
from roles_runtime.tools.tasks.backend import Backend
from roles_runtime.tools.tasks.change import Change, Who
from roles_runtime.tools.tasks.graph import Sketch, check_id, symmetric, unblocked
from roles_runtime.tools.tasks.task import DELETED, Task, decode_task, file_of, number_of

MARK = ".highwatermark"
"""The file that holds the last number that was given."""

NOBODY = Who()
"""Who asks where nobody says: whoever works with the board himself, and owns no task."""

_MARK = re.compile(r"[0-9]{1,200}")


class Listing(msgspec.Struct, frozen=True):
    """A board as it stands.

    Attributes:
        tasks: By number.
        blockers: What each task that waits waits for: open tasks alone.
        skipped: The files that hold no task, and why.
    """

    tasks: tuple[Task, ...]
    blockers: Mapping[str, tuple[str, ...]]
    skipped: tuple[str, ...]


class OpenTasks(msgspec.Struct, frozen=True):
    """What is open on a board: the first of it.

    Attributes:
        tasks: The first ones, by number.
        blockers: What each of these that waits waits for.
        more: How many open ones there are beside these.
    """

    tasks: tuple[Task, ...] = ()
    blockers: Mapping[str, tuple[str, ...]] = {}
    more: int = 0


NONE_OPEN = OpenTasks()
"""What is told where nothing is open."""


class Updated(msgspec.Struct, frozen=True):
    """What came of an update.

    Attributes:
        task: As it is now, or was before it was deleted.
        fields: What the update was about, in order; empty where it asked for nothing.
        deleted: Whether it is gone.
        unblocked: What waits for nothing any more.
        blockers: What it was completed in spite of.
        finished: Whether all is completed, so that the board was cleared.
        left: Why it could not be cleared, if it could not.
    """

    task: Task
    fields: tuple[str, ...] = ()
    deleted: bool = False
    unblocked: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    finished: bool = False
    left: str = ""


class Moved(msgspec.Struct, frozen=True):
    """A task that was written.

    Attributes:
        before: As it was, or None where it was not there.
        after: As it is, or None where it is gone.
    """

    before: Task | None
    after: Task | None


Moves: TypeAlias = list[Moved]

Tell: TypeAlias = Callable[[Sequence[Moved]], Awaitable[None]]
"""Is told of what a call wrote, while nobody else is at the board."""


class TaskBoard:
    """The tasks in a folder of a backend. All methods may be called side by side; they take effect in that order.

    What it raises is a `TaskError`, whatever the backend raised; only a journal that can not be written is no fault
    that a model could mend, and goes through as a `StoreError`.
    """

    def __init__(self, backend: Backend, base_dir: str = "tasks") -> None:
        """Reads nothing yet."""
        self._backend, self._folder = backend, base_dir.rstrip("/")
        self._lock = anyio.Lock(fast_acquire=True)
        self._state = ""
        self._tasks: dict[str, Task] = {}
        self._skipped: tuple[str, ...] = ()
        self._last = self._mark = 0

    async def create(
        self,
        subject: str,
        description: str,
        *,
        active_form: str = "",
        metadata: Mapping[str, JsonValue] | None = None,
        tell: Tell | None = None,
    ) -> Task:
        """Makes a task, pending and nobody's, with a number that no other ever had.

        Args:
            subject: What is to be done, in a few words.
            description: The same in detail.
            active_form: What is shown while it is in progress.
            metadata: Whatever else belongs to it.
            tell: Is told of what was written.

        Raises:
            TaskError: it could not be written; its number is not given again.
        """
        async with self._open("list files"):
            number = max(self._last, self._mark) + 1
            task = Task(
                id=str(number),
                subject=subject,
                description=description,
                active_form=active_form,
                metadata=metadata or {},
            )
            with _told("update highwatermark file failed"):
                self._state = ""
                await self._backend.write(self._path(MARK), task.id)
                self._mark = self._last = number
            with _told(f"create Task #{task.id} failed"):
                moved = await self._write({task.id: task})
            if tell is not None:
                await tell(moved)
            return task

    async def get(self, task_id: str) -> tuple[Task, tuple[str, ...]]:
        """A task, and what it waits for: open tasks alone.

        Raises:
            TaskError: there is none of that id.
        """
        check_id(task_id, "validate task ID failed")
        async with self._open("list tasks"):
            if task_id not in self._tasks:
                raise TaskError(f"get Task #{task_id} failed, err: {self._missing(task_id)}")
            task = self._tasks[task_id]
            return task, Sketch(self._tasks).open_blockers(task)

    async def list(self) -> Listing:
        """All tasks.

        Raises:
            TaskError: the backend could not list them.
        """
        async with self._open("list tasks"):
            tasks = tuple(self._tasks.values())
            return Listing(tasks, self._blockers(tasks), self._skipped)

    async def open_tasks(self, most: int) -> OpenTasks:
        """The first open tasks. It costs next to nothing where nothing is open: it is asked for before each turn.

        Raises:
            TaskError: the backend could not list them.
        """
        if await self._is_known():
            return self._open_tasks(most)
        async with self._open("list tasks"):
            return self._open_tasks(most)

    def _open_tasks(self, most: int) -> OpenTasks:
        left = [task for task in self._tasks.values() if task.is_open] if self._tasks else ()
        if not left:
            return NONE_OPEN
        return OpenTasks(tuple(left[:most]), self._blockers(left[:most]), max(len(left) - most, 0))

    def _blockers(self, tasks: Iterable[Task]) -> dict[str, tuple[str, ...]]:
        sketch = Sketch(self._tasks)
        return {task.id: open_ for task in tasks if (open_ := sketch.open_blockers(task))}

    async def update(
        self, task_id: str, change: Change, who: Who = NOBODY, *, strict: bool = False, tell: Tell | None = None
    ) -> Updated:
        """Changes a task, and what it has to do with others: all of it or nothing.

        Args:
            task_id: Which one.
            change: What is asked for.
            who: Who asks for it.
            strict: Whether moves backwards, and completing what is blocked, are refused.
            tell: Is told of all that was written.

        Raises:
            TaskError: it asks for what can not be, or could not be written; the board is as it was.
        """
        check_id(task_id, "validate task ID failed")
        rules.check_status(change)
        async with self._open("list tasks"):
            if task_id not in self._tasks:
                raise TaskError(f"Task #{task_id} {self._missing(task_id)}")
            moved: Moves = []
            try:
                if change.status == DELETED:
                    return await self._delete(self._tasks[task_id], who, moved)
                return await self._change(task_id, change, who, strict, moved)
            finally:
                # Also where the board could not be cleared: what was written was.
                if tell is not None and moved:
                    await tell(moved)

    async def _change(self, task_id: str, change: Change, who: Who, strict: bool, moved: Moves) -> Updated:
        sketch = Sketch(self._tasks)
        names = rules.apply(sketch, task_id, change, who, strict=strict)
        task = sketch[task_id]
        candidates = (*task.blocks, *change.remove_blocks, task_id)
        free = unblocked(self._tasks, sketch, candidates)
        blockers = sketch.open_blockers(task) if change.status == "completed" else ()
        with _told(f"write Task #{task_id} failed"):
            moved += await self._write(sketch.changed())
        if change.status != "completed" or any(each.is_open for each in self._tasks.values()) or self._skipped:
            return Updated(task, tuple(names), unblocked=free, blockers=blockers)
        left = await self._clear(moved)
        return Updated(task, tuple(names), unblocked=free, blockers=blockers, finished=not left, left=left)

    async def _delete(self, task: Task, who: Who, moved: Moves) -> Updated:
        rules.check_owner(task, who, "deleted")
        sketch = Sketch(self._tasks)
        rules.delete(sketch, task)
        free = tuple(each for each in unblocked(self._tasks, sketch, task.blocks) if each != task.id)
        others = {each.id: each for each in sketch.changed().values() if each.id != task.id}
        with _told(f"delete Task #{task.id} failed"):
            moved += await self._write({**others, task.id: None})
        return Updated(task, deleted=True, unblocked=free)

    async def _clear(self, moved: Moves) -> str:
        """Deletes all tasks, which are completed; why it could not, if it could not."""
        try:
            with _told("check and delete all tasks failed"):
                moved += await self._write(dict.fromkeys(self._tasks))
        except TaskError as error:
            return str(error)
        return ""

    # --- files -----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _open(self, doing: str) -> AsyncIterator[None]:
        """Holds the board, which is as its files are."""
        async with self._lock, AsyncExitStack() as stack:
            with _told(f"{doing} failed"):
                await stack.enter_async_context(self._backend.held())
                if not self._state or self._state != await self._backend.state():
                    await self._load()
            yield

    async def _is_known(self) -> bool:
        """Whether nobody is at the board, or about to be, and all is as it was read."""
        try:
            state = await self._backend.state()
        except Exception:  # whoever opens the board hears of it
            return False
        return state != "" and state == self._state and not self._lock.locked()

    async def _load(self) -> None:
        """Reads all files. One that holds no task is skipped and named; its number stays taken."""
        self._state = ""
        await self._backend.undo(self._folder)
        tasks: list[Task] = []
        skipped: dict[int, str] = {}
        names = await self._backend.names(self._folder)
        numbers = {name: number for name in names if (number := number_of(name)) is not None}
        wanted = [*numbers, MARK] if MARK in names else numbers
        texts = await self._backend.read_all([self._path(name) for name in wanted])
        for name, number in numbers.items():
            try:
                tasks.append(decode_task(name, _text_of(texts[self._path(name)])))
            except Exception as error:  # a file may hold anything, and a backend raise anything
                skipped[number] = f"{name}: {error}"
        self._tasks = symmetric(tasks)
        self._skipped = tuple(skipped[number] for number in sorted(skipped))
        self._last = max(self._last, *numbers.values(), 0)
        self._mark = _mark_of(texts[self._path(MARK)]) if MARK in names else 0
        self._state = await self._backend.state()

    async def _write(self, tasks: Mapping[str, Task | None]) -> Sequence[Moved]:
        """Writes tasks, None for one that goes; the board is read again if that fails."""
        if not tasks:
            return ()
        self._state = ""
        files = {self._path(file_of(each)): task.encode() if task else None for each, task in tasks.items()}
        if None in files.values() and self._mark < self._last:
            # The numbers of files that go are remembered by the mark alone.
            await self._backend.write(self._path(MARK), str(self._last))
            self._mark = self._last
        await self._backend.change(self._folder, files)
        moved = [Moved(self._tasks.get(task_id), task) for task_id, task in tasks.items()]
        for task_id, task in tasks.items():
            if task is None:
                self._tasks.pop(task_id, None)
            else:
                self._tasks[task_id] = task
        self._state = await self._backend.state()
        return moved

    @property
    def folder(self) -> str:
        """Where its files are in the backend."""
        return self._folder

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def _missing(self, task_id: str) -> str:
        name = file_of(task_id)
        problems = [each for each in self._skipped if each.startswith(f"{name}: ")]
        return f"can not be read: {problems[0]}" if problems else "not found"


def _text_of(found: str | Exception) -> str:
    if isinstance(found, Exception):
        raise found
    return found


def _mark_of(found: str | Exception) -> int:
    try:
        text = _text_of(found)
    except (FileNotFoundError, ValueError):
        return 0
    return int(text) if _MARK.fullmatch(text) else 0


@contextmanager
def _told(doing: str) -> Iterator[None]:
    """Says of whatever a backend raises what it was in the way of."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        raise TaskError(f"{doing}, err: {str(error) or type(error).__name__}") from error
