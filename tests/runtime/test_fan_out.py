"""Several Posts in flight: fan-outs, their joins, and branches that fail."""

from __future__ import annotations

import asyncio

import pytest

from roles_runtime.errors import InvalidResponseError
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import PostSent, TurnFinished
from roles_runtime.posts.post import USER, Post
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from runtime.casting import Cast, Gate, WaitingStore, cast, echo, entries_of, events_of, folded, running, until

pytestmark = pytest.mark.anyio


def splitting(*names: str, name: str = "Planner", to: str = USER, turns: list[Turn] | None = None) -> Cast:
    """Asks all of them at once, and hands on what they answered, in the order in which it came to it."""

    async def act(turn: Turn) -> Answer:
        if turns is not None:
            turns.append(turn)
        if turn.post.send_from not in names:
            return [turn.answer(f"{turn.post.message} for {each}", each) for each in names]
        return turn.answer(", ".join(post.message for post in turn.posts), to)

    return Cast(name, act)


@pytest.mark.parametrize("width", [2, 3, 20])
async def test_answers_are_joined_in_sending_order_whatever_order_they_come_in(width: int) -> None:
    names = [f"W{n}" for n in range(width)]
    turns: list[Turn] = []

    def slow(name: str, ticks: int) -> Cast:
        async def act(turn: Turn) -> Answer:
            for _ in range(ticks):
                await asyncio.sleep(0)
            return turn.answer(name)

        return Cast(name, act)

    workers = [slow(name, width - n) for n, name in enumerate(names)]
    limits = Limits(max_internal_chat_round_num=100)
    async with running(splitting(*names, turns=turns), *workers, limits=limits) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        entries = await entries_of(runtime.ground.store, "s")
    assert round_.state is RoundState.finished
    assert round_.reply is not None
    assert round_.reply.message == ", ".join(names)
    assert len(turns) == 2
    joined = turns[1]
    assert [post.send_from for post in joined.posts] == names
    assert joined.post is joined.posts[-1]
    finished = [entry for entry in entries if isinstance(entry.event, TurnFinished)]
    assert finished[-1].event.answered == tuple(post.id for post in joined.posts)  # type: ignore[union-attr]
    assert finished[-1].key == f"{round_.id}/{joined.post.id}/Planner", "one key for the join"
    sent = [entry for entry in entries if isinstance(entry.event, PostSent)]
    assert [entry.key.rpartition("#")[2] for entry in sent[1 : 1 + width]] == [str(n) for n in range(width)]
    assert sent[-1].event.in_reply_to == tuple(post.id for post in joined.posts)  # type: ignore[union-attr]


async def test_branches_run_side_by_side() -> None:
    meeting = asyncio.Barrier(3)

    def meets(name: str) -> Cast:
        async def act(turn: Turn) -> Answer:
            async with asyncio.timeout(5):
                await meeting.wait()
            return turn.answer(name)

        return Cast(name, act)

    async with running(splitting("A", "B", "C"), meets("A"), meets("B"), meets("C")) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished, round_.detail


async def test_an_actor_has_one_turn_at_a_time_in_journal_order() -> None:
    inside = 0
    heard: list[str] = []

    @cast("Shared")
    async def shared(turn: Turn) -> Answer:
        nonlocal inside
        inside += 1
        assert inside == 1
        heard.append(turn.post.id)
        for _ in range(5):
            await asyncio.sleep(0)
        inside -= 1
        return turn.answer("served")

    def through(name: str) -> Cast:
        async def act(turn: Turn) -> Answer:
            return turn.answer(turn.post.message, "Shared" if turn.post.send_from == "Planner" else "Planner")

        return Cast(name, act)

    names = ["A", "B", "C"]
    limits = Limits(max_internal_chat_round_num=50)
    workers = [through(name) for name in names]
    async with running(splitting(*names), *workers, shared, limits=limits, store=WaitingStore()) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert round_.state is RoundState.finished, round_.detail
    assert heard == [post.id for post in round_.post_list if post.send_to == "Shared"]


