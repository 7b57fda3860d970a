"""Roles made of functions, runtimes that are audited when they end, and stores that make appends wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from roles_runtime.errors import StoreError
from roles_runtime.kernels.kernel import Kernels
from roles_runtime.posts.event import DurableEvent, Entry
from roles_runtime.posts.post import USER
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Answer, Middleware, Turn
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.restore import Restored, read_session
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.stores.local import LocalStore
from roles_runtime.stores.store import Store
from runtime.audit import audit

QUICK = Limits(turn_timeout_s=30.0, round_timeout_s=60.0, grace_s=0.2)


class Marked(str):
    """A kind of str, as numpy and markupsafe have one."""

    __slots__ = ()


class MuteError(Exception):
    """It can not say what went wrong."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Cast(Role):
    """A role made of a function of its turn."""

    def __init__(self, name: str, act: Callable[[Turn], Awaitable[Answer]], middleware: Sequence[Middleware] = ()):
        self.name, self._act, self.middleware = name, act, middleware

    async def reply(self, turn: Turn) -> Answer:
        return await self._act(turn)


def cast(name: str, middleware: Sequence[Middleware] = ()) -> Callable[[Callable[[Turn], Awaitable[Answer]]], Cast]:
    """Makes a role of the function below it."""
    return lambda act: Cast(name, act, middleware)


def says(name: str, *lines: str | tuple[str, str]) -> Cast:
    """A role that says its lines one after the other, each to ``(recipient, text)`` or to its requester; then the last
    again and again.
    """
    position = -1

    async def act(turn: Turn) -> Answer:
        nonlocal position
        position = min(position + 1, len(lines) - 1)
        line = lines[position]
        return turn.answer(line) if isinstance(line, str) else turn.answer(line[1], line[0])

    return Cast(name, act)


def relay(name: str = "Planner", to: str = "Echo") -> Cast:
    """A leader that hands the user's question to one worker, and what comes back to the user."""

    async def act(turn: Turn) -> Answer:
        return turn.answer(turn.post.message, to if turn.post.send_from == USER else USER)

    return Cast(name, act)


def echo(name: str = "Echo") -> Cast:
    async def act(turn: Turn) -> Answer:
        return turn.answer(f"{name} heard {turn.post.message}")

    return Cast(name, act)


@asynccontextmanager
async def running(
    leader: Role,
    *workers: Role,
    store: Store | None = None,
    limits: Limits = QUICK,
    middleware: Sequence[Middleware] = (),
    kernels: Kernels | None = None,
    coats: Coats | None = None,
    data_dir: Path | None = None,
    patience_s: float = 20.0,
    interrupted: bool = False,
) -> AsyncGenerator[Runtime, None]:
    """A runtime that must end well: within a bound, with no task left, and every journal in order."""
    before = asyncio.all_tasks()
    kept = LocalStore() if store is None else store
    runtime = Runtime(
        Team(leader, workers, middleware),
        store=kept,
        kernels=kernels,
        limits=limits,
        telemetry=coats,
        data_dir=data_dir,
    )
    async with asyncio.timeout(patience_s), runtime:
        yield runtime
    left = asyncio.all_tasks() - before
    assert not left, f"tasks left behind: {left}"
    assert len(runtime.ground.children) == 0
    async with kept:
        for info in await kept.sessions():
            audit(await entries_of(kept, info.session_id), interrupted=interrupted)


async def entries_of(store: Store, session_id: str) -> list[Entry]:
    async with aclosing(store.read(session_id)) as entries:
        return [entry async for entry in entries]


async def events_of(runtime: Runtime, session_id: str) -> list[DurableEvent]:
    return [entry.event for entry in await entries_of(runtime.ground.store, session_id)]


async def folded(runtime: Runtime, session_id: str) -> Restored:
    return await read_session(runtime.ground.store, session_id)


async def until(condition: Callable[[], object]) -> None:
    """Lets the loop turn until something is so; the test's own patience bounds it."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # whatever is waited for has no event of its own
            await asyncio.sleep(0.001)


class Gate:
    """Something that is waited for, and may be waited for in spite of cancellation."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def wait(self) -> None:
        self.reached.set()
        await self.opened.wait()

    async def wait_stubbornly(self) -> None:
        """Swallows every cancellation until it is opened; not for ever, so that no test hangs."""
        for _ in range(20):
            try:
                async with asyncio.timeout(1.0):
                    await self.wait()
                return
            except (asyncio.CancelledError, TimeoutError):
                continue


class WaitingStore(LocalStore):
    """Takes the entries at once, and lets whoever appends wait for the loop, as a disk does."""

    def __init__(self) -> None:
        super().__init__()
        self.appends: list[tuple[Entry, ...]] = []
        self.held: Gate | None = None

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        await super().append(session_id, entries)
        self.appends.append(tuple(entries))
        if self.held is not None:
            await self.held.wait()
        else:
            await asyncio.sleep(0)


class FailingStore(LocalStore):
    """Refuses the appends whose number (from 1) is in ``faults``."""

    def __init__(self, *faults: int) -> None:
        super().__init__()
        self.faults, self.count = set(faults), 0

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        self.count += 1
        number = self.count
        await asyncio.sleep(0)
        if number in self.faults:
            raise StoreError("The disk is full; nothing was written.")
        await super().append(session_id, entries)
