"""A coat sees every round, turn and envelope, and what became of it; without one nothing is wrapped."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from roles_runtime.errors import RoleError
from roles_runtime.kernels.kernel import Kernel
from roles_runtime.llm.model import Model
from roles_runtime.mail.envelope import Envelope
from roles_runtime.mail.transport import Address, Mailbox, Transport
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.event import DurableEvent, Outcome, TurnFinished
from roles_runtime.posts.post import USER, RoleName
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.runtime.coats import Act, Asked, Play
from roles_runtime.tools.tool import Tool
from runtime.casting import cast, echo, entries_of, relay, running, says

pytestmark = pytest.mark.anyio


class WatchedTransport:
    def __init__(self, worn: Transport, seen: list[str]) -> None:
        self._worn, self._seen = worn, seen

    def open(self, address: Address, wake, *, capacity: int) -> Mailbox:  # type: ignore[no-untyped-def]
        return self._worn.open(address, wake, capacity=capacity)

    async def send(self, envelope: Envelope) -> None:
        self._seen.append(f"send to {envelope.recipient}")
        await self._worn.send(envelope)

    async def aclose(self) -> None:
        await self._worn.aclose()


class Watching:
    """A coat that notes what it sees."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.written: list[DurableEvent] = []

    def caller(self) -> str:
        return "00-caller"

    def current(self, events: Sequence[DurableEvent]) -> str:
        self.written += events
        return "00-current"

    def wrap_round(self, play: Play, asked: Asked) -> Play:
        async def watched(record: Round) -> None:
            self.seen.append(f"round {asked.index} of {asked.session_id} for {asked.caller} after {asked.previous}")
            record.traceparent = f"00-round-{asked.index}"
            await play(record)
            self.seen.append(f"round {record.state}")

        return watched

    def wrap_transport(self, transport: Transport) -> Transport:
        return WatchedTransport(transport, self.seen)

    def wrap_turn(self, act: Act, role: RoleName) -> Act:
        async def watched(turn: Turn) -> Outcome:
            try:
                outcome = await act(turn)
            except Exception as error:
                self.seen.append(f"{role} raised {type(error).__name__}")
                raise
            self.seen.append(f"{role} {outcome}")
            return outcome

        return watched

    def wrap_respond(self, respond: Respond, role: RoleName) -> Respond:
        async def watched(turn: Turn) -> Answer:
            answer = await respond(turn)
            self.seen.append(f"{role} answers")
            return answer

        return watched

    def wrap_model(self, model: Model, role: RoleName) -> Model:
        return model

    def wrap_tools(self, tools: tuple[Tool, ...], role: RoleName) -> tuple[Tool, ...]:
        return tools

    def wrap_kernel(self, kernel: Kernel, role: RoleName) -> Kernel:
        return kernel


async def test_a_coat_sees_rounds_turns_and_envelopes() -> None:
    coat = Watching()
    async with running(relay(), echo(), coats=coat) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
        entries = await entries_of(runtime.ground.store, "s")
    assert round_.state is RoundState.finished
    assert coat.seen == [
        "round 0 of s for 00-caller after ",
        "send to Planner",
        "Planner answers",
        "send to Echo",
        "Planner ok",
        "Echo answers",
        "send to Planner",
        "Echo ok",
        "Planner answers",
        "Planner ok",
        "round finished",
    ]
    assert {entry.traceparent for entry in entries} == {"00-current"}
    # Of a hop it is shown the Post alone.
    events = [entry.event for entry in entries]
    assert [each for each in coat.written if not isinstance(each, TurnFinished)] == [
        each for each in events if not isinstance(each, TurnFinished)
    ]


async def test_a_coat_is_told_of_the_round_before() -> None:
    coat = Watching()
    async with running(relay(), echo(), coats=coat) as runtime:
        session = await runtime.session("s")
        await session.ask("one")
        await session.ask("two")
    assert "round 1 of s for 00-caller after 00-round-0" in coat.seen


async def test_a_coat_hears_the_routers_verdict() -> None:
    coat = Watching()
    async with running(says("Planner", ("nobody", "x"), (USER, "done")), coats=coat) as runtime:
        await (await runtime.session("s")).ask("hey")
    assert [seen for seen in coat.seen if seen in ("Planner rejected", "Planner ok")] == [
        "Planner rejected",
        "Planner ok",
    ]


async def test_a_coat_sees_what_a_role_raises_and_what_the_router_refuses() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.message == "raise":
            raise ValueError("no")
        return []

    coat = Watching()
    async with running(planner, coats=coat) as runtime:
        session = await runtime.session("s")
        assert (await session.ask("raise")).reason == "role_error"
        assert (await session.ask("empty")).reason == "role_error"
    raised = [seen for seen in coat.seen if "raised" in seen]
    assert raised == ["Planner raised ValueError", f"Planner raised {RoleError.__name__}"]


async def test_a_coat_that_fails_ends_the_round_and_hangs_nobody() -> None:
    class Torn(Watching):
        def wrap_round(self, play: Play, asked: Asked) -> Play:
            async def watched(record: Round) -> None:
                if record.user_query == "bad":
                    raise RuntimeError("the coat is torn")
                await play(record)

            return watched

    async with running(relay(), echo(), coats=Torn(), patience_s=5) as runtime:
        session = await runtime.session("s")
        assert (await session.ask("bad")).state is RoundState.failed
        assert (await session.ask("good")).state is RoundState.finished
