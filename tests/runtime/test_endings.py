"""How a round is ended from outside: cancelled, timed out, closed; and what becomes of those who do not heed it."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from roles_runtime.errors import SessionClosedError
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import MessageGrew, PostCancelled, PostSent, RoundClosed, RoundOpened, TurnFinished
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from runtime.casting import (
    Cast,
    Gate,
    WaitingStore,
    cast,
    echo,
    events_of,
    folded,
    relay,
    running,
    says,
    until,
)

pytestmark = pytest.mark.anyio

SHORT = Limits(turn_timeout_s=0.15, round_timeout_s=60.0, grace_s=0.1)


def waiting(gate: Gate, name: str = "Planner", *, stubbornly: bool = False) -> Cast:
    """A leader that waits in its first turn, and answers all later ones."""
    turns = 0

    async def act(turn: Turn) -> Answer:
        nonlocal turns
        turns += 1
        if turns == 1:
            await (gate.wait_stubbornly() if stubbornly else gate.wait())
        return turn.answer(f"answer {turns}", USER)

    return Cast(name, act)


async def test_cancel_ends_the_running_round_only() -> None:
    gate = Gate()
    async with running(waiting(gate)) as runtime:
        session = await runtime.session("s")
        first = asyncio.create_task(session.ask("first"))
        second = asyncio.create_task(session.ask("second"))
        await gate.reached.wait()
        await session.cancel()
        assert (await first).reason == "cancelled"
        assert (await second).state is RoundState.finished
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
        assert [turn.outcome for turn in turns] == ["cancelled", "ok"]
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


async def test_cancel_without_a_round_does_nothing() -> None:
    async with running(says("Planner", (USER, "done"))) as runtime:
        session = await runtime.session()
        await session.cancel()
        assert (await session.ask("hey")).state is RoundState.finished
        await session.cancel()
        assert session.rounds[0].state is RoundState.finished


async def test_cancelling_an_endless_ping_pong_leaves_the_session_usable() -> None:
    seen = asyncio.Event()
    answers = 0

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        nonlocal answers
        answers += 1
        if answers == 50:
            seen.set()
        await asyncio.sleep(0)
        return turn.answer("go on", USER if turn.post.message == "stop" else "Echo")

    async with running(planner, echo(), limits=Limits(max_internal_chat_round_num=10_000_000)) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("hey"))
        await seen.wait()
        await session.cancel()
        assert (await asked).reason == "cancelled"
        assert (await session.ask("stop")).state is RoundState.finished


async def test_a_round_that_is_cancelled_before_it_began_is_opened_and_closed_all_the_same() -> None:
    async with running(says("Planner", (USER, "done")), limits=Limits(grace_s=30.0)) as runtime:
        session = await runtime.session("s")
        await session.ask("before")
        asked = asyncio.create_task(session.ask("hey"))
        await asyncio.sleep(0)
        assert session.running
        await session.cancel()
        round_ = await asked
        assert round_.reason == "cancelled"
        assert [each.state for each in (await runtime.read("s")).rounds] == [RoundState.finished, RoundState.failed]
        kinds = [type(event) for event in await events_of(runtime, "s")]
        assert kinds[-2:] == [RoundOpened, RoundClosed]


@pytest.mark.parametrize("ticks", range(12))
async def test_a_cancellation_at_any_moment_accounts_for_every_post(ticks: int) -> None:
    store = WaitingStore()
    async with running(relay(), echo(), store=store) as runtime:
        session = await runtime.session("s")
        heard: list[object] = []
        asked = asyncio.create_task(session.ask("hey", on_event=heard.append))
        for _ in range(ticks):
            await asyncio.sleep(0)
        await session.cancel()
        round_ = await asked
        assert round_.state is not RoundState.created
        events = await events_of(runtime, "s")
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)
        durable = [
            event
            for event in heard
            if isinstance(event, RoundOpened | PostSent | TurnFinished | PostCancelled | RoundClosed)
        ]
        assert durable == events, "what was written while its writer was cancelled is told as well"
        assert (await session.ask("again")).state is RoundState.finished


async def test_a_late_answer_does_not_turn_cancelled_into_finished() -> None:
    gate = Gate()

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.message != "slow":
            return turn.answer("done", USER)
        with contextlib.suppress(asyncio.CancelledError):
            await gate.wait()
        return turn.answer("swallowed it", USER)

    async with running(planner) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("slow"))
        await gate.reached.wait()
        await session.cancel()
        round_ = await asked
        assert (round_.state, round_.reason) == (RoundState.failed, "cancelled")
        assert len(round_.post_list) == 1
        assert (await session.ask("hey")).state is RoundState.finished


async def test_a_role_that_ignores_its_cancellation_is_abandoned_and_its_result_dropped() -> None:
    gate = Gate()
    async with running(waiting(gate, stubbornly=True)) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("first"))
        await gate.reached.wait()
        await session.cancel()
        round_ = await asked
        assert round_.reason == "cancelled"
        assert len(runtime.ground.children) == 2, "the sweeper, and the one that is abandoned"
        after = await session.ask("second")
        assert after.state is RoundState.finished
        gate.opened.set()
        await until(lambda: len(runtime.ground.children) == 1)
        assert len(round_.post_list) == 1
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


async def test_what_an_abandoned_role_still_says_reaches_nobody() -> None:
    gate = Gate()

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.message == "second":
            gate.opened.set()
            await asyncio.sleep(0.02)
            return turn.answer("done", USER)
        draft = turn.draft
        await gate.wait_stubbornly()
        draft.grow_message("too late")
        return draft.post

    heard: list[object] = []
    async with running(planner) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("first"))
        await gate.reached.wait()
        await session.cancel()
        await asked
        await session.ask("second", on_event=heard.append)
    assert not [event for event in heard if isinstance(event, MessageGrew)]


async def test_a_turn_that_never_returns_times_out() -> None:
    gate = Gate()
    async with running(waiting(gate), limits=SHORT) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert (round_.state, round_.reason) == (RoundState.failed, "timeout")
        assert "turn_timeout_s" in round_.detail
        assert "Planner" in round_.detail
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
        assert [turn.outcome for turn in turns] == ["timeout"]
        assert (await session.ask("again")).state is RoundState.finished


async def test_a_turn_that_never_returns_and_swallows_its_cancellation_times_out_too() -> None:
    gate = Gate()
    async with running(waiting(gate, stubbornly=True), limits=SHORT) as runtime:
        session = await runtime.session("s")
        assert (await session.ask("hey")).reason == "timeout"
        assert (await session.ask("again")).state is RoundState.finished
        gate.opened.set()


async def test_a_round_of_many_short_turns_times_out() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await asyncio.sleep(0.01)
        return turn.answer("thinking", "Planner")

    limits = Limits(max_internal_chat_round_num=1_000_000, turn_timeout_s=30.0, round_timeout_s=0.2, grace_s=0.2)
    async with running(planner, limits=limits) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert (round_.state, round_.reason) == (RoundState.failed, "timeout")
    assert "round_timeout_s" in round_.detail


async def test_a_queued_turn_is_not_charged_for_the_time_before_it() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await asyncio.sleep(0.1)
        return turn.answer(
            "thinking", "Planner" if len(turn.memory.get_role_rounds("Planner")[-1].post_list) < 4 else USER
        )

    async with running(planner, limits=Limits(turn_timeout_s=0.25, grace_s=0.1)) as runtime:
        assert (await (await runtime.session()).ask("hey")).state is RoundState.finished


async def test_a_stray_cancelled_error_of_a_role_is_its_failure() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.message == "bad":
            raise asyncio.CancelledError
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        session = await runtime.session()
        bad = await session.ask("bad")
        assert (bad.state, bad.reason) == (RoundState.failed, "role_error")
        assert (await session.ask("good")).state is RoundState.finished


async def test_awaiting_a_cancelled_task_of_ones_own_is_a_failure_too() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        mine = asyncio.create_task(asyncio.sleep(10))
        await asyncio.sleep(0)
        mine.cancel()
        await mine
        return turn.answer("never", USER)

    async with running(planner) as runtime:
        assert (await (await runtime.session()).ask("hey")).reason == "role_error"


async def test_a_role_that_cancels_the_task_it_runs_in_ends_its_round() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        task = asyncio.current_task()
        assert task is not None
        if turn.post.message == "bad":
            task.cancel()
            await asyncio.sleep(1)
        return turn.answer("done", USER)

    async with running(planner, store=WaitingStore()) as runtime:
        session = await runtime.session()
        heard: list[object] = []
        bad = await session.ask("bad", on_event=heard.append)
        assert bad.reason == "cancelled"
        assert isinstance(heard[-1], RoundClosed)
        assert (await session.ask("good")).state is RoundState.finished


async def test_timeouts_of_a_role_of_its_own_work_in_its_turn() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        except TimeoutError:
            pass
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0))
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        assert (await (await runtime.session()).ask("hey")).state is RoundState.finished


async def test_whoever_asks_and_is_cancelled_cancels_the_round() -> None:
    gate = Gate()
    async with running(waiting(gate)) as runtime:
        session = await runtime.session("s")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await session.ask("first")
        assert (await session.ask("second")).state is RoundState.finished
        assert session.rounds[0].reason == "cancelled"
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


async def test_the_next_question_waits_for_the_turns_of_an_abandoned_one_to_end() -> None:
    inside = 0

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        nonlocal inside
        inside += 1
        assert inside == 1, "an actor has one turn at a time"
        try:
            await asyncio.sleep(0.05)
        finally:
            # Its cleaning up takes a while.
            await asyncio.shield(asyncio.sleep(0.05))
            inside -= 1
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("first"))
        await until(lambda: inside)
        asked.cancel()
        second = await session.ask("second")
    assert second.state is RoundState.finished, second.detail


async def test_closing_the_runtime_ends_rounds_and_lets_everybody_know() -> None:
    gate, streamed = Gate(), []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await gate.wait()
        return turn.answer("never", USER)

    runtime = Runtime(Team(planner), kernels=None, limits=SHORT)
    async with runtime:
        one, other = await runtime.session("one"), await runtime.session("other")

        async def read() -> None:
            async for event in other.stream("hey"):
                streamed.append(event)

        asked, queued = asyncio.create_task(one.ask("hey")), asyncio.create_task(one.ask("later"))
        reading = asyncio.create_task(read())
        await until(lambda: one.running and other.running and gate.reached.is_set())
    round_ = await asked
    assert (round_.state, round_.reason) == (RoundState.failed, "cancelled")
    assert "runtime was closed" in round_.detail
    with pytest.raises(SessionClosedError):
        await queued
    await reading
    assert isinstance(streamed[-1], RoundClosed)
    for too_late in (one.ask("hey"), runtime.session("third"), anext(one.stream("hey"))):
        with pytest.raises(SessionClosedError):
            await too_late
    await until(lambda: len(runtime.ground.children) == 0)


async def test_closing_the_runtime_does_not_wait_for_ever_for_a_stubborn_role(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    runtime = Runtime(Team(waiting(gate, stubbornly=True)), kernels=None, limits=SHORT)
    async with asyncio.timeout(5), runtime:
        asked = asyncio.create_task((await runtime.session("s")).ask("hey"))
        await gate.reached.wait()
    gate.opened.set()
    await until(lambda: len(runtime.ground.children) == 0)
    assert (await asked).reason == "cancelled"
    assert "abandoned" in caplog.text
