"""What a board of 1,000 tasks costs, each beside its raw limit in one run: ``python benchmarks/tasks.py``.

- A change on the disk, beside the atomic writes of the files that it must change and of one intent file: plain calls,
  no loop, no lock. Each is taken twice: by whoever knows the board already, and after one scan of the folder, which is
  reading and parsing all that stands there.
- A change in a session's journal, beside SqliteStore.append of the same entries.
- TaskList, and what PlanTasks adds to a turn, beside an asyncio.Queue ping-pong hop: the yardstick, of which an idle
  machine makes 361,700 a second. So 10 ms are 3,617 hops, and 5 us are 1.8.

Contestants take turns, again and again; medians are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from yardstick import yardstick

from roles_runtime import PlanTasks, Role, Runtime, ScriptedModel, Team, Turn
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.calls import ToolCall
from roles_runtime.posts.event import Entry, TaskChanged
from roles_runtime.roles.turn import Answer, Respond
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.stores.store import Store
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.change import Change
from roles_runtime.tools.tasks.local_files import LocalFiles
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.task import Task
from roles_runtime.tools.tasks.tools import task_tools
from roles_runtime.tools.toolbox import Toolbox

TASKS, OPS, TURNS = 1_000, 10, 2_000
HOPS_A_SECOND = 361_700
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL

Times: TypeAlias = dict[str, list[float]]


def texts() -> dict[str, str]:
    """The files of a board: tasks in threes, of which one waits for two."""
    found = {".highwatermark": str(TASKS)}
    for number in range(1, TASKS + 1):
        third = number % 3 == 0
        blocks = () if third or number > TASKS - 2 else (str(number + 3 - number % 3),)
        blocked_by = (str(number - 2), str(number - 1)) if third else ()
        task = Task(
            id=str(number),
            subject=f"Count the rows of table {number}",
            description="All regions, and each by itself; say what is missing. " * 2,
            status="completed" if number <= TASKS // 2 else "pending",
            blocks=blocks,
            blocked_by=blocked_by,
            active_form=f"Counting the rows of table {number}",
            owner="Worker" if number <= TASKS // 2 else "",
        )
        found[f"{number}.json"] = task.encode()
    return found


class Raw:
    """The least that a durable change can be: a file beside it, both flushed, for each file."""

    def __init__(self, folder: Path) -> None:
        self.folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self.texts = texts()

    def scan(self) -> None:
        for name in os.listdir(self.folder):
            if name.endswith(".json"):
                with open(os.open(name, os.O_RDONLY, dir_fd=self.folder), "rb") as file:
                    json.loads(file.read())

    def write(self, *names: str) -> None:
        for name in (".intent", *names):
            made = f".{os.urandom(8).hex()}.tmp"
            with open(os.open(made, FLAGS, 0o600, dir_fd=self.folder), "wb") as file:
                file.write(self.texts.get(name, self.texts["1.json"]).encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(made, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            os.fsync(self.folder)


class Changes:
    """The changes that are measured: what each does, and the files that it must change."""

    def __init__(self, board: TaskBoard) -> None:
        self.board, self.count, self.last = board, 0, TASKS
        self.files: Mapping[str, Callable[[], tuple[str, ...]]] = {
            "create": lambda: (".highwatermark", f"{self.last + 1}.json"),
            "update": lambda: ("600.json",),
            "update with an edge": lambda: ("700.json", "800.json"),
        }

    async def make(self, kind: str) -> None:
        self.count += 1
        match kind:
            case "create":
                self.last += 1
                made = await self.board.create(f"Count {self.last}", "All regions. " * 9)
                assert made.id == str(self.last)
            case "update":
                await self.board.update("600", Change(subject=f"Count {self.count}"))
            case _:
                adds = self.count % 2 == 1
                await self.board.update("700", Change(add_blocks=("800",)) if adds else Change(remove_blocks=("800",)))


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {each.name: (each.stat().st_ino, each.stat().st_mtime_ns) for each in os.scandir(folder)}


def touched(before: Mapping[str, tuple[int, int]], after: Mapping[str, tuple[int, int]]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} - {".lock"}


async def on_the_disk(folder: Path, rounds: int) -> None:
    """Changes by one who knows the board, and by one who reads it first."""
    ours, theirs = folder / "ours", folder / "raw"
    for each in (ours, theirs):
        each.mkdir()
        for name, text in texts().items():
            (each / name).write_text(text, encoding="utf-8")
    os.sync()
    raw = Raw(theirs)
    changes = Changes(TaskBoard(LocalFiles(ours), str(ours)))
    await changes.board.list()
    for kind, files in changes.files.items():
        exact = True
        found: Times = {"ours": [], "raw": [], "ours, scan": [], "raw, scan": []}
        for _ in range(rounds):
            spent = {"ours": 0.0, "raw": 0.0}
            before, must = stamps(ours), set[str]()
            for _ in range(OPS):
                names = files()
                must.update(names)
                start = time.perf_counter()
                await changes.make(kind)
                middle = time.perf_counter()
                raw.write(*names)
                spent["raw"] += time.perf_counter() - middle
                spent["ours"] += middle - start
            exact &= touched(before, stamps(ours)) == must
            for name, each in spent.items():
                found[name].append(each / OPS)
            changes.board = TaskBoard(LocalFiles(ours), str(ours))
            start = time.perf_counter()
            await changes.make(kind)
            found["ours, scan"].append(time.perf_counter() - start)
            start = time.perf_counter()
            raw.scan()
            raw.write(*names)
            found["raw, scan"].append(time.perf_counter() - start)
        print(f"{kind:20} {row(found)} | ours / raw {ratio(found['ours'], found['raw']):.2f} (aim 1.5), ", end="")
        print(f"with the scan {ratio(found['ours, scan'], found['raw, scan']):.2f} (aim 1.5); ", end="")
        print(f"touched just {len(names)} files: {'yes' if exact else 'NO'}")


async def filled(board: TaskBoard) -> None:
    """The same tasks, made by the board itself."""
    for number in range(1, TASKS + 1):
        await board.create(f"Count the rows of table {number}", "All regions, and each by itself. " * 3)
        if number % 3 == 0:
            await board.update(str(number), Change(add_blocked_by=(str(number - 2), str(number - 1))))
    for number in range(1, TASKS // 2 + 1):
        await board.update(str(number), Change(status="completed"))


async def in_the_journal(folder: Path, rounds: int) -> None:
    """Changes of a session's board in a round, beside appends of the same entries to the same store."""
    store = SqliteStore(folder / "roles.db")
    found: dict[str, Times] = {}
    event = TaskChanged("round-1", "600", "pending", "pending", "", texts()["600.json"])

    async def play(turn: Turn) -> None:
        await filled(turn.tasks)
        changes, seq = Changes(turn.tasks), 0
        for _ in range(rounds):
            for kind in changes.files:
                times = found.setdefault(kind, {"ours": [], "raw": []})
                start = time.perf_counter()
                for _ in range(OPS):
                    await changes.make(kind)
                times["ours"].append((time.perf_counter() - start) / OPS)
                start = time.perf_counter()
                for _ in range(OPS):
                    count = 2 if "edge" in kind else 1
                    entries = [Entry(seq + n, f"raw/{seq + n}", time.time_ns(), event) for n in range(1, count + 1)]
                    seq += count
                    await store.append("raw", entries)
                times["raw"].append((time.perf_counter() - start) / OPS)

    await in_a_turn(play, store)
    for kind, times in found.items():
        print(f"journal, {kind:19} {row(times)} | ours / raw append {ratio(times['ours'], times['raw']):.2f}")


