"""A stream, gathered into a message while its text goes on."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import pytest

from roles_runtime.errors import ModelError, StreamIncompleteError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.message import SystemMessage
from roles_runtime.llm.model import Finish, ReasoningChunk, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.llm.stream import asked

pytestmark = pytest.mark.anyio

REQUEST = LLMRequest((SystemMessage(content="Answer."),))
CALL = ToolCall(call_id="1", name="t", arguments="{}")


async def test_the_message_holds_text_reasoning_and_calls() -> None:
    script = (
        ReasoningChunk("let me "),
        ReasoningChunk("see"),
        TextChunk("he"),
        TextChunk("re"),
        ToolCallChunk(CALL),
        Finish("tool_calls", Usage(7, 5, 1)),
    )
    async with asked(ScriptedModel([script]), REQUEST) as reply:
        assert [piece async for piece in reply.text()] == ["he", "re"]
    message = reply.message("Planner")
    assert (message.content, message.reasoning_content, message.tool_calls) == ("here", "let me see", (CALL,))
    assert (message.creator, reply.reason, reply.usage) == ("Planner", "tool_calls", Usage(7, 5, 1))


async def test_a_stream_without_its_terminal_signal_is_no_answer() -> None:
    async with asked(ScriptedModel([(TextChunk("half"),)]), REQUEST) as reply:
        with pytest.raises(StreamIncompleteError):
            _ = [piece async for piece in reply.text()]


async def test_leaving_early_ends_the_call_and_keeps_what_came() -> None:
    closed = []

    class Watched(ScriptedModel):
        async def stream(self, request: LLMRequest):  # type: ignore[no-untyped-def]
            try:
                async for chunk in super().stream(request):
                    yield chunk
            finally:
                closed.append(True)

    async with asked(Watched(["a longer text than one piece"]), REQUEST) as reply, aclosing(reply.text()) as text:
        await anext(text)
    assert closed == [True]
    assert reply.message("x").content == "a longer"
    assert (reply.reason, reply.usage) == ("stop", Usage(calls=1))


async def test_what_a_call_cost_is_heard_although_its_reader_had_seen_enough() -> None:
    script = (TextChunk("enough"), TextChunk(" and more"), Finish("length", Usage(7, 5, 1)))
    async with asked(ScriptedModel([script]), REQUEST) as reply, aclosing(reply.text()) as text:
        await anext(text)
    assert reply.usage == Usage(7, 5, 1)
    assert (reply.raw_text, reply.reason) == ("enough", "stop")


@pytest.mark.parametrize("rest", [ModelError("m", "it is down."), OSError("reset")])
async def test_a_rest_that_fails_or_never_comes_does_not_spoil_what_was_read(rest: Exception) -> None:
    class Stuck(ScriptedModel):
        async def stream(self, request: LLMRequest):  # type: ignore[no-untyped-def]
            yield TextChunk("enough")
            await anyio.sleep_forever()

    for model in (ScriptedModel([(TextChunk("enough"), rest)]), Stuck([])):
        async with asked(model, REQUEST) as reply, aclosing(reply.text()) as text:
            await anext(text)
        assert (reply.raw_text, reply.usage) == ("enough", Usage(calls=1))


async def test_half_a_character_at_the_end_can_be_written_down() -> None:
    async with asked(ScriptedModel([(TextChunk("ok \ud83d"), TextChunk("\ude00 \ud83d"), Finish())]), REQUEST) as reply:
        _ = [piece async for piece in reply.text()]
    message = reply.message("x")
    assert message.content == "ok 😀 \ufffd"
    assert type(message).model_validate_json(message.model_dump_json()) == message
