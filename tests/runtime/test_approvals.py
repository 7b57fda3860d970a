"""A role asks the user for a yes or no: the clocks stand still, and without anybody there it is no."""

from __future__ import annotations

import asyncio

import pytest

from roles_runtime.errors import ApprovalNotFoundError
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.event import ApprovalAsked, ApprovalGiven, Event
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.approvals import Pauses
from roles_runtime.runtime.limits import Limits
from roles_runtime.stores.local import LocalStore
from runtime.casting import Cast, Gate, cast, events_of, running, until

pytestmark = pytest.mark.anyio


def asks(*questions: str, name: str = "Asker") -> Cast:
    """A role that asks all that at once, and says what it was told."""

    async def act(turn: Turn) -> Answer:
        told = await asyncio.gather(*map(turn.approve, questions))
        return turn.answer(", ".join("yes" if each else "no" for each in told))

    return Cast(name, act)


def said(record: Round) -> str:
    assert record.reply is not None, record.detail
    return record.reply.message


async def test_without_anybody_there_it_is_no_at_once_and_that_is_journalled() -> None:
    async with running(asks("May I?")) as runtime:
        session = await runtime.session("s")
        assert said(await session.ask("Go.")) == "no"
        assert session.approvals == ()
        found = [each for each in await events_of(runtime, "s") if isinstance(each, ApprovalAsked | ApprovalGiven)]
    asked, given = found
    assert isinstance(asked, ApprovalAsked)
    assert isinstance(given, ApprovalGiven)
    assert (asked.question, asked.role) == ("May I?", "Asker")
    assert given.approval_id == asked.approval_id
    assert not given.approved
    assert given.comment == "Nobody was there to answer."


async def test_who_attends_the_stream_answers_while_the_role_waits() -> None:
    async with running(asks("May I?")) as runtime:
        session = await runtime.session("s")
        answers: list[bool] = []
        with session.attended():
            async for event in session.stream("Go."):
                if isinstance(event, ApprovalAsked):
                    assert session.approvals == (event,)
                    session.approve(event.approval_id, True, "half a \ud800 character")
                if isinstance(event, ApprovalGiven):
                    answers.append(event.approved)
        assert said(session.rounds[-1]) == "yes"
    assert answers == [True]


async def test_a_handler_may_answer_in_the_moment_it_is_told() -> None:
    async with running(asks("One?", "Two?")) as runtime:
        session = await runtime.session("s")

        def take(event: Event) -> None:
            if isinstance(event, ApprovalAsked):
                session.approve(event.approval_id, event.question == "Two?")

        with session.attended():
            assert said(await session.ask("Go.", on_event=take)) == "no, yes"


async def test_several_roles_may_ask_at_once_and_each_hears_its_own_answer() -> None:
    @cast("Lead")
    async def lead(turn: Turn) -> Answer:
        if turn.post.send_from == USER:
            return [turn.answer("go", "One"), turn.answer("go", "Two")]
        return turn.answer(" / ".join(post.message for post in turn.posts), USER)

    async with running(lead, asks("1?", name="One"), asks("2?", name="Two")) as runtime:
        session = await runtime.session("s")
        with session.attended():
            asked = asyncio.create_task(session.ask("Go."))
            await until(lambda: len(session.approvals) == 2)
            for question in reversed(session.approvals):
                session.approve(question.approval_id, question.role == "Two")
            assert said(await asked) == "no / yes"


async def test_the_clocks_of_turn_and_round_stand_still_while_it_waits() -> None:
    limits = Limits(turn_timeout_s=0.1, round_timeout_s=0.2, grace_s=0.2)
    async with running(asks("May I?"), limits=limits) as runtime:
        session = await runtime.session("s")
        with session.attended():
            asked = asyncio.create_task(session.ask("Go."))
            await until(lambda: session.approvals)
            await asyncio.sleep(0.6)
            session.approve(session.approvals[0].approval_id, True)
            assert said(await asked) == "yes"


