"""Three roles at one board, whose writer dies between any two writes: the graph stays acyclic, symmetric, complete."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from roles_runtime.errors import TaskError
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.change import Change, Who
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.task import STATES

LEADER, ROLES = "Planner", ("Planner", "Alice", "Bob")
IDS = st.sampled_from([str(n) for n in range(1, 7)])
EDGES = st.lists(IDS, max_size=2).map(tuple)


class Dying(MemoryFiles):
    """Does so many writes and deletions, and no more."""

    left = 1_000

    async def write(self, path: str, content: str) -> None:
        self._spend()
        await super().write(path, content)

    async def delete(self, path: str) -> None:
        self._spend()
        await super().delete(path)

    def _spend(self) -> None:
        if self.left == 0:
            raise OSError("died")
        self.left -= 1


class Step(msgspec.Struct, frozen=True):
    """A call; ``dies`` says after how many writes its process does, -1 that it lives. ``task_id`` empty: a new task."""

    role: str
    task_id: str
    change: Change
    dies: int


STEPS = st.builds(
    Step,
    st.sampled_from(ROLES),
    st.one_of(st.just(""), IDS, IDS),
    st.builds(
        Change,
        status=st.sampled_from(["", "", "pending", "in_progress", "completed", "deleted"]),
        add_blocks=EDGES,
        add_blocked_by=EDGES,
        remove_blocks=EDGES,
        owner=st.sampled_from(["", "", None, *ROLES]),
    ),
    st.one_of(st.just(-1), st.just(-1), st.integers(0, 8)),
)


class Small:
    """The board as a few lines of plain sets: ``edges`` holds (blocker, blocked)."""

    def __init__(self) -> None:
        self.status: dict[str, str] = {}
        self.owner: dict[str, str] = {}
        self.edges: set[tuple[str, str]] = set()
        self.last = 0

    def copy(self) -> Small:
        other = Small()
        other.status, other.owner, other.edges = dict(self.status), dict(self.owner), set(self.edges)
        other.last = self.last
        return other

    def create(self) -> None:
        self.last += 1
        self.status[str(self.last)], self.owner[str(self.last)] = "pending", ""

    def update(self, task_id: str, change: Change, role: str) -> bool:
        """Whether it may be; the board is changed then."""
        if task_id not in self.status:
            return False
        foreign = self.owner[task_id] not in ("", role) and role != LEADER
        if foreign and (change.status or (change.owner != "" and (change.owner or "") != self.owner[task_id])):
            return False
        if change.status == "deleted":
            self._forget(task_id)
            return True
        added = {(task_id, each) for each in change.add_blocks} | {(each, task_id) for each in change.add_blocked_by}
        edges = self.edges - {(task_id, each) for each in change.remove_blocks} | added
        if any(end not in self.status for edge in added for end in edge) or cyclic(edges):
            return False
        self.edges = edges
        self.status[task_id] = change.status or self.status[task_id]
        if change.owner is None:
            self.owner[task_id] = ""
            self.status[task_id] = self.status[task_id].replace("in_progress", "pending")
        elif change.owner:
            self.owner[task_id] = change.owner
        elif change.status == "in_progress":
            self.owner[task_id] = self.owner[task_id] or role
        return True

    def clear(self) -> None:
        for each in [*self.status]:
            self._forget(each)

    def _forget(self, task_id: str) -> None:
        del self.status[task_id], self.owner[task_id]
        self.edges = {edge for edge in self.edges if task_id not in edge}

    @property
    def finished(self) -> bool:
        return set(self.status.values()) == {"completed"}

    def seen(self) -> tuple[object, ...]:
        return self.status, self.owner, self.edges


def cyclic(edges: set[tuple[str, str]]) -> bool:
    """Whether some are left after all that nothing waits before were taken away, again and again."""
    while edges:
        waiting = {blocked for _, blocked in edges}
        rest = {edge for edge in edges if edge[0] in waiting}
        if rest == edges:
            return True
        edges = rest
    return False


def read(files: Mapping[str, str]) -> tuple[object, ...]:
    """What the files say, which must be whole in itself."""
    tasks = {doc["id"]: doc for path, text in files.items() if path.endswith(".json") for doc in [json.loads(text)]}
    forward = {(task_id, each) for task_id, doc in tasks.items() for each in doc["blocks"]}
    backward = {(each, task_id) for task_id, doc in tasks.items() for each in doc["blockedBy"]}
    assert forward == backward
    assert all(end in tasks for edge in forward for end in edge)
    assert not cyclic(forward)
    assert all(doc["status"] in STATES for doc in tasks.values())
    return (
        {task_id: doc["status"] for task_id, doc in tasks.items()},
        {task_id: doc.get("owner", "") for task_id, doc in tasks.items()},
        forward,
    )


async def _work(steps: list[Step]) -> None:
    files = Dying()
    board = TaskBoard(files)
    small = Small()
    for step in steps:
        before, after, saved = small, small.copy(), small.copy()
        allowed = True
        if step.task_id:
            allowed = after.update(step.task_id, step.change, step.role)
            saved = after.copy()
            if allowed and step.change.status == "completed" and after.finished:
                after.clear()
        else:
            after.create()
        files.left = step.dies if step.dies >= 0 else 1_000
        try:
            if step.task_id:
                await board.update(step.task_id, step.change, Who(step.role, step.role == LEADER))
            else:
                assert (await board.create("s", "d")).id == str(after.last)
            told = True
        except TaskError:
            told = False
        lived, files.left = files.left > 0, 1_000
        if step.dies >= 0:
            # Another process finds the folder.
            board = TaskBoard(files)
        await board.list()
        assert not any(path.endswith(".intent") for path in files.files)
        found = read(files.files)
        if lived:
            assert told == allowed
        if told:
            # What was told to be made is made; only clearing the board may have been cut off, and was told too.
            assert found in (after.seen(), saved.seen())
            small = after if found == after.seen() else saved
        else:
            assert found == before.seen()
            small = before
        # A number that was given away with nothing made of it is not given again.
        small.last = int(files.files.get("tasks/.highwatermark", "0"))
        assert small.last >= max(map(int, small.status), default=0)


@settings(max_examples=300)
@given(st.lists(STEPS, min_size=1, max_size=25))
def test_whatever_three_roles_do_and_whenever_they_die(steps: list[Step]) -> None:
    asyncio.run(_work([Step("Planner", "", Change(), -1)] * 4 + steps))


def test_a_circle_is_known_as_one() -> None:
    assert cyclic({("1", "2"), ("2", "1"), ("1", "3")})
    assert not cyclic({("1", "2"), ("2", "3"), ("1", "3")})
