"""What a role may raise: whatever it is, the turn ends by it, and the loop and the session go on."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import anyio.to_thread
import pytest

from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.post import USER, Post
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.router import hand_over
from roles_runtime.runtime.supervisor import step
from roles_runtime.stores.sqlite import SqliteStore
from runtime.casting import MuteError, cast, echo, running, says

pytestmark = pytest.mark.anyio


class Stop(BaseException):
    """What some libraries raise past every `except Exception`."""


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no such column"),
        ValueError("half \ud800"),
        MuteError(),
        Stop("stop"),
        SystemExit(3),
        ExceptionGroup("two", [OSError("a")]),
        BaseExceptionGroup("two", [SystemExit(3), OSError("a")]),
    ],
)
async def test_a_role_that_raises_fails_its_round_and_the_session_goes_on(error: BaseException, tmp_path: Path) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.message == "bad":
            raise error
        return turn.answer("good", USER)

    async with running(planner, store=SqliteStore(tmp_path / "roles.db")) as runtime:
        session = await runtime.session("s")
        bad = await session.ask("bad")
        assert (await session.ask("good")).state is RoundState.finished
    assert (bad.state, bad.reason) == (RoundState.failed, "role_error")
    assert "Planner" in bad.detail
    assert type(error).__name__ in bad.detail


async def test_a_role_that_exits_after_a_wait_or_in_a_branch_ends_its_turn_and_not_the_loop() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.send_from == USER:
            return [turn.answer("go", "Quitter"), turn.answer("go", "Echo")]
        return turn.answer(" | ".join(post.message for post in turn.posts), USER)

    @cast("Quitter")
    async def quitter(turn: Turn) -> Answer:
        await asyncio.sleep(0)
        sys.exit("enough")

    async with running(planner, quitter, echo()) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.reply is not None, round_.detail
    assert "Quitter failed: SystemExit: enough" in round_.reply.message
    assert "Echo heard go" in round_.reply.message


async def test_a_middleware_or_a_thread_that_exits_is_the_fault_of_its_role() -> None:
    async def leaves(turn: Turn, respond: Respond) -> Answer:
        await respond(turn)
        sys.exit("from a middleware")

    def leave() -> str:
        sys.exit("from a thread, as a plain tool runs in one")

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return turn.answer(await anyio.to_thread.run_sync(leave), USER)

    async with running(planner) as runtime:
        by_thread = await (await runtime.session()).ask("hey")
    async with running(says("Planner", (USER, "done")), middleware=[leaves]) as runtime:
        by_middleware = await (await runtime.session()).ask("hey")
    assert (by_middleware.reason, by_thread.reason) == ("role_error", "role_error")
    assert "SystemExit: from a middleware" in by_middleware.detail
    assert "SystemExit: from a thread" in by_thread.detail


async def test_a_ctrl_c_is_no_fault_of_a_role_also_in_a_group() -> None:
    for error in (KeyboardInterrupt(), BaseExceptionGroup("two", [KeyboardInterrupt(), OSError("a")])):
        with pytest.raises(type(error)) as caught:
            await step_with(error)
        assert caught.value is error


async def step_with(error: BaseException) -> None:
    """A turn that raises, without a loop's task round it, which a real Ctrl-C would end."""

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        raise error

    async with running(planner) as runtime:
        session = await runtime.session("s")
        active = ActiveRound(session, Round.create("q"), asyncio.get_running_loop().create_future())
        active.open_actor("Planner")
        actor = active.actors["Planner"]
        await hand_over(active, "Planner", (Post.create("q", USER, "Planner"),), 1)
        try:
            await step(active, actor)
        finally:
            actor.mailbox.close()
