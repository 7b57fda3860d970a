"""Calls and tokens have bounds; a round that hits one fails as ``limit`` and says which."""

from __future__ import annotations

import pytest

from roles_runtime.errors import ConfigError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.model import Finish, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.providers.scripted import ScriptedModel, ScriptedReply
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.post import USER
from roles_runtime.roles.middleware.limits import UsageLimits
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.stores.local import LocalStore
from roles_runtime.tools.tool import tool
from runtime.casting import cast, running

pytestmark = pytest.mark.anyio


@tool
async def look() -> str:
    """Looks."""
    return "seen"


def calls(times: int, *, cost: int = 0) -> list[ScriptedReply]:
    """So many answers that call a tool, each of that many tokens; then one in words."""
    call = ToolCallChunk(ToolCall(call_id="c", name="look", arguments="{}"))
    finish = Finish("tool_calls", Usage(cost, 0, 1))
    return [*[(call, finish)] * times, (TextChunk("Done."), Finish("stop", Usage(cost, 0, 1)))]


def looker(replies: list[ScriptedReply]) -> ModelRole:
    return ModelRole("Looker", model=ScriptedModel(replies, sequential=True), tools=[look])


async def test_a_turn_may_call_its_model_so_often_and_no_more() -> None:
    async with running(looker(calls(3)), middleware=[UsageLimits(turn_calls=2)]) as runtime:
        record = await (await runtime.session()).ask("Look three times.")
    assert record.state is RoundState.failed
    assert record.reason == "limit"
    assert "the turn has used 2 calls, and turn_calls is 2" in record.detail


async def test_a_round_that_keeps_to_its_bounds_is_answered() -> None:
    async with running(looker(calls(3)), middleware=[UsageLimits(turn_calls=4, round_tokens=1)]) as runtime:
        record = await (await runtime.session()).ask("Look three times.")
    assert record.reply is not None
    assert record.reply.message == "Done."


async def test_tokens_of_a_round_are_counted_over_all_its_roles() -> None:
    @cast("Lead")
    async def lead(turn: Turn) -> Answer:
        return turn.answer("go on", {USER: "Looker", "Looker": "Other", "Other": USER}[turn.post.send_from])

    other = ModelRole("Other", model=ScriptedModel(calls(0), sequential=True))
    async with running(lead, looker(calls(0, cost=60)), other, middleware=[UsageLimits(round_tokens=50)]) as runtime:
        record = await (await runtime.session()).ask("Go.")
    assert record.reason == "limit"
    assert record.detail.startswith("Role Other: Model scripted: it was not asked: the round has used 60 tokens")


async def test_a_session_is_bounded_over_its_rounds_and_its_restarts() -> None:
    store = LocalStore()
    limits = [UsageLimits(session_calls=2)]
    async with running(looker([*calls(0), *calls(0)]), store=store, middleware=limits) as runtime:
        session = await runtime.session("s")
        assert (await session.ask("One.")).state is RoundState.finished
        assert (await session.ask("Two.")).state is RoundState.finished
    async with running(looker(calls(0)), store=store, middleware=limits) as runtime:
        record = await (await runtime.session("s")).ask("Three.")
    assert record.reason == "limit"
    assert "session_calls" in record.detail


async def test_a_branch_that_hits_a_bound_comes_in_as_a_failure_and_the_round_goes_on() -> None:
    @cast("Lead")
    async def lead(turn: Turn) -> Answer:
        if turn.post.send_from != USER:
            return turn.answer(" / ".join(post.message for post in turn.posts), USER)
        return [turn.answer("look", "Looker"), turn.answer("look", "Other")]

    other = ModelRole("Other", model=ScriptedModel(calls(0), sequential=True))
    async with running(lead, looker(calls(3)), other, middleware=[UsageLimits(turn_calls=1)]) as runtime:
        record = await (await runtime.session()).ask("Go.")
    assert record.reply is not None
    assert "Looker failed: " in record.reply.message
    assert record.reply.message.endswith("/ Done.")


async def test_a_role_without_a_model_is_left_alone() -> None:
    @cast("Mute")
    async def mute(turn: Turn) -> Answer:
        return turn.answer("no model", USER)

    async with running(mute, middleware=[UsageLimits(round_calls=1)]) as runtime:
        assert (await (await runtime.session()).ask("Go.")).state is RoundState.finished


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="turn_calls: it is 0"):
        UsageLimits(turn_calls=0)
