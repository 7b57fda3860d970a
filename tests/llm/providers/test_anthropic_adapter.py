"""What Anthropic is asked."""

from __future__ import annotations

import msgspec
import pytest
from pydantic import TypeAdapter

from llm.providers.scenes import QUESTION, SCHEMA, WEATHER, asked, golden, trip
from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.assembly import assemble
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.message import AssistantTextMessage, SystemMessage, TextMessage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.anthropic import AnthropicAdapter
from roles_runtime.llm.providers.anthropic.schema import enforceable
from roles_runtime.llm.request import LLMRequest

OPUS = AnthropicAdapter("claude-opus-4-8")
SONNET = AnthropicAdapter("claude-sonnet-4-5")

FIRST: JsonObject = {"type": "thinking", "thinking": "Look first.", "signature": "Eq=="}
SECOND: JsonObject = {"type": "redacted_thinking", "data": "Zm9v"}
THIRD: JsonObject = {"type": "thinking", "thinking": "", "signature": "only"}
THOUGHTS = (
    Reasoning(text="Look first.", origin="anthropic", payload=FIRST),
    Reasoning(origin="anthropic", payload=SECOND, after_chars=8),
    Reasoning(origin="anthropic", payload=THIRD, after_chars=13, after_calls=1),
)


def blocks(request: LLMRequest, adapter: AnthropicAdapter = OPUS) -> list[list[JsonObject]]:
    messages: list[JsonObject] = assemble(adapter, request)["messages"]
    return [each["content"] for each in messages]


def test_a_trip_of_calls_pictures_and_thoughts_looks_as_it_should() -> None:
    golden("anthropic-trip", assemble(OPUS, trip(*THOUGHTS)))


def test_a_plain_question_looks_as_it_should() -> None:
    golden("anthropic-question", assemble(SONNET, asked(response_schema=SCHEMA, effort="low", max_tokens=9000)))


@pytest.mark.parametrize(
    "request_",
    [trip(*THOUGHTS), trip(*THOUGHTS, tools=()), asked(), asked(response_schema=SCHEMA, effort="high")],
)
@pytest.mark.parametrize(
    "model", ["claude-opus-4-8", "claude-sonnet-4-5", "claude-opus-5-5", "claude-3-5-haiku", "glm"]
)
def test_a_body_is_of_the_vendors_own_type(request_: LLMRequest, model: str, oracle: TypeAdapter[object]) -> None:
    _walked(oracle.validate_python(assemble(AnthropicAdapter(model), request_)))


@pytest.fixture(scope="module")
def oracle() -> TypeAdapter[object]:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    return TypeAdapter(MessageCreateParamsStreaming)


def _walked(value: object) -> object:
    """Looks at all of it: what is Iterable for the vendor is validated only then."""
    if isinstance(value, dict):
        return {key: _walked(each) for key, each in value.items()}
    if isinstance(value, str | bytes | int | float | None):
        return value
    return [_walked(each) for each in value]


def test_thoughts_stand_where_they_were_and_nothing_of_the_text_is_lost() -> None:
    said = blocks(trip(*THOUGHTS))[1]
    kinds = ["thinking", "text", "redacted_thinking", "text", "tool_use", "thinking", "tool_use"]
    assert [each["type"] for each in said] == kinds
    assert [each for each in said if each["type"] in ("thinking", "redacted_thinking")] == [FIRST, SECOND, THIRD]
    assert "".join(each["text"] for each in said if each["type"] == "text") == "I look. Both."


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"type": "thinking", "thinking": "x"},
        {"type": "thinking", "thinking": "x", "signature": ""},
        {"type": "redacted_thinking", "data": ""},
        {"type": "text", "text": "x"},
    ],
)
def test_a_thought_that_is_not_signed_is_dropped_and_not_forged(payload: JsonObject) -> None:
    unsigned = Reasoning(text="x", origin="anthropic", payload=payload)
    assert blocks(trip(unsigned)) == blocks(trip())


def test_a_foreign_thought_with_a_signature_is_dropped() -> None:
    assert blocks(trip(Reasoning(text="x", origin="gemini", payload=FIRST))) == blocks(trip())


def test_it_does_not_think_where_the_calls_it_goes_on_from_have_no_thought_of_its_own() -> None:
    def thinking(model: str, *thoughts: Reasoning) -> object:
        request = trip(*thoughts)
        return assemble(AnthropicAdapter(model), msgspec.structs.replace(request, effort="high")).get("thinking")

    assert thinking("claude-sonnet-4-5", *THOUGHTS) == {"type": "enabled", "budget_tokens": 16384}
    assert thinking("claude-sonnet-4-5") is None
    assert thinking("claude-opus-4-8", *THOUGHTS) == {"type": "adaptive"}
    assert thinking("claude-opus-4-8") is None
    assert thinking("claude-sonnet-5") == {"type": "disabled"}
    assert thinking("claude-sonnet-5-5") == {"type": "between_tools"}
    assert thinking("claude-opus-5-5") == {"type": "adaptive"}


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "output"),
    [
        ("claude-opus-4-8", None, None, None),
        ("claude-opus-4-8", "none", None, {"effort": "low"}),
        ("claude-opus-4-8", "medium", {"type": "adaptive"}, {"effort": "medium"}),
        ("claude-sonnet-4-5", "low", {"type": "enabled", "budget_tokens": 2048}, None),
        ("claude-sonnet-4-5-20250929", "high", {"type": "enabled", "budget_tokens": 16384}, None),
        ("claude-sonnet-5", "none", {"type": "disabled"}, {"effort": "low"}),
        ("claude-sonnet-5-5", "none", {"type": "between_tools"}, {"effort": "low"}),
        ("claude-opus-5-5", "none", None, {"effort": "low"}),
        ("claude-fable-5-1", "high", {"type": "adaptive"}, {"effort": "high"}),
        ("claude-3-5-haiku-latest", "high", None, None),
        ("glm-5", "high", None, None),
    ],
)
def test_how_hard_it_thinks_is_told_as_the_model_takes_it(
    model: str, effort: object, thinking: object, output: object
) -> None:
    body = assemble(AnthropicAdapter(model), asked(effort=effort))
    assert (body.get("thinking"), body.get("output_config")) == (thinking, output)


