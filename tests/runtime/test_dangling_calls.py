"""A call that was cut off in its middle harms no later turn: merging answers it, and no middleware is needed."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.assembly import construct_prompt_context, format_to_request_msgs
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.llm_message import LLMAssistantMessage, LLMToolMessage
from roles_runtime.llm.merging import CANCELLED, flatten_and_merge
from roles_runtime.llm.model import Finish, TextChunk, ToolCallChunk
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.post import USER
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.tools.tool import tool
from runtime.casting import Gate, cast, running

pytestmark = pytest.mark.anyio


def waiter(gate: Gate) -> tuple[ModelRole, ScriptedModel]:
    """A role whose first answer calls a tool that waits, and whose second is in words."""

    @tool
    async def wait() -> str:
        """Waits."""
        await gate.wait()
        return "waited"

    call = ToolCallChunk(ToolCall(call_id="c", name="wait", arguments="{}"))
    model = ScriptedModel([(call, Finish("tool_calls")), (TextChunk("Going on."), Finish())], sequential=True)
    return ModelRole("Waiter", model=model, tools=[wait]), model


def answered(request: LLMRequest) -> list[str]:
    """What stands after each call as a provider is sent it; each call is answered right after its message."""
    told = format_to_request_msgs(construct_prompt_context(request.messages, system_apart=False).messages)
    wire = flatten_and_merge(told, Capabilities(), lambda call_id: call_id)
    results: list[str] = []
    for message, following in zip(wire, [*wire[1:], None], strict=True):
        if isinstance(message, LLMAssistantMessage) and message.tool_calls:
            assert isinstance(following, LLMToolMessage)
            results.append(following.text)
    return results


async def test_a_round_that_was_cancelled_in_the_middle_of_a_call_lets_the_next_one_go_on() -> None:
    gate = Gate()
    role, model = waiter(gate)
    async with running(role) as runtime:
        session = await runtime.session()
        asked = asyncio.create_task(session.ask("Wait."))
        await gate.reached.wait()
        await session.cancel()
        assert (await asked).reason == "cancelled"
        record = await session.ask("Go on.")
    assert record.reply is not None
    assert record.reply.message == "Going on."
    assert answered(model.requests[-1]) == []


async def test_a_turn_that_was_cut_off_in_the_middle_of_a_call_lets_the_next_one_of_its_round_go_on() -> None:
    async def impatient(turn: Turn, respond: Respond) -> Answer:
        with anyio.fail_after(0.2):
            return await respond(turn)

    role, model = waiter(Gate())
    role.middleware = (impatient,)

    @cast("Lead")
    async def lead(turn: Turn) -> Answer:
        if turn.post.send_from == USER:
            return [turn.answer("wait", "Waiter"), turn.answer("come", "Other")]
        if len(turn.posts) == 2:
            return turn.answer("again", "Waiter")
        return turn.answer(turn.post.message, USER)

    @cast("Other")
    async def other(turn: Turn) -> Answer:
        return turn.answer("here")

    async with running(lead, role, other) as runtime:
        record = await (await runtime.session()).ask("Go.")
    assert record.reply is not None, record.detail
    assert record.reply.message == "Going on."
    assert answered(model.requests[-1]) == [CANCELLED]
