"""What a round was made of goes with it: nothing is left to the garbage collector, which comes when it likes."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from roles_runtime import ModelRole, ScriptedModel
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.actor import Actor
from roles_runtime.runtime.scope import TurnScope
from runtime.casting import echo, relay, running

pytestmark = pytest.mark.anyio


@pytest.fixture
def uncollected() -> Iterator[list[object]]:
    """What only the collector can take apart is kept in `gc.garbage`."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield gc.garbage
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


async def test_a_round_leaves_nothing_to_the_collector(uncollected: list[object]) -> None:
    async with running(relay(), echo()) as runtime:
        session = await runtime.session("s")
        for _ in range(3):
            assert (await session.ask("go")).state == "finished"
        gc.collect()
        assert not [each for each in uncollected if isinstance(each, ActiveRound | Actor | TurnScope)]


async def test_a_turn_with_a_model_leaves_nothing_either(uncollected: list[object]) -> None:
    role = ModelRole("Worker", model=ScriptedModel(["one", "two"], sequential=True))
    async with running(role) as runtime:
        session = await runtime.session("s")
        await session.ask("go")
        await session.ask("go")
        gc.collect()
        assert not [each for each in uncollected if isinstance(each, ActiveRound | Actor | TurnScope)]
