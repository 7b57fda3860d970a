"""Context variables: a turn begins with a fresh context, whatever the turns before it or beside it did."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest

from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Respond, Turn
from runtime.casting import Cast, cast, running

pytestmark = pytest.mark.anyio

MARK: ContextVar[str] = ContextVar("mark", default="fresh")


async def test_what_a_turn_sets_is_gone_in_the_next_one() -> None:
    seen: list[str] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen.append(MARK.get())
        MARK.set("set before the first wait")
        await asyncio.sleep(0)
        seen.append(MARK.get())
        MARK.set("set after it")
        return turn.answer("again", "Planner" if len(seen) < 6 else USER)

    async with running(planner) as runtime:
        await (await runtime.session()).ask("hey")
    assert seen == ["fresh", "set before the first wait"] * 3


async def test_branches_of_a_fan_out_do_not_see_one_another_nor_their_sender() -> None:
    seen: dict[str, list[str]] = {}
    meeting = asyncio.Barrier(2)

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen.setdefault("Planner", []).append(MARK.get())
        MARK.set("Planner was here")
        return [turn.answer("go", "A"), turn.answer("go", "B")] if len(turn.posts) == 1 else turn.answer("done", USER)

    def worker(name: str) -> Cast:
        async def act(turn: Turn) -> Answer:
            before = MARK.get()
            MARK.set(name)
            await meeting.wait()
            seen[name] = [before, MARK.get()]
            return turn.answer(name)

        return Cast(name, act)

    async with running(planner, worker("A"), worker("B")) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished, round_.detail
    assert seen == {"Planner": ["fresh", "fresh"], "A": ["fresh", "A"], "B": ["fresh", "B"]}


async def test_middleware_and_the_tasks_of_a_role_share_its_turns_context() -> None:
    seen: list[str] = []

    async def marks(turn: Turn, respond: Respond) -> Answer:
        token = MARK.set("by middleware")
        try:
            return await respond(turn)
        finally:
            MARK.reset(token)

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        async def child() -> None:
            seen.append(MARK.get())

        await asyncio.create_task(child())
        seen.append(MARK.get())
        return turn.answer("done", USER)

    async with running(planner, middleware=[marks]) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished, round_.detail
    assert seen == ["by middleware"] * 2


async def test_a_turn_sees_the_context_in_which_the_runtime_was_opened_and_not_that_of_whoever_asks() -> None:
    seen: list[str] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen.append(MARK.get())
        return turn.answer("done", USER)

    async def ask_marked() -> None:
        MARK.set("the asker's")
        await (await runtime.session()).ask("hey")

    token = MARK.set("the opener's")
    try:
        async with running(planner) as runtime:
            await asyncio.create_task(ask_marked())
    finally:
        MARK.reset(token)
    assert seen == ["the opener's"]


async def test_cancellation_and_errors_are_thrown_in_inside_the_turns_context() -> None:
    seen: list[str] = []
    started = asyncio.Event()

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        MARK.set("mine")
        started.set()
        try:
            await asyncio.sleep(30)
        finally:
            seen.append(MARK.get())
        return turn.answer("never", USER)

    async with running(planner) as runtime:
        session = await runtime.session()
        asked = asyncio.create_task(session.ask("hey"))
        await started.wait()
        await session.cancel()
        await asked
    assert seen == ["mine"]
