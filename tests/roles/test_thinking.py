"""A role's model calls tools: side by side, told and journalled in the order of the calls, and never without end."""

from __future__ import annotations

import json
from collections.abc import Sequence

import anyio
import pytest

from roles.stage import Stage
from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.message import AssistantTextMessage, ToolMessage
from roles_runtime.llm.model import Finish, ToolCallChunk
from roles_runtime.llm.parts import ImagePart, Media
from roles_runtime.llm.providers.scripted import ScriptedModel, ScriptedReply
from roles_runtime.posts.event import ModelReplied, ToolReturned
from roles_runtime.roles.role import ModelRole
from roles_runtime.tools.allowance import MAX_CALLS_AN_ANSWER, MAX_REPEATS
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.tool import Tool, tool

pytestmark = pytest.mark.anyio

PICTURE = Media(data=b"\x89PNG\r\n\x1a\n" + bytes(8))


def asks_for(*calls: tuple[str, str, object]) -> ScriptedReply:
    """An answer that calls: id, name, arguments."""
    made = (ToolCall(call_id=each, name=name, arguments=json.dumps(arguments)) for each, name, arguments in calls)
    return (*map(ToolCallChunk, made), Finish("tool_calls"))


def thinker(replies: Sequence[ScriptedReply], *tools: Tool) -> Stage:
    return Stage(ModelRole("Thinker", model=ScriptedModel([*replies, "Done."], sequential=True), tools=tools))


def returned(scene: Stage) -> list[ToolReturned]:
    return [event for event in scene.recorded if isinstance(event, ToolReturned)]


def last_told(scene: Stage) -> tuple[AssistantTextMessage, ToolMessage]:
    model = scene.role.model
    assert isinstance(model, ScriptedModel)
    asked, told = model.requests[-1].messages[-2:]
    assert isinstance(asked, AssistantTextMessage)
    assert isinstance(told, ToolMessage)
    return asked, told


async def test_the_journal_keeps_results_in_call_order_whichever_comes_first() -> None:
    last_done = anyio.Event()

    @tool
    async def wait(last: bool) -> str:
        if last:
            last_done.set()
        else:
            await last_done.wait()
        return "last" if last else "first"

    scene = thinker([asks_for(("a", "wait", {"last": False}), ("b", "wait", {"last": True}))], wait)
    await scene.asks("Wait.")
    assert [event.call_id for event in returned(scene)] == ["a", "b"]
    assert [each.result for each in last_told(scene)[1].tool_reses] == ["first", "last"]


async def test_a_tool_is_told_who_calls() -> None:
    @tool
    async def whose(caller: Caller) -> str:
        caller.status("looking")
        return f"{caller.role} {caller.session_id} {caller.round_id} {caller.call_id}"

    scene = thinker([asks_for(("a", "whose", {}))], whose)
    await scene.asks("Who?")
    assert last_told(scene)[1].tool_reses[0].result == f"Thinker session {scene.conversation.rounds[-1].id} a"
    assert scene.statuses[-4:] == ["calling whose", "looking", "calling model", "receiving response"]


async def test_calls_of_one_id_are_journalled_and_told_under_ids_of_their_own() -> None:
    @tool
    async def echo(word: str) -> str:
        return word

    again = asks_for(("a", "echo", {"word": "three"}))
    scene = thinker([asks_for(("a", "echo", {"word": "one"}), ("a", "echo", {"word": "two"})), again], echo)
    await scene.asks("Say them.")
    ids = [event.call_id for event in returned(scene)]
    assert ids[0] == "a"
    assert len(set(ids)) == 3
    replied = [event for event in scene.recorded if isinstance(event, ModelReplied)][:2]
    messages = [AssistantTextMessage.model_validate_json(event.message) for event in replied]
    assert [call.call_id for message in messages for call in message.tool_calls] == ids
    asked, told = last_told(scene)
    assert [call.call_id for call in asked.tool_calls] == [each.call_id for each in told.tool_reses] == ids[2:]


async def test_a_picture_that_a_tool_gives_back_reaches_the_model_and_the_journal() -> None:
    @tool
    async def draw() -> list[object]:
        return ["A line.", PICTURE]

    scene = thinker([asks_for(("a", "draw", {}))], draw)
    await scene.asks("Draw.")
    expected = ToolReturn(call_id="a", name="draw", result="A line.", attachments=(ImagePart(media=PICTURE),))
    assert last_told(scene)[1].tool_reses == (expected,)
    assert ToolReturn.model_validate_json(returned(scene)[0].result) == expected


async def test_a_model_that_repeats_one_call_is_told_so_and_the_tool_is_called_no_more() -> None:
    ran = []

    @tool
    async def look(n: int) -> str:
        ran.append(n)
        return "nothing"

    scene = thinker([asks_for((f"c{n}", "look", {"n": 1})) for n in range(MAX_REPEATS + 1)], look)
    await scene.asks("Look.")
    assert len(ran) == MAX_REPEATS
    assert "times in a row" in last_told(scene)[1].tool_reses[0].result
    assert returned(scene)[-1].outcome == "rejected"


async def test_an_answer_with_too_many_calls_has_the_rest_refused() -> None:
    ran = []

    @tool
    async def look(n: int) -> str:
        ran.append(n)
        return "nothing"

    count = MAX_CALLS_AN_ANSWER + 3
    scene = thinker([asks_for(*((f"c{n}", "look", {"n": n}) for n in range(count)))], look)
    await scene.asks("Look.")
    assert sorted(ran) == list(range(MAX_CALLS_AN_ANSWER))
    assert [event.outcome for event in returned(scene)] == ["ok"] * MAX_CALLS_AN_ANSWER + ["rejected"] * 3


async def test_a_call_that_takes_too_long_is_journalled_as_a_timeout_and_the_turn_goes_on() -> None:
    @tool(timeout_s=0.01)
    async def sleep() -> None:
        await anyio.sleep_forever()

    scene = thinker([asks_for(("a", "sleep", {}))], sleep)
    assert (await scene.asks("Sleep.")).message == "Done."
    assert [event.outcome for event in returned(scene)] == ["timeout"]
