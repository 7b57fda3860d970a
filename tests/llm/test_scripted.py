"""The scripted model replays answers; which one comes follows from the request."""

from __future__ import annotations

from pathlib import Path

import pytest

from roles_runtime.errors import ModelError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.message import (
    AssistantTextMessage,
    IntermediateTrace,
    Message,
    SystemMessage,
    TextMessage,
    ToolMessage,
)
from roles_runtime.llm.model import Finish, ReasoningChunk, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.llm.resolving import resolve_model

pytestmark = pytest.mark.anyio


def asked(*answers: str, role: str = "Planner", schema: bool = True) -> LLMRequest:
    """A request in which the model has given these answers already."""
    messages: list[Message] = [SystemMessage(content="Rules.", creator=role)]
    for answer in answers:
        messages += [TextMessage(content="?", creator="User"), AssistantTextMessage(content=answer, creator=role)]
    messages.append(TextMessage(content="?", creator="User"))
    title: JsonObject | None = {"title": role} if schema else None
    return LLMRequest(tuple(messages), response_schema=title)


async def text_of(model: ScriptedModel, request: LLMRequest) -> str:
    return "".join([chunk.text async for chunk in model.stream(request) if isinstance(chunk, TextChunk)])


async def test_a_text_comes_in_small_pieces_and_ends_with_the_terminal_signal() -> None:
    chunks = [chunk async for chunk in ScriptedModel(["a longer answer, 預算"]).stream(asked())]
    assert len(chunks) > 3
    assert chunks[-1] == Finish("stop", Usage(calls=1))


async def test_the_answer_follows_from_what_was_answered_before_so_sessions_do_not_disturb_each_other() -> None:
    model = ScriptedModel(["one", "two", "three"])
    assert await text_of(model, asked()) == "one"
    assert await text_of(model, asked("one", "two")) == "three"
    assert await text_of(model, asked()) == "one"
    assert await text_of(model, asked("one")) == "two"


async def test_answers_of_an_example_are_not_counted() -> None:
    request = asked()
    example = (TextMessage(content="e"), AssistantTextMessage(content="E"))
    grown = LLMRequest((request.messages[0], *example, *request.messages[1:]), response_schema=request.response_schema)
    assert await text_of(ScriptedModel(["one", "two"]), grown) == "one"


async def test_what_earlier_turns_called_is_counted() -> None:
    call = AssistantTextMessage(tool_calls=(ToolCall(call_id="c", name="look", arguments="{}"),), creator="Planner")
    trace = IntermediateTrace(records=(call, ToolMessage(creator="Planner")))
    system, *_ = asked().messages
    question = TextMessage(content="?", creator="User", intermediate_trace=trace)
    said = AssistantTextMessage(content="two", creator="Planner")
    model = ScriptedModel({"Planner": ["one", "two", "three"]})
    assert await text_of(model, LLMRequest((system, question))) == "two"
    assert (
        await text_of(model, LLMRequest((system, question, said, TextMessage(content="?", creator="User")))) == "three"
    )


@pytest.mark.parametrize(("delay_s", "is_known"), [("0.01", True), ("-1", False), ("61", False), ("soon", False)])
async def test_a_script_may_say_how_long_an_answer_takes(tmp_path: Path, delay_s: str, is_known: bool) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(f"delay_s: {delay_s}\nPlanner: [one]\n", encoding="utf-8")
    if is_known:
        assert await text_of(ScriptedModel.from_name(str(script)), asked()) == "one"
    else:
        with pytest.raises(ModelError, match="delay_s"):
            ScriptedModel.from_name(str(script))


async def test_each_role_has_answers_of_its_own_known_by_the_schema_or_by_the_system_message() -> None:
    model = ScriptedModel({"Planner": ["plan"], "Reviewer": ["review"], "*": ["other"]})
    assert await text_of(model, asked(role="Planner")) == "plan"
    assert await text_of(model, asked(role="Reviewer", schema=False)) == "review"
    assert await text_of(model, asked(role="Critic")) == "other"


async def test_a_role_by_another_name_is_known_by_its_kind_too() -> None:
    request = asked(role="Coder")
    renamed = LLMRequest(request.messages, response_schema={"title": "CodeInterpreter"})
    assert await text_of(ScriptedModel({"CodeInterpreter": ["kind"]}), renamed) == "kind"
    assert await text_of(ScriptedModel({"CodeInterpreter": ["kind"], "Coder": ["name"]}), renamed) == "name"


