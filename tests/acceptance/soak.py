"""A process of its own: random cancels, faulty handlers, role crashes and kernel kills; then it counts what is left.

``python tests/acceptance/soak.py FOLDER SECONDS SEED`` prints what it did and what was left behind, as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import anyio
import psutil

from roles_runtime import Event, Limits, Post, Role, RolesError, Runtime, Session, Team, Turn
from roles_runtime.kernels.kernel import Kernel
from roles_runtime.kernels.local import LocalKernels

CELLS = (
    "x = 1 + 1",
    "import time; time.sleep(30)",
    "while True: pass",
    "print('a' * 5_000_000)",
    "import os; os.kill(os.getpid(), 9)",
    "import os; os._exit(3)",
    "open('made.txt', 'w').write('x' * 1000)",
    "raise ValueError('no')",
)


class Coder(Role):
    """Runs a random cell, or fails in some way of its own."""

    name = "Coder"
    needs_kernel = True

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    async def reply(self, turn: Turn) -> Post | Sequence[Post]:
        fate = self.chance.random()
        if fate < 0.1:
            raise RuntimeError("crashed")
        if fate < 0.15:
            raise asyncio.CancelledError
        if fate < 0.25:
            await anyio.sleep(self.chance.random())
            return turn.answer("slow")
        kernel = turn.kernel
        assert kernel is not None
        return turn.answer(await run(kernel, self.chance.choice(CELLS)))


async def run(kernel: Kernel, code: str) -> str:
    execution = await kernel.execute(code, timeout_s=1.0)
    return execution.outcome


class Leader(Role):
    """Asks one or both, and answers with what came back."""

    name = "Leader"

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    async def reply(self, turn: Turn) -> Post | Sequence[Post]:
        if turn.post.send_from != "User":
            return turn.answer("; ".join(post.message for post in turn.posts), "User")
        if self.chance.random() < 0.3:
            return [turn.answer("go", "Coder"), turn.answer("go", "Echo")]
        return turn.answer("go", self.chance.choice(["Coder", "Echo", "Nobody"]))


class Echo(Role):
    """Answers at once."""

    name = "Echo"

    async def reply(self, turn: Turn) -> Post:
        return turn.answer("echo")


def faulty(event: Event) -> None:
    raise ValueError("a handler of the host")


async def one(session: Session, chance: random.Random, done: Counter[str]) -> None:
    fate = chance.random()
    try:
        with anyio.move_on_after(chance.uniform(0.05, 3.0) if fate < 0.3 else 20):
            if fate < 0.6:
                ended = await session.ask("go", on_event=faulty)
                done[f"{ended.state}:{ended.reason}"] += 1
            else:
                async with aclosing(session.stream("go")) as events:
                    async for _ in events:
                        if chance.random() < 0.02:
                            break
                done["streamed"] += 1
        if fate > 0.9:
            await session.cancel()
    except RolesError as error:
        done[type(error).__name__] += 1


async def kill_kernels(chance: random.Random, until: float) -> None:
    while time.monotonic() < until:
        await anyio.sleep(chance.uniform(0.5, 2.0))
        victims = psutil.Process().children(recursive=True)
        if victims:
            try:
                os.kill(chance.choice(victims).pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


async def soak(folder: Path, seconds: float, seed: int) -> Counter[str]:
    chance = random.Random(seed)
    done: Counter[str] = Counter()
    until = time.monotonic() + seconds
    team = Team(Leader(chance), [Coder(chance), Echo()])
    runtime = Runtime(
        team,
        store=f"sqlite:///{folder / 'soak.db'}",
        kernels=LocalKernels(max_live=3),
        data_dir=folder / "data",
        limits=Limits(grace_s=2.0, turn_timeout_s=15.0),
    )

    async def visitor(number: int) -> None:
        while time.monotonic() < until:
            session = await runtime.session(f"s-{chance.randrange(6)}")
            await one(session, chance, done)

    async with runtime, anyio.create_task_group() as group:
        group.start_soon(kill_kernels, chance, until)
        for number in range(6):
            group.start_soon(visitor, number)
    return done


def standing() -> dict[str, object]:
    """Processes, threads, open files and sockets of this process, and its temporary folders."""
    process = psutil.Process()
    links = [os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd") if _is_open(each)]
    return {
        "processes": len(process.children(recursive=True)),
        # Idle workers of the loop's pool stay until the loop is closed.
        "threads": sorted(each.name for each in threading.enumerate() if "worker" not in each.name),
        "descriptors": sorted(link for link in links if not link.startswith(("/dev/", "pipe:", "/proc/"))),
        "temporary": sorted(path.name for path in Path(os.environ["TMPDIR"]).iterdir()),
    }


def _is_open(descriptor: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{descriptor}")


async def main(folder: Path, seconds: float, seed: int) -> None:
    before = standing()
    done = await soak(folder, seconds, seed)
    gc.collect()
    # A worker thread of the loop's pool may stay; everything else is gone within this bound.
    for _ in range(50):
        after = standing()
        if not after["processes"]:
            break
        await anyio.sleep(0.1)
    tasks = [repr(task.get_coro()) for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    json.dump({"done": done, "before": before, "after": after, "tasks": tasks}, sys.stdout)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
