"""A transport delivers at least once, and when it likes: no Post is rethought, no round ends with one under way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from roles_runtime.mail.envelope import Envelope
from roles_runtime.mail.local import LocalMailbox, LocalTransport
from roles_runtime.mail.transport import Address
from roles_runtime.posts.conversation import RoundState
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from runtime.casting import QUICK, Cast, echo, relay

pytestmark = pytest.mark.anyio


class Slow(LocalTransport):
    """Has an envelope when `send` returns; it lands later, as often as it is said."""

    def __init__(self, *, copies: int = 1, loses: bool = False) -> None:
        super().__init__()
        self.copies, self.loses = copies, loses

    async def send(self, envelope: Envelope) -> None:
        loop = asyncio.get_running_loop()
        for n in range(0 if self.loses else self.copies):
            loop.call_later(0.01 * (n + 1), self._land, envelope)

    def _land(self, envelope: Envelope) -> None:
        mailbox = self._boxes.get((envelope.session_id, envelope.recipient))
        if mailbox is not None:
            mailbox.line.append(envelope)
            mailbox.wake()

    def open(self, address: Address, wake: Callable[[], None], *, capacity: int) -> LocalMailbox:
        return super().open(address, wake, capacity=capacity * self.copies)


def counting(turns: list[str]) -> Cast:
    async def act(turn: Turn) -> Answer:
        turns.append(turn.post.message)
        await asyncio.sleep(0.03)
        return turn.answer(f"heard {turn.post.message}")

    return Cast("Echo", act)


async def test_a_round_waits_for_what_is_still_in_the_transport() -> None:
    async with Runtime(Team(relay(), [echo()]), kernels=None, transport=Slow(), limits=QUICK) as runtime:
        ended = await (await runtime.session()).ask("hey")

    assert ended.state is RoundState.finished
    assert len(ended.post_list) == 4


async def test_a_post_that_is_delivered_twice_is_answered_once() -> None:
    turns: list[str] = []
    team = Team(relay(), [counting(turns)])
    async with Runtime(team, kernels=None, transport=Slow(copies=3), limits=QUICK) as runtime:
        session = await runtime.session()
        ended = await session.ask("hey")
        again = await session.ask("you")

    assert (ended.state, again.state) == (RoundState.finished, RoundState.finished)
    assert turns == ["hey", "you"]
    assert len(ended.post_list) == len(again.post_list) == 4


async def test_a_post_that_never_lands_ends_the_round_at_its_limit() -> None:
    limits = Limits(round_timeout_s=0.1, grace_s=0.2)
    async with Runtime(Team(relay(), [echo()]), kernels=None, transport=Slow(loses=True), limits=limits) as runtime:
        ended = await (await runtime.session()).ask("hey")

    assert (ended.state, ended.reason) == (RoundState.failed, "timeout")