async def test_a_script_that_is_used_up_says_so() -> None:
    with pytest.raises(ModelError, match="2 answers for Planner, and was asked for one more"):
        await text_of(ScriptedModel(["one", "two"]), asked("one", "two"))


async def test_a_role_without_answers_is_told() -> None:
    with pytest.raises(ModelError, match="0 answers for Critic"):
        await text_of(ScriptedModel({"Planner": ["one"]}), asked(role="Critic"))


async def test_chunks_come_as_they_are() -> None:
    script = (
        ReasoningChunk("hm"),
        ToolCallChunk(ToolCall(call_id="1", name="t", arguments="{}")),
        Finish("tool_calls"),
    )
    assert [chunk async for chunk in ScriptedModel([script]).stream(asked())] == list(script)


async def test_errors_are_raised_alone_or_in_the_middle() -> None:
    model = ScriptedModel([ModelError("m", "it is down."), (TextChunk("so far"), OSError("reset"))])
    with pytest.raises(ModelError, match="it is down"):
        await text_of(model, asked())
    stream = model.stream(asked("one"))
    assert await anext(stream) == TextChunk("so far")
    with pytest.raises(OSError, match="reset"):
        await anext(stream)


async def test_an_answer_may_be_made_of_the_request() -> None:
    model = ScriptedModel([lambda request: f"{len(request.messages)} messages"])
    assert await text_of(model, asked()) == "2 messages"


async def test_in_sequence_an_empty_answer_counts_and_requests_are_kept() -> None:
    model = ScriptedModel(["", "full"], sequential=True)
    assert await text_of(model, asked()) == ""
    assert await text_of(model, asked()) == "full"
    assert [each.messages[-1].content for each in model.requests] == ["?", "?"]
    with pytest.raises(ModelError, match="one more"):
        await text_of(model, asked())


async def test_a_script_in_yaml_holds_texts_answers_tool_calls_and_errors(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(
        "Planner:\n"
        "  - response: {send_to: User, message: 預算}\n"
        "  - tool_calls: [{name: add, arguments: {left: 1}}, {name: now, arguments: ''}]\n"
        "  - error: the model is down.\n"
        "CodeInterpreter: [plain]\n",
        encoding="utf-8",
    )
    model = resolve_model(f"scripted:{path}")
    assert isinstance(model, ScriptedModel)
    assert model.name == f"scripted:{path}"
    assert not model.writes_code
    assert await text_of(model, asked()) == '{"response":{"send_to":"User","message":"預算"}}'
    calls = [chunk async for chunk in model.stream(asked("one"))]
    assert calls == [
        ToolCallChunk(ToolCall(call_id="call-0", name="add", arguments='{"left":1}')),
        ToolCallChunk(ToolCall(call_id="call-1", name="now", arguments="")),
        Finish("tool_calls", Usage(calls=1)),
    ]
    with pytest.raises(ModelError, match="the model is down"):
        await text_of(model, asked("one", "two"))
    assert await text_of(model, asked(role="CodeInterpreter")) == "plain"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("script.json", b"[", "can not be used: Input data was truncated"),
        ("script.json", b"7", "must hold a list"),
        ("script.yaml", b"a: &x [1]\nb: *x\n", "aliases"),
        ("script.yaml", b"\xff\xfe\xff", "can not be used: .*it is not UTF-8"),
        ("script.yaml", b"!!python/object:os.system {}", "can not be used: .*are refused"),
        ("script.json", b'{"Planner": [7]}', "Planner, answer 1"),
        ("script.json", b'[{"tool_calls": [{"name": "x"}]}]', "tool call needs"),
        ("script.yaml", b"#" * (2 << 20), "larger"),
        ("script.json", b" " * (2 << 20), "larger"),
    ],
)
def test_a_file_that_is_no_script_is_refused_with_its_reason(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=told):
        ScriptedModel.from_name(str(tmp_path / name))


@pytest.mark.parametrize("name", ["", "nowhere/script.json", "."])
def test_a_script_that_can_not_be_read_is_told(name: str) -> None:
    with pytest.raises(ModelError):
        ScriptedModel.from_name(name)
