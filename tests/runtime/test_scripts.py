"""Whatever roles do, in whatever order, and whenever they are cancelled: the journal adds up."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from roles_runtime.errors import InvalidResponseError
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import RoundClosed
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from roles_runtime.stores.local import LocalStore
from runtime.casting import Cast, WaitingStore, events_of, folded, running

NAMES = ("Planner", "A", "B", "C")
LIMITS = Limits(max_internal_chat_round_num=12, turn_timeout_s=5.0, round_timeout_s=10.0, grace_s=0.05)


class Move(NamedTuple):
    """What a role does in one turn: it waits some ticks, then sends to whom it names, or does something else."""

    what: str
    recipients: tuple[str, ...] = ()
    ticks: int = 0


class Script(NamedTuple):
    """What all roles do, turn by turn, and after how many ticks each round is cancelled (-1: never)."""

    moves: dict[str, list[Move]]
    cancels: list[int]
    slow_store: bool


ticks = st.sampled_from([0, 0, 0, 1, 3])
sends = st.builds(lambda name, n: Move("send", (name,), n), st.sampled_from([*NAMES, USER, "", "nobody"]), ticks)
fans = st.builds(
    lambda names, n: Move("send", tuple(names), n),
    st.lists(st.sampled_from([*NAMES, "nobody"]), min_size=2, max_size=3, unique=True),
    ticks,
)
others = st.builds(
    Move, st.sampled_from(["raise", "invalid", "none", "stray", "swallow", "sealed"]), st.just(()), ticks
)
moves = st.lists(st.one_of(sends, sends, fans, fans, others), min_size=1, max_size=5)
scripts = st.builds(
    Script,
    st.fixed_dictionaries(dict.fromkeys(NAMES, moves)),
    st.lists(st.integers(-1, 15), min_size=1, max_size=3),
    st.booleans(),
)


def acting(name: str, script: Sequence[Move], turns: Counter[str]) -> Cast:
    async def act(turn: Turn) -> Answer:
        move = script[turns[name] % len(script)]
        turns[name] += 1
        for _ in range(move.ticks):
            await asyncio.sleep(0)
        match move.what:
            case "raise":
                raise ValueError("as the script says")
            case "invalid":
                raise InvalidResponseError("as the script says")
            case "stray":
                raise asyncio.CancelledError
            case "none":
                wrong: Any = None
                return wrong  # type: ignore[no-any-return]
            case "sealed":
                return turn.post
            case "swallow":
                for _ in range(3):
                    try:
                        await asyncio.sleep(0.002)
                    except asyncio.CancelledError:
                        continue
        posts = [turn.answer("x", recipient) for recipient in move.recipients or (turn.requester,)]
        return posts if len(posts) > 1 else posts[0]

    return Cast(name, act)


async def play(script: Script) -> None:
    turns: Counter[str] = Counter()
    leader, *workers = (acting(name, script.moves[name], turns) for name in NAMES)
    store = WaitingStore() if script.slow_store else LocalStore()
    # `running` audits the journal at its end: every Post accounted for, once, and no task left.
    async with running(leader, *workers, store=store, limits=LIMITS, patience_s=10) as runtime:
        session = await runtime.session("s")
        for number, cancelled_after in enumerate(script.cancels):
            asked = asyncio.create_task(session.ask(f"question {number}"))
            if cancelled_after >= 0:
                for _ in range(cancelled_after):
                    await asyncio.sleep(0)
                await session.cancel()
            round_ = await asked
            assert round_.state is not RoundState.created
            assert (round_.reason is None) == (round_.state is RoundState.finished)
            assert round_.reason != "timeout"
            session.setbacks = None  # or most of the time would be spent waiting for crashed roles
        events = await events_of(runtime, "s")
        assert sum(isinstance(event, RoundClosed) for event in events) == len(script.cancels)
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


@settings(max_examples=250, deadline=None)
@given(scripts)
def test_every_round_ends_once_and_every_post_is_accounted_for(script: Script) -> None:
    asyncio.run(play(script))