def test_a_budget_leaves_room_for_the_answer_or_is_not_given() -> None:
    assert assemble(SONNET, asked(effort="high", max_tokens=4000))["thinking"] == {
        "type": "enabled",
        "budget_tokens": 2976,
    }
    assert "thinking" not in assemble(SONNET, asked(effort="high", max_tokens=2000))


def test_sampling_is_never_sent_and_a_bound_always() -> None:
    body = assemble(OPUS, asked(temperature=0.2, top_p=0.9))
    assert not {"temperature", "top_p", "top_k"} & set(body)
    assert body["max_tokens"] == 128_000
    assert assemble(OPUS, asked(max_tokens=77))["max_tokens"] == 77


def test_a_call_is_forced_only_where_the_model_lets_one() -> None:
    def choice(model: str, **fields: object) -> object:
        return assemble(AnthropicAdapter(model), asked(tools=(WEATHER,), **fields)).get("tool_choice")

    assert choice("claude-opus-4-8") is None
    assert choice("claude-opus-4-8", tool_choice="required") == {"type": "any"}
    assert choice("claude-opus-4-8", tool_choice="none") == {"type": "none"}
    assert choice("claude-opus-5-5", tool_choice="required") is None
    body = assemble(SONNET, asked(tools=(WEATHER,), tool_choice="required", effort="high"))
    assert body["tool_choice"] == {"type": "any"}
    assert "thinking" not in body


def test_a_schema_is_enforced_without_tools_only_and_where_the_model_can() -> None:
    assert "output_config" in assemble(SONNET, asked(response_schema=SCHEMA))
    assert "output_config" not in assemble(SONNET, asked(response_schema=SCHEMA, tools=(WEATHER,)))
    assert "output_config" not in assemble(AnthropicAdapter("claude-3-7-sonnet"), asked(response_schema=SCHEMA))


def test_a_schema_is_closed_and_loses_its_bounds_but_not_its_meaning() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "pattern": "a+", "format": "regex"},
            "n": {"oneOf": [{"type": "integer", "minimum": 1}, {"$ref": "#/$defs/N"}]},
        },
        "$defs": {"N": {"type": "object", "properties": {}, "additionalProperties": True}},
    }
    assert enforceable(schema) == {
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "n": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/N"}]},
        },
        "$defs": {"N": {"type": "object", "properties": {}, "additionalProperties": False}},
        "additionalProperties": False,
    }


def test_tools_that_are_gone_are_still_declared_for_the_calls_in_the_history_but_can_not_be_called() -> None:
    body = assemble(OPUS, trip(tools=()))
    assert [each["name"] for each in body["tools"]] == ["weather"]
    assert body["tool_choice"] == {"type": "none"}
    assert "tools" not in assemble(OPUS, asked())


def test_ids_of_another_house_are_fitted_and_stay_apart() -> None:
    def called(*ids: str) -> AssistantTextMessage:
        return AssistantTextMessage(
            tool_calls=tuple(ToolCall(call_id=each, name="weather", arguments="{}") for each in ids)
        )

    turns = blocks(asked(QUESTION, called("a.b", "a:b", "é" * 80), tools=(WEATHER,)))
    ids = [str(each["id"]) for each in turns[1]]
    assert len(set(ids)) == 3
    assert all(each.isascii() and len(each) <= 64 for each in ids)
    assert [each["tool_use_id"] for each in turns[2]] == ids
    assert all(each["is_error"] for each in turns[2])


def test_later_instructions_stand_inside_only_where_the_model_takes_them() -> None:
    request = asked(SystemMessage(content="A"), QUESTION, SystemMessage(content="B"), TextMessage(content="And now?"))
    [[first, told, last]] = blocks(request)
    assert (first["text"], last["text"]) == (QUESTION.content, "And now?")
    assert "B" in str(told["text"])
    inside = AnthropicAdapter("claude-opus-4-8", Capabilities(system_param=True, system_inside=True))
    bodies = assemble(inside, asked(QUESTION, SystemMessage(content="B"), AssistantTextMessage(content="C"), QUESTION))
    assert [each["role"] for each in bodies["messages"]] == ["user", "system", "assistant", "user"]
