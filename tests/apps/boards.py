"""Boards, and the events that make them."""

from __future__ import annotations

from collections.abc import Iterator

from roles_runtime.posts.event import TaskChanged
from roles_runtime.tools.tasks.task import DELETED, Task


def task(number: int, subject: str = "", status: str = "pending", **fields: object) -> Task:
    return Task(id=str(number), subject=subject or f"task {number}", description="d", status=status, **fields)  # type: ignore[arg-type]


class Story:
    """Tells the changes of a board as a session's journal does."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}

    def put(self, *tasks: Task) -> Iterator[TaskChanged]:
        for each in tasks:
            previous = self.tasks[each.id].status if each.id in self.tasks else ""
            self.tasks[each.id] = each
            yield TaskChanged("r", each.id, previous, each.status, each.owner, each.encode())

    def drop(self, *numbers: int) -> Iterator[TaskChanged]:
        for number in numbers:
            yield TaskChanged("r", str(number), self.tasks.pop(str(number)).status, DELETED)
