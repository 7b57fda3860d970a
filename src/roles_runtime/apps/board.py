"""The board of tasks as a person is shown it while it changes: told by events, seen as rows. It knows no terminal."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice

import msgspec
from msgspec.structs import replace

from roles_runtime.apps.text import one_line
from roles_runtime.posts.event import Event, PostSent, RoundOpened, TaskChanged
from roles_runtime.tools.tasks.task import STATES, Status, Task, decode_task, file_of, listed

MAX_ROWS = 12
"""How many tasks are shown at most while they are worked off."""

_LAST_DONE = 2
"""How many of those that were done last have a row before those that are still to be done."""

MAX_TEXT = 200
MAX_NAME = 80
MAX_BLOCKERS = 4
"""How many ids a row names; one more is kept, to know that there are more."""


class Row(msgspec.Struct, frozen=True):
    """A task, fit for a terminal.

    Attributes:
        id: Its number.
        state: How far it is.
        text: Clean: what is being done while it is in progress, else what is to be done.
        owner: Clean: whose it is, or empty.
        blocked_by: Ids of what it waits for: open tasks alone, and no more than are needed.
    """

    id: str
    state: Status
    text: str
    owner: str = ""
    blocked_by: tuple[str, ...] = ()

    @property
    def blockers(self) -> str:
        """What it waits for, in words; empty if it waits for nothing."""
        more = ", …" if len(self.blocked_by) > MAX_BLOCKERS else ""
        return f"blocked by {listed(self.blocked_by[:MAX_BLOCKERS])}{more}" if self.blocked_by else ""


class Glance(msgspec.Struct, frozen=True):
    """A board at one moment.

    Attributes:
        rows: What matters most first: what is in progress, what was just done, what is to be done.
        total: How many tasks there are, those without a row too.
        done: How many of them are completed.
    """

    rows: tuple[Row, ...] = ()
    total: int = 0
    done: int = 0

    def first(self, most: int) -> list[Row]:
        """The rows for which there is room, by number."""
        return sorted(self.rows[:most], key=lambda row: int(row.id))


class Board:
    """The tasks of a session, folded from its events; a change costs the same on a board of any size."""

    def __init__(self, tasks: Iterable[Task] = ()) -> None:
        """Takes those that are there already."""
        self._rows: dict[Status, dict[str, Row]] = {state: {} for state in STATES}
        for task in tasks:
            self._put(task)

    @property
    def total(self) -> int:
        """How many tasks there are."""
        return sum(map(len, self._rows.values()))

    @property
    def is_open(self) -> bool:
        """Whether there is something left to do."""
        return bool(self._rows["pending"] or self._rows["in_progress"])

    @property
    def is_finished(self) -> bool:
        """Whether there are tasks, all of them completed."""
        return bool(self._rows["completed"]) and not self.is_open

    def take(self, event: TaskChanged) -> bool:
        """Folds the next change in; whether it finished the board."""
        was_finished = self.is_finished
        if event.task:
            self._put(decode_task(file_of(event.task_id), event.task))
        else:
            for rows in self._rows.values():
                rows.pop(event.task_id, None)
        return self.is_finished and not was_finished

    def row(self, task_id: str) -> Row | None:
        """A task, if it is on the board."""
        found = next((rows[task_id] for rows in self._rows.values() if task_id in rows), None)
        return found and self._seen(found)

    def glance(self, most: int | None = None) -> Glance:
        """The board as it is now, with at most so many rows."""
        done = self._rows["completed"]
        last = list(islice(reversed(done.values()), _LAST_DONE))
        earlier = islice(reversed(done.values()), _LAST_DONE, None)
        order = chain(self._rows["in_progress"].values(), last, self._rows["pending"].values(), earlier)
        return Glance(tuple(map(self._seen, islice(order, most))), self.total, len(done))

    def _put(self, task: Task) -> None:
        row = _row(task)
        for state, rows in self._rows.items():
            if state != row.state:
                rows.pop(row.id, None)
        self._rows[row.state][row.id] = row

    def _seen(self, row: Row) -> Row:
        if not row.blocked_by:
            return row
        done = self._rows["completed"]
        waits = row.state != "completed"
        still = islice((each for each in row.blocked_by if waits and each not in done), MAX_BLOCKERS + 1)
        return replace(row, blocked_by=tuple(still))


def _row(task: Task) -> Row:
    text = task.doing if task.state == "in_progress" else task.subject
    return Row(task.id, task.state, one_line(text, MAX_TEXT), one_line(task.owner, MAX_NAME), task.blocked_by)


class Moment(msgspec.Struct, frozen=True):
    """A board at one moment of a round.

    Attributes:
        posts: How many Posts of the round were sent before.
        board: What it looked like.
    """

    posts: int
    board: Glance


class Middle:
    """Finds the moment of a session's last round when its board was nearest to half done, from all its events.

    Attributes:
        moment: That moment, or None where nothing changed on the board.
    """

    def __init__(self, most: int) -> None:
        """Takes how many rows are wished for."""
        self.moment: Moment | None = None
        self._most = most
        self._board = Board()
        self._posts = 0
        self._distance = 2.0

    def take(self, event: Event) -> None:
        """Looks at the next event."""
        match event:
            case RoundOpened():
                self.moment, self._posts, self._distance = None, 0, 2.0
            case PostSent():
                self._posts += 1
            case TaskChanged(board="") as changed:
                self._board.take(changed)
                if self._board.is_open:
                    self._weigh()

    def _weigh(self) -> None:
        glance = self._board.glance(self._most)
        distance = abs(2 * glance.done / glance.total - 1)
        if glance.rows[0].state != "in_progress":
            distance += 1
        if distance < self._distance or self.moment is None:
            self.moment, self._distance = Moment(self._posts, glance), distance
