"""What a turn thought and called comes back to its role in the next round, and to nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.message import AssistantTextMessage, MultiPartMessage, TextMessage, ToolMessage
from roles_runtime.llm.model import Finish, ReasoningDone, TextChunk, ToolCallChunk
from roles_runtime.llm.parts import ImagePart, TextPart
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.post import USER
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.stores.local import LocalStore
from roles_runtime.tools.tool import tool
from runtime.casting import Cast

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
THOUGHT = Reasoning(text="Adding is best.", origin="somebody", payload={"signature": "s"})


@tool
async def add(left: int, right: int) -> int:
    """Adds."""
    return left + right


def thinking(*, then: str) -> list[object]:
    call = ToolCall(call_id="c1", name="add", arguments='{"left": 1, "right": 2}')
    return [
        (ReasoningDone(THOUGHT), ToolCallChunk(call), Finish("tool_calls")),
        (ReasoningDone(Reasoning(text="Done.", origin="somebody")), TextChunk(then), Finish()),
        "And the same again.",
    ]


def adder(model: ScriptedModel) -> ModelRole:
    return ModelRole("Adder", model=model, tools=[add])


def last_request(model: ScriptedModel) -> LLMRequest:
    return model.requests[-1]


async def test_the_next_round_sees_what_the_last_one_thought_called_and_got_back() -> None:
    model = ScriptedModel(thinking(then="It is 3."), sequential=True)  # type: ignore[arg-type]
    async with Runtime(Team(adder(model)), kernels=None) as runtime:
        session = await runtime.session()
        await session.ask("1 + 2?")
        await session.ask("Again?")
    told = last_request(model).messages
    first = told[1]
    assert isinstance(first, TextMessage)
    trace = first.intermediate_trace
    assert trace is not None
    asked, returned = trace.records
    assert isinstance(asked, AssistantTextMessage)
    assert asked.reasoning == (THOUGHT,)
    assert asked.tool_calls[0].call_id == "c1"
    assert isinstance(returned, ToolMessage)
    assert returned.tool_reses[0].result == "3"
    answer = told[2]
    assert isinstance(answer, AssistantTextMessage)
    assert answer.reasoning[0].text == "Done."
    assert all(each.create_ts >= first.create_ts for each in trace.records)


async def test_a_restored_session_sees_it_too() -> None:
    store = LocalStore()
    model = ScriptedModel(thinking(then="It is 3."), sequential=True)  # type: ignore[arg-type]
    async with Runtime(Team(adder(model)), store=store, kernels=None) as runtime:
        await (await runtime.session("s")).ask("1 + 2?")
    again = ScriptedModel(["Once more: 3."], sequential=True)
    async with Runtime(Team(adder(again)), store=store, kernels=None) as runtime:
        await (await runtime.session("s")).ask("Again?")
    first = last_request(again).messages[1]
    assert isinstance(first, TextMessage)
    assert first.intermediate_trace is not None
    assert len(first.intermediate_trace.records) == 2


async def test_another_role_sees_nothing_of_it() -> None:
    async def lead(turn: Turn) -> Answer:
        return turn.answer("go on", {USER: "Adder", "Adder": "Other", "Other": USER}[turn.post.send_from])

    worker = ScriptedModel(thinking(then="It is 3."), sequential=True)  # type: ignore[arg-type]
    other = ScriptedModel(["Fine.", "Fine."], sequential=True)
    team = Team(Cast("Lead", lead), [adder(worker), ModelRole("Other", model=other)])
    async with Runtime(team, kernels=None) as runtime:
        session = await runtime.session()
        await session.ask("1 + 2?")
        await session.ask("Again?")
    for message in last_request(other).messages:
        assert getattr(message, "intermediate_trace", None) is None
        assert not getattr(message, "reasoning", ())
    assert any(getattr(each, "intermediate_trace", None) for each in last_request(worker).messages)


async def test_a_picture_in_the_workspace_reaches_the_model_as_bytes(tmp_path: Path) -> None:
    async def lead(turn: Turn) -> Answer:
        if turn.post.send_from != USER:
            return turn.answer("done", USER)
        turn.workspace.write("cat.png", PNG)
        turn.workspace.write("notes.png", b"no picture")
        post = turn.answer("What is this?", "Seer")
        for content in ("cat.png", "notes.png", "../../etc/passwd", "https://example.org/a.png"):
            post.add_attachment(
                Attachment.create(
                    AttachmentType.image_url, content, extra={"detail": "a cat"} if "cat" in content else None
                )
            )
        return post

    model = ScriptedModel(["A cat."], sequential=True)
    team = Team(Cast("Lead", lead), [ModelRole("Seer", model=model)])
    async with Runtime(team, kernels=None, data_dir=tmp_path) as runtime:
        await (await runtime.session()).ask("Look.")
    told = last_request(model).messages[-1]
    assert isinstance(told, MultiPartMessage)
    text, cat, notes, outside, url = told.content
    assert isinstance(text, TextPart)
    assert "What is this?" in text.text
    assert isinstance(cat, ImagePart)
    assert (cat.media.data, cat.media.mime, cat.detail) == (PNG, "image/png", "a cat")
    assert isinstance(notes, TextPart)
    assert "no picture" in notes.text
    assert isinstance(outside, TextPart)
    assert "outside the workspace" in outside.text
    assert isinstance(url, ImagePart)
    assert url.media.url == "https://example.org/a.png"


async def test_a_picture_that_comes_with_a_question_is_shown_to_the_leader(tmp_path: Path) -> None:
    picture, table = tmp_path / "photo", tmp_path / "t.png"
    picture.write_bytes(PNG)
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    model = ScriptedModel(["A cat."], sequential=True)
    async with Runtime(Team(ModelRole("Seer", model=model)), kernels=None, data_dir=tmp_path / "data") as runtime:
        await (await runtime.session()).ask("What is in the picture?", files=[picture, table])
    told = last_request(model).messages[-1]
    assert isinstance(told, MultiPartMessage)
    assert [part.media.data for part in told.content if isinstance(part, ImagePart)] == [PNG]