async def test_sessions_do_not_wait_for_one_anothers_actors() -> None:
    meeting = asyncio.Barrier(2)

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        async with asyncio.timeout(5):
            await meeting.wait()
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        one, other = await runtime.session(), await runtime.session()
        rounds = await asyncio.gather(one.ask("hey"), other.ask("hey"))
    assert [each.state for each in rounds] == [RoundState.finished] * 2


async def test_fan_outs_may_be_nested() -> None:
    limits = Limits(max_internal_chat_round_num=50)
    inner = splitting("C", "D", name="A", to="Planner")
    async with running(splitting("A", "B"), inner, echo("B"), echo("C"), echo("D"), limits=limits) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)
    assert round_.reply is not None
    assert round_.reply.message == "C heard hey for A for C, D heard hey for A for D, B heard hey for B"


async def test_a_branch_may_correct_itself_and_ask_others_before_it_answers() -> None:
    @cast("A")
    async def a(turn: Turn) -> Answer:
        if turn.post.send_from == "Planner":
            return turn.answer("first a look in the mirror", "A")
        return turn.answer("and a second opinion", "C") if turn.post.send_from == "A" else turn.answer("A", "Planner")

    async with running(splitting("A", "B"), a, echo("B"), echo("C")) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.reply is not None
    assert round_.reply.message == "A, B heard hey for B"


async def test_fan_outs_may_follow_one_another() -> None:
    count = 0

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        nonlocal count
        count += 1
        assert len(turn.posts) == (1 if count == 1 else 2)
        return [turn.answer("go", "A"), turn.answer("go", "B")] if count <= 30 else turn.answer("done", USER)

    limits = Limits(max_internal_chat_round_num=500)
    async with running(planner, echo("A"), echo("B"), limits=limits) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished


async def test_a_branch_that_raises_arrives_as_a_post_from_its_role() -> None:
    gate = Gate()

    @cast("A")
    async def a(turn: Turn) -> Answer:
        gate.opened.set()
        raise ValueError("no such column")

    @cast("B")
    async def b(turn: Turn) -> Answer:
        await gate.wait()
        return turn.answer("B")

    async with running(splitting("A", "B"), a, b) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)
    assert round_.state is RoundState.finished
    assert round_.reply is not None
    assert "A failed: ValueError: no such column" in round_.reply.message
    assert round_.reply.message.endswith(", B")
    assert [turn.outcome for turn in turns if turn.role == "A"] == ["error"]


async def test_a_failed_branch_is_written_in_one_append_with_the_post_that_tells_of_it() -> None:
    @cast("A")
    async def a(turn: Turn) -> Answer:
        raise ValueError("no")

    store = WaitingStore()
    async with running(splitting("A", "B"), a, echo("B"), store=store) as runtime:
        await (await runtime.session("s")).ask("hey")
    with_a = [
        {type(entry.event) for entry in each}
        for each in store.appends
        if any(isinstance(entry.event, TurnFinished) and entry.event.role == "A" for entry in each)
    ]
    assert with_a == [{PostSent, TurnFinished}]


async def test_a_branch_deep_inside_comes_in_as_a_failure_of_the_role_it_began_with() -> None:
    @cast("A")
    async def a(turn: Turn) -> Answer:
        return turn.answer("help", "C")

    @cast("C")
    async def c(turn: Turn) -> Answer:
        raise ValueError("no")

    async with running(splitting("A", "B"), a, echo("B"), c) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.reply is not None
    assert round_.reply.message.startswith("A failed: ")


async def test_a_branch_that_writes_to_the_user_is_shown_and_has_failed() -> None:
    @cast("A")
    async def a(turn: Turn) -> Answer:
        return turn.answer("look here", USER)

    async with running(splitting("A", "B"), a, echo("B")) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished
    assert [post.message for post in round_.post_list if (post.send_from, post.send_to) == ("A", USER)] == ["look here"]
    assert round_.reply is not None
    assert round_.reply.message.startswith("A failed: ")


async def test_a_branch_that_can_not_mend_its_answer_has_failed() -> None:
    @cast("A")
    async def a(turn: Turn) -> Answer:
        raise InvalidResponseError("no message")

    async with running(splitting("A", "B"), a, echo("B")) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.reply is not None
    assert round_.reply.message == "A failed: no message, B heard hey for B"