async def test_the_clocks_go_on_after_the_answer() -> None:
    @cast("Asker")
    async def asker(turn: Turn) -> Answer:
        await turn.approve("May I?")
        await asyncio.sleep(60)
        return turn.answer("late")

    async with running(asker, limits=Limits(turn_timeout_s=0.1, grace_s=0.2)) as runtime:
        session = await runtime.session("s")
        with session.attended():
            asked = asyncio.create_task(session.ask("Go."))
            await until(lambda: session.approvals)
            session.approve(session.approvals[0].approval_id, True)
            record = await asked
    assert record.reason == "timeout"


async def test_when_the_last_one_leaves_it_is_no() -> None:
    async with running(asks("May I?")) as runtime:
        session = await runtime.session("s")
        with session.attended():
            with session.attended():
                asked = asyncio.create_task(session.ask("Go."))
                await until(lambda: session.approvals)
            await asyncio.sleep(0)
            assert session.approvals
        assert said(await asked) == "no"


async def test_a_round_that_is_cancelled_takes_its_question_along_and_the_session_goes_on() -> None:
    async with running(asks("May I?")) as runtime:
        session = await runtime.session("s")
        with session.attended():
            asked = asyncio.create_task(session.ask("Go."))
            await until(lambda: session.approvals)
            question = session.approvals[0]
            await session.cancel()
            assert (await asked).reason == "cancelled"
            assert session.approvals == ()
            with pytest.raises(ApprovalNotFoundError, match="open are: none"):
                session.approve(question.approval_id, True)
        assert said(await session.ask("Again.")) == "no"


async def test_a_second_answer_and_one_to_nothing_are_refused() -> None:
    async with running(asks("May I?")) as runtime:
        session = await runtime.session("s")
        with pytest.raises(ApprovalNotFoundError):
            session.approve("nothing", True)
        with session.attended():
            asked = asyncio.create_task(session.ask("Go."))
            await until(lambda: session.approvals)
            approval_id = session.approvals[0].approval_id
            session.approve(approval_id, True)
            with pytest.raises(ApprovalNotFoundError):
                session.approve(approval_id, False)
            assert said(await asked) == "yes"


async def test_a_role_that_asks_after_its_turn_is_over_hears_no() -> None:
    gate, told = Gate(), []

    @cast("Stray")
    async def stray(turn: Turn) -> Answer:
        async def later() -> None:
            await gate.wait()
            told.append(await turn.approve("Still?"))

        tasks.append(asyncio.create_task(later()))
        return turn.answer("done")

    tasks: list[asyncio.Task[None]] = []
    async with running(stray) as runtime:
        session = await runtime.session("s")
        with session.attended():
            await session.ask("Go.")
            gate.opened.set()
            await asyncio.gather(*tasks)
    assert told == [False]


async def test_a_restored_session_does_not_wait_for_an_old_question() -> None:
    store = LocalStore()
    async with running(asks("May I?"), store=store) as runtime:
        session = await runtime.session("s")
        with session.attended():
            asked = asyncio.create_task(session.ask("Go."))
            await until(lambda: session.approvals)
            # What a killed process leaves: a question and no end of its round.
            left = [each async for each in store.read("s")]
            await session.cancel()
            await asked
    killed = LocalStore()
    async with killed:
        await killed.claim("s")
        await killed.append("s", left)
    assert isinstance(left[-1].event, ApprovalAsked)
    async with running(asks("May I?"), store=killed, interrupted=True) as runtime:
        session = await runtime.session("s")
        assert session.approvals == ()
        assert session.rounds[0].reason == "interrupted"
        with pytest.raises(ApprovalNotFoundError):
            session.approve(left[-1].event.approval_id, True)
        assert (await session.ask("Again.")).state is RoundState.finished


def test_waits_that_overlap_count_once() -> None:
    pauses = Pauses()
    pauses.begin(1.0)
    pauses.begin(2.0)
    pauses.end(3.0)
    assert pauses.until(4.0) == 3.0
    pauses.end(5.0)
    assert pauses.until(9.0) == 4.0
    pauses.begin(10.0)
    assert pauses.until(11.0) == 5.0
