"""The events of a session: streams, handlers, drafts, and readers that are slow or faulty."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from roles_runtime.errors import PostRefusedError
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import (
    AttachmentGrew,
    DurableEvent,
    Event,
    MessageGrew,
    PostSent,
    PostWithdrawn,
    RoundClosed,
    RoundOpened,
    StatusChanged,
    TurnFinished,
    TurnStarted,
)
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.runtime.listeners import BUFFER
from runtime.casting import Gate, cast, echo, events_of, relay, running, says, until

pytestmark = pytest.mark.anyio


def durable(events: list[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, DurableEvent)]


async def test_a_stream_yields_the_events_of_its_round_in_order_and_roundclosed_last() -> None:
    async with running(relay(), echo()) as runtime:
        session = await runtime.session("s")
        await session.ask("before")
        events = [event async for event in session.stream("hey")]
        assert [type(event) for event in events] == [
            RoundOpened,
            PostSent,
            *[TurnStarted, PostSent, TurnFinished] * 3,
            RoundClosed,
        ]
        assert durable(events) == (await events_of(runtime, "s"))[9:]


async def test_leaving_a_stream_early_cancels_nothing() -> None:
    async with running(relay(), echo()) as runtime:
        session = await runtime.session("s")
        async with aclosing(session.stream("hey")) as events:
            async for event in events:
                if isinstance(event, PostSent):
                    break
        assert (await session.ask("next")).state is RoundState.finished
        assert session.rounds[0].state is RoundState.finished


async def test_a_stream_tells_what_ask_would_raise() -> None:
    async with running(echo()) as runtime:
        session = await runtime.session()
        with pytest.raises(PostRefusedError):
            async for _ in session.stream(" "):
                pass


@pytest.mark.parametrize("error", [RuntimeError("handler"), asyncio.CancelledError(), SystemExit(3)])
async def test_an_event_handler_that_raises_harms_nobody(error: BaseException) -> None:
    heard: list[Event] = []

    def faulty(event: Event) -> None:
        raise error

    async with running(relay(), echo()) as runtime:
        session = await runtime.session("s")
        async with session.listen() as events:
            round_ = await session.ask("hey", on_event=faulty)
            assert round_.state is RoundState.finished
            async for event in events:
                heard.append(event)
                if isinstance(event, RoundClosed):
                    break
        assert (await session.ask("again", on_event=heard.append)).state is RoundState.finished
        assert durable(heard) == await events_of(runtime, "s")


async def test_a_handler_hears_its_own_round_only() -> None:
    heard: list[Event] = []
    async with running(relay(), echo()) as runtime:
        session = await runtime.session("s")
        await session.ask("one")
        await session.ask("two", on_event=heard.append)
        await session.ask("three")
    rounds = {event.round_id for event in heard}
    assert rounds == {session.rounds[1].id}


async def test_the_growing_answer_streams_out_and_the_returned_post_is_it() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        turn.draft.status("calling model")
        turn.draft.address(USER)
        turn.draft.grow_message("Hel")
        turn.draft.grow_message("lo", is_end=True)
        turn.draft.grow_attachment("thought", "hm", is_end=True)
        return turn.draft.post

    async with running(planner) as runtime:
        session = await runtime.session()
        events = [event async for event in session.stream("hey")]
    assert [type(event) for event in events if not isinstance(event, DurableEvent)] == [
        TurnStarted,
        StatusChanged,
        MessageGrew,
        MessageGrew,
        AttachmentGrew,
    ]
    assert session.rounds[0].reply is not None
    assert session.rounds[0].reply.message == "Hello"


async def test_another_post_than_the_draft_withdraws_it() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        turn.draft.grow_message("no, ")
        return turn.answer("yes", USER)

    async with running(planner) as runtime:
        session = await runtime.session()
        events = [event async for event in session.stream("hey")]
    kinds = [type(event) for event in events]
    assert kinds.index(MessageGrew) < kinds.index(PostWithdrawn) < kinds.index(RoundClosed)
    assert session.rounds[0].reply is not None
    assert session.rounds[0].reply.message == "yes"


async def test_asking_a_second_time_begins_with_an_empty_draft() -> None:
    async def twice(turn: Turn, respond: Respond) -> Answer:
        await respond(turn)
        return await respond(turn)

    @cast("Planner", middleware=[twice])
    async def planner(turn: Turn) -> Answer:
        assert turn.draft.post.message == ""
        turn.draft.grow_message("x")
        turn.draft.address(USER)
        return turn.draft.post

    async with running(planner) as runtime:
        session = await runtime.session()
        events = [event async for event in session.stream("hey")]
    assert [type(each) for each in events if isinstance(each, MessageGrew | PostWithdrawn)] == [
        MessageGrew,
        PostWithdrawn,
        MessageGrew,
    ]
    assert session.rounds[0].reply is not None
    assert session.rounds[0].reply.message == "x"


async def test_a_role_that_raises_after_its_answer_had_grown_withdraws_it() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        turn.draft.grow_message("half a sen")
        raise ValueError("the stream broke")

    async with running(planner) as runtime:
        events = [event async for event in (await runtime.session()).stream("hey")]
    kinds = [type(event) for event in events]
    assert kinds.index(MessageGrew) < kinds.index(PostWithdrawn) < kinds.index(RoundClosed)


async def test_an_answer_to_nobody_withdraws_what_had_grown() -> None:
    recipients = iter(["nobody", USER])

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        turn.draft.address(next(recipients))
        turn.draft.grow_message("hello")
        return turn.draft.post

    async with running(planner) as runtime:
        events = [event async for event in (await runtime.session()).stream("hey")]
    assert [type(each) for each in events if isinstance(each, MessageGrew | PostWithdrawn)] == [
        MessageGrew,
        PostWithdrawn,
        MessageGrew,
    ]


async def test_a_slow_reader_loses_passing_events_only() -> None:
    """It rereads the durable ones: each once, in order, those of its own round alone."""

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.message == "talk":
            for _ in range(2 * BUFFER):
                turn.draft.status("talking")
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        session = await runtime.session("s")
        await session.ask("before")
        async with session.listen() as late:
            read: list[Event] = []
            async with aclosing(session.stream("talk")) as events:
                async for event in events:
                    if not read:
                        await until(lambda: not session.running)
                        await session.ask("after")
                    read.append(event)
            written = await events_of(runtime, "s")
            assert durable(read) == written[5:10]
            assert len(read) < BUFFER + 10
            heard: list[Event] = []
            async for event in late:
                heard.append(event)
                if len(durable(heard)) == 10:
                    break
            assert durable(heard) == written[5:]


async def test_many_readers_hear_the_same() -> None:
    gate = Gate()

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await gate.wait()
        return turn.answer("done", USER)

    async def read() -> list[Event]:
        heard: list[Event] = []
        async with session.listen() as events:
            async for event in events:
                heard.append(event)
                if isinstance(event, RoundClosed):
                    break
        return heard

    async with running(planner) as runtime:
        session = await runtime.session("s")
        readers = [asyncio.create_task(read()) for _ in range(5)]
        await asyncio.sleep(0)
        gate.opened.set()
        await session.ask("hey")
        heard = [await reader for reader in readers]
        written = await events_of(runtime, "s")
        assert [durable(each) for each in heard] == [written] * 5
        assert not session.listeners.watchers


async def test_without_a_listener_nothing_is_told() -> None:
    async with running(says("Planner", (USER, "done"))) as runtime:
        session = await runtime.session()
        await session.ask("hey")
        assert session.listeners.watchers == ()