async def test_the_leaders_post_to_the_user_ends_turns_that_still_run() -> None:
    gate = Gate()
    ended: list[str] = []

    @cast("A")
    async def a(turn: Turn) -> Answer:
        if turn.post.send_from == "Planner":
            return [turn.answer("go", "Planner2"), turn.answer("wait", "C")]
        return turn.answer("never")

    @cast("C")
    async def c(turn: Turn) -> Answer:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            ended.append("C")
            raise
        return turn.answer("late")

    @cast("Planner2")
    async def helper(turn: Turn) -> Answer:
        await gate.reached.wait()
        return turn.answer("the leader should know", "Planner")

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return turn.answer("go", "A") if turn.post.send_from == USER else turn.answer("done", USER)

    async with running(planner, a, c, helper) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)
    assert round_.state is RoundState.finished
    assert ended == ["C"]
    assert [turn.outcome for turn in turns if turn.role == "C"] == ["cancelled"]


async def test_a_turn_that_swallows_the_end_of_the_round_is_abandoned_after_the_grace() -> None:
    gate = Gate()

    @cast("A")
    async def a(turn: Turn) -> Answer:
        await gate.wait_stubbornly()
        return turn.answer("late")

    @cast("B")
    async def b(turn: Turn) -> Answer:
        await gate.reached.wait()
        return turn.answer("again", "B")

    async with running(splitting("A", "B"), a, b, limits=Limits(grace_s=0.1)) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert (round_.state, round_.reason) == (RoundState.failed, "limit")
        length = len(round_.post_list)
        gate.opened.set()
        await asyncio.sleep(0.02)
        assert len(round_.post_list) == length, "its result is dropped"


async def test_branches_that_wait_for_one_another_stall_the_round() -> None:
    @cast("A")
    async def a(turn: Turn) -> Answer:
        return (
            [turn.answer("go", "C"), turn.answer("go", "D")] if turn.post.send_from == "Planner" else turn.answer("x")
        )

    @cast("D")
    async def d(turn: Turn) -> Answer:
        return turn.answer("past my owner", "Planner")

    async with running(splitting("A", "B"), a, echo("B"), echo("C"), d) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert (round_.state, round_.reason) == (RoundState.failed, "stalled")
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


async def test_replies_of_a_fan_out_all_count_toward_the_limit() -> None:
    async with running(
        splitting("A", "B", "C"), echo("A"), echo("B"), echo("C"), limits=Limits(max_internal_chat_round_num=3)
    ) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert (round_.state, round_.reason) == (RoundState.failed, "limit")
    assert len(round_.post_list) == 4


async def test_an_unknown_recipient_in_a_list_is_mended_by_the_sender() -> None:
    attempts = iter([["A", "nobody"], ["A", "B"]])

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if len(turn.posts) == 2:
            return turn.answer("done", USER)
        return [turn.answer("go", name) for name in next(attempts)]

    async with running(planner, echo("A"), echo("B")) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
    assert round_.state is RoundState.finished, round_.detail
    assert "nobody" in round_.post_list[1].message
    assert turns[0].outcome == "rejected"


async def test_cancelling_a_round_with_a_half_joined_fan_out_accounts_for_every_post() -> None:
    gate = Gate()

    @cast("A")
    async def a(turn: Turn) -> Answer:
        await gate.wait()
        return turn.answer("never")

    async with running(splitting("A", "B"), a, echo("B")) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("hey"))
        await gate.reached.wait()
        await until(lambda: any(post.send_from == "B" for post in session.rounds[-1].post_list))
        await session.cancel()
        round_ = await asked
        assert round_.reason == "cancelled"
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


async def test_a_list_may_be_any_sequence_of_posts() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.send_from != USER:
            return turn.answer("done", USER)
        posts: tuple[Post, ...] = (turn.answer("go", "A"), turn.answer("go", "B"))
        return posts

    async with running(planner, echo("A"), echo("B")) as runtime:
        assert (await (await runtime.session()).ask("hey")).state is RoundState.finished
