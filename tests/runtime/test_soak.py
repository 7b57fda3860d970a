"""A few seconds of everything at once: cancels, crashes, faulty handlers, slow readers; nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import random
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from roles_runtime.errors import InvalidResponseError, RolesError
from roles_runtime.posts.event import Event
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.session import Session
from roles_runtime.stores.local import LocalStore
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.stores.store import Store
from runtime.casting import Cast, folded, running

pytestmark = pytest.mark.anyio

SESSIONS, ROUNDS = 40, 12
LIMITS = Limits(turn_timeout_s=0.3, round_timeout_s=2.0, grace_s=0.05, session_idle_s=0.2)


def erratic(name: str, chance: random.Random) -> Cast:
    """Mostly helpful; it also crashes, dawdles, hangs, swallows its cancellation, and writes to anybody."""

    async def act(turn: Turn) -> Answer:
        dice = chance.random()
        if dice < 0.05:
            raise RuntimeError("crashed")
        if dice < 0.08:
            raise InvalidResponseError("cannot be mended")
        if dice < 0.1:
            await asyncio.sleep(30)
        if dice < 0.12:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                await asyncio.sleep(0.08)
        if dice < 0.4:
            await asyncio.sleep(chance.random() / 200)
        if dice < 0.5:
            turn.draft.grow_message("growing")
        others = [member.name for member in turn.roster if member.name != name]
        if dice < 0.7 and len(turn.posts) == 1:
            return [turn.answer("all of you", other) for other in others]
        return turn.answer("x", chance.choice([*others, USER, USER, USER, name, "nobody"]))

    return Cast(name, act)


async def one_user(runtime: Runtime, name: str, chance: random.Random) -> None:
    def faulty(event: Event) -> None:
        if chance.random() < 0.3:
            raise ValueError("a handler's own")

    for n in range(ROUNDS):
        session = await runtime.session(name)
        asked = asyncio.create_task(session.ask(f"question {n}", on_event=faulty))
        await asyncio.sleep(chance.random() / 50)
        match chance.randrange(5):
            case 0:
                await session.cancel()
            case 1:
                asked.cancel()
            case 2:
                await glance(session)
        await asyncio.gather(asked, return_exceptions=True)
        if not asked.cancelled() and asked.exception() is not None:
            assert isinstance(asked.exception(), RolesError)
        session.setbacks = None


async def glance(session: Session) -> None:
    """Reads the first events of a question of its own and goes away."""
    async with aclosing(session.stream("a glance")) as events:
        async for _ in events:
            break


@pytest.mark.parametrize("kind", ["local", "sqlite"])
async def test_nothing_is_left_behind(kind: str, tmp_path: Path) -> None:
    chance = random.Random(20_24)
    store: Store = LocalStore() if kind == "local" else SqliteStore(tmp_path / "roles.db")
    process = psutil.Process(os.getpid())
    children = process.children()
    files, threads = process.num_fds(), process.num_threads()
    names = ("Planner", "A", "B")
    roles = [erratic(name, chance) for name in names]
    # `running` audits all journals at its end, and that no task is left.
    async with running(*roles, store=store, limits=LIMITS, patience_s=60) as runtime:
        users = [one_user(runtime, f"s{n}", random.Random(n)) for n in range(SESSIONS)]
        await asyncio.gather(*users)
        for n in range(SESSIONS):
            session = await runtime.session(f"s{n}")
            while session.running:  # noqa: ASYNC110  # what a reader left behind goes on to its end
                await asyncio.sleep(0.01)
            assert (await folded(runtime, session.id)).conversation.rounds == list(session.rounds)
    gc.collect()
    assert process.num_fds() <= files
    assert process.num_threads() <= threads + 5, "no more than the event loop's own pool"
    assert set(process.children()) <= set(children)