async def listing(folder: Path, rounds: int) -> None:
    """TaskList as a model calls it, on three backends."""
    memory, disk = MemoryFiles(), folder / "listed"
    disk.mkdir()
    for name, text in texts().items():
        memory.files[f"tasks/{name}"] = text
        (disk / name).write_text(text, encoding="utf-8")
    found: Times = {}

    async def play(turn: Turn) -> None:
        await filled(turn.tasks)
        boards = {
            "journal": turn.tasks,
            "memory": TaskBoard(memory),
            "local files": TaskBoard(LocalFiles(disk), str(disk)),
        }
        call = ToolCall(call_id="call-1", name="TaskList", arguments="{}")
        caller = Caller("session", "round", "Planner", "call-1", Workspace(folder), lambda event: None)
        boxes = {name: Toolbox(task_tools(board, "Planner")) for name, board in boards.items()}
        for box in boxes.values():
            assert (await box.call(call, caller)).outcome == "ok"
        for _ in range(rounds):
            for name, box in boxes.items():
                start = time.perf_counter()
                await box.call(call, caller)
                found.setdefault(name, []).append(time.perf_counter() - start)
            found.setdefault("yardstick", []).append(await yardstick())

    await in_a_turn(play)
    for name in ("journal", "memory", "local files"):
        hops = ratio(found[name], found["yardstick"])
        print(
            f"TaskList of {TASKS:,}, {name:11}: {statistics.median(found[name]) * 1e3:.2f} ms, {hops:,.0f} hops", end=""
        )
        print(f" (aim {HOPS_A_SECOND // 100:,}), {hops / HOPS_A_SECOND * 1e3:.2f} ms at the yardstick (aim 10)")


