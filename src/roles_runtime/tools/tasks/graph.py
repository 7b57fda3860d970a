"""Tasks and what waits for what, as one change sees them: it is sketched whole before anything is written. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from roles_runtime.errors import TaskError
from roles_runtime.tools.tasks.task import Task, distinct, is_id


class Sketch:
    """The tasks of a board, with the changes of one update on top."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = tasks
        self._changed: dict[str, Task] = {}

    def __getitem__(self, task_id: str) -> Task:
        return self._changed.get(task_id) or self._tasks[task_id]

    def __contains__(self, task_id: str) -> bool:
        return task_id in self._tasks

    def before(self, task_id: str) -> Task:
        """The task as the board has it."""
        return self._tasks[task_id]

    def put(self, task: Task) -> None:
        """Puts a task in the place of what it was."""
        self._changed[task.id] = task

    def changed(self) -> dict[str, Task]:
        """What is another than before, by number."""
        other = [task for task in self._changed.values() if task != self._tasks.get(task.id)]
        return {task.id: task for task in sorted(other, key=lambda task: int(task.id))}

    def open_blockers(self, task: Task) -> tuple[str, ...]:
        """What a task waits for; a task that can not be read is not known to be done."""
        return tuple(each for each in task.blocked_by if each not in self or self[each].is_open)

    def block(self, task_id: str, targets: Sequence[str]) -> None:
        """Lets tasks wait for one.

        Raises:
            TaskError: a target is none, or waits for itself then.
        """
        before = self._search(task_id, forward=False)
        for target in targets:
            self._check(f"update Task #{task_id} blocks failed", "blocked", target)
            if target in before:
                raise _cyclic(f"Task #{target} to blocks of Task #{task_id}", [task_id, *_path(before, target)])
        for target in distinct(targets):
            self._join(task_id, target)

    def block_by(self, task_id: str, targets: Sequence[str]) -> None:
        """Lets one task wait for others.

        Raises:
            TaskError: a target is none, or the task waits for itself then.
        """
        after = self._search(task_id, forward=True)
        for target in targets:
            self._check(f"update Task #{task_id} blockedBy failed", "blocking", target)
            if target in after:
                cycle = [target, *reversed(_path(after, target))]
                raise _cyclic(f"Task #{target} to blockedBy of Task #{task_id}", cycle)
        for target in distinct(targets):
            self._join(target, task_id)

    def part(self, blocker: str, blocked: str) -> None:
        """Takes an edge out, on both sides, if it is there."""
        if blocker in self:
            task = self[blocker]
            self.put(replace(task, blocks=_without(task.blocks, blocked)))
        if blocked in self:
            task = self[blocked]
            self.put(replace(task, blocked_by=_without(task.blocked_by, blocker)))

    def _join(self, blocker: str, blocked: str) -> None:
        first, then = self[blocker], self[blocked]
        self.put(replace(first, blocks=distinct((*first.blocks, blocked))))
        self.put(replace(then, blocked_by=distinct((*then.blocked_by, blocker))))

    def _check(self, doing: str, kind: str, target: str) -> None:
        check_id(target, f"validate {kind} task ID failed")
        if target not in self:
            raise TaskError(f"{doing}, err: target Task #{target} not found")

    def _search(self, task_id: str, *, forward: bool) -> dict[str, str]:
        """All that wait for a task, or that it waits for, itself too; each with the one by which it was reached."""
        found, left = {task_id: ""}, [task_id]
        while left:
            here = left.pop()
            if here in self:
                for each in self[here].blocks if forward else self[here].blocked_by:
                    if each not in found:
                        found[each] = here
                        left.append(each)
        return found


def check_id(task_id: str, doing: str) -> None:
    """Checks the form of an id.

    Raises:
        TaskError: it is none.
    """
    if not is_id(task_id):
        shown = task_id if len(task_id) <= 100 else f"{task_id[:100]}…"
        raise TaskError(f"{doing}, err: invalid format: {shown}")


def symmetric(tasks: Iterable[Task]) -> dict[str, Task]:
    """The tasks with both sides of each edge of which one is there, by number."""
    found = {task.id: task for task in sorted(tasks, key=lambda task: int(task.id))}
    blocks: dict[str, list[str]] = {}
    blocked_by: dict[str, list[str]] = {}
    for task in found.values():
        for each in task.blocks:
            if each in found and task.id not in found[each].blocked_by:
                blocked_by.setdefault(each, []).append(task.id)
        for each in task.blocked_by:
            if each in found and task.id not in found[each].blocks:
                blocks.setdefault(each, []).append(task.id)
    for task_id in {**blocks, **blocked_by}:
        task = found[task_id]
        found[task_id] = replace(
            task,
            blocks=distinct((*task.blocks, *blocks.get(task_id, ()))),
            blocked_by=distinct((*task.blocked_by, *blocked_by.get(task_id, ()))),
        )
    return found


def unblocked(before: Mapping[str, Task], sketch: Sketch, candidates: Iterable[str]) -> tuple[str, ...]:
    """Which of these open tasks waited for something before a change, and wait for nothing after it."""
    old = Sketch(before)
    return tuple(
        each
        for each in sorted((each for each in distinct(candidates) if each in sketch), key=int)
        if sketch[each].is_open and old.open_blockers(old[each]) and not sketch.open_blockers(sketch[each])
    )


def _cyclic(what: str, cycle: Sequence[str]) -> TaskError:
    shown = [f"#{each}" for each in cycle]
    if len(shown) > 12:
        shown = [*shown[:6], f"… {len(shown) - 12} more …", *shown[-6:]]
    return TaskError(f"adding {what} would create a cyclic dependency: {' -> '.join(shown)}")


def _path(found: Mapping[str, str], task_id: str) -> list[str]:
    """From a task that a search found back to where it began."""
    path = [task_id]
    while found[path[-1]]:
        path.append(found[path[-1]])
    return path


def _without(ids: tuple[str, ...], task_id: str) -> tuple[str, ...]:
    return tuple(each for each in ids if each != task_id)