async def injecting(rounds: int) -> None:
    """A turn through PlanTasks beside one through a middleware that passes it on."""
    found: Times = {}
    plan = PlanTasks()

    async def play(turn: Turn) -> None:
        turn = turn.with_model(ScriptedModel([]))
        for kind in ("empty", "full"):
            for _ in range(rounds):
                base = await through(passing, turn)
                found.setdefault(kind, []).append(await through(plan, turn) - base)
                found.setdefault(f"{kind} yardstick", []).append(await yardstick())
            await filled(turn.tasks)

    await in_a_turn(play)
    for kind in ("empty", "full"):
        hops = ratio(found[kind], found[f"{kind} yardstick"])
        aim = f"(aim 5, {5e-6 * HOPS_A_SECOND:.1f} hops)" if kind == "empty" else "(reminder of 20 tasks and all)"
        print(f"PlanTasks adds to a turn, {kind:5} board: {statistics.median(found[kind]) * 1e6:.2f} us", end=", ")
        print(f"{hops:.2f} hops, {hops / HOPS_A_SECOND * 1e6:.2f} us at the yardstick {aim}")


async def passing(turn: Turn, respond: Respond) -> Answer:
    return await respond(turn)


async def through(layer: Callable[[Turn, Respond], Awaitable[Answer]], turn: Turn, count: int = TURNS) -> float:
    async def respond(turn: Turn) -> Answer:
        return ()

    start = time.perf_counter()
    for _ in range(count):
        await layer(turn, respond)
    return (time.perf_counter() - start) / count


class Player(Role):
    """Plays in its turn."""

    name = "Player"

    def __init__(self, play: Callable[[Turn], Awaitable[None]]) -> None:
        self._play = play

    async def reply(self, turn: Turn) -> Answer:
        await self._play(turn)
        return turn.answer("done", "User")


async def in_a_turn(play: Callable[[Turn], Awaitable[None]], store: Store | str = "local:") -> None:
    async with Runtime(Team(Player(play)), store=store, kernels=None) as runtime:
        await (await runtime.session()).ask("go")


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def row(times: Times) -> str:
    return "  ".join(f"{name} {statistics.median(each) * 1e3:.2f} ms" for name, each in times.items())


async def run(folder: Path, rounds: int) -> None:
    await on_the_disk(folder, rounds)
    await in_the_journal(folder, rounds)
    await listing(folder, rounds)
    await injecting(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", help="on the disk that counts; a temporary one otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        asyncio.run(run(Path(folder), options.rounds))


if __name__ == "__main__":
    main()
