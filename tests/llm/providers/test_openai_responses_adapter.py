"""What is asked on OpenAI's Responses wire."""

from __future__ import annotations

import pytest

from llm.providers.openai_types import hold_to_vendor
from llm.providers.scenes import QUESTION, SCHEMA, WEATHER, asked, golden, trip
from roles_runtime.llm.assembly import assemble
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.message import AssistantTextMessage, MultiPartMessage, SystemMessage, TextMessage
from roles_runtime.llm.parts import FilePart, JsonObject, Media
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.llm.request import LLMRequest

ORIGIN = "openai-responses"


def item(number: int) -> JsonObject:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"secret {number}"}


def thought(number: int, *, chars: int = 0, calls: int = 0, origin: str = ORIGIN) -> Reasoning:
    return Reasoning(text="?", origin=origin, payload=item(number), after_chars=chars, after_calls=calls)


def body(request: LLMRequest, model: str = "gpt-5") -> JsonObject:
    return assemble(OpenAIModel(model).adapter, request)


def items(request: LLMRequest) -> list[JsonObject]:
    return body(request)["input"]  # type: ignore[return-value]


def test_a_trip_of_calls_pictures_and_thoughts_looks_as_it_should() -> None:
    golden("openai-responses-trip", body(trip(thought(1), thought(2, chars=8), thought(3, chars=13, calls=1))))


def test_a_plain_question_looks_as_it_should() -> None:
    golden("openai-responses-question", body(asked(response_schema=SCHEMA, effort="low", max_tokens=5, temperature=1)))


@pytest.mark.parametrize(
    "request_",
    [trip(thought(1)), trip(tools=()), asked(), asked(response_schema=SCHEMA, effort="none", tools=(WEATHER,))],
)
@pytest.mark.parametrize("model", ["gpt-5", "gpt-4o", "o3", "gpt-3.5-turbo"])
def test_a_body_is_of_the_vendors_own_type(request_: LLMRequest, model: str) -> None:
    hold_to_vendor("openai-responses", body(request_, model))


def test_nothing_is_stored_and_thoughts_are_asked_for_encrypted_where_there_are_any() -> None:
    thinks, blunt = body(asked()), body(asked(), "gpt-4o")
    assert thinks["store"] is blunt["store"] is False
    assert thinks["include"] == ["reasoning.encrypted_content"]
    assert "include" not in blunt


def answer(text: str, thoughts: tuple[Reasoning, ...], calls: int = 0) -> list[JsonObject]:
    made = tuple(ToolCall(call_id=f"c{each}", name="weather", arguments="{}") for each in range(calls))
    message = AssistantTextMessage(content=text, reasoning=thoughts, tool_calls=made)
    told = items(asked(QUESTION, message, TextMessage(content="And?"), tools=(WEATHER,)))
    return [each for each in told if each.get("type") != "function_call_output"][1:-1]


def test_a_thought_stands_where_it_was_thought() -> None:
    told = answer("One. Two.", (thought(1), thought(2, chars=5), thought(3, chars=9, calls=1)), calls=2)
    assert [each.get("id") or each.get("content") or each["call_id"] for each in told] == [
        "rs_1", "One. ", "rs_2", "Two.", "c0", "rs_3", "c1",
    ]  # fmt: skip
    assert told[0] == item(1)


def test_a_thought_that_nothing_followed_is_left_out() -> None:
    assert answer("One.", (thought(1, chars=4),)) == [{"role": "assistant", "content": "One."}]


def test_a_thought_of_another_house_is_left_out() -> None:
    assert answer("One.", (thought(1, origin="anthropic"),)) == [{"role": "assistant", "content": "One."}]


def test_a_thought_whose_place_lies_behind_the_end_breaks_nothing() -> None:
    assert [each.get("id") for each in answer("One.", (thought(1, chars=99), thought(2)), calls=1)] == [
        None, "rs_1", "rs_2", None,
    ]  # fmt: skip


def test_later_instructions_stand_where_they_were_given() -> None:
    told = items(asked(SystemMessage(content="a"), QUESTION, SystemMessage(content="b"), TextMessage(content="c")))
    assert [each["role"] for each in told] == ["user", "developer", "user"]


def test_a_file_may_be_given_by_its_address() -> None:
    page = FilePart(media=Media(url="https://example.org/a.pdf", mime="application/pdf"))
    told = items(asked(MultiPartMessage(content=(page,))))
    assert told[0]["content"] == [{"type": "input_file", "file_url": "https://example.org/a.pdf"}]


def test_a_choice_of_tools_is_told() -> None:
    assert body(asked(tools=(WEATHER,), tool_choice="required"))["tool_choice"] == "required"
    assert "tool_choice" not in body(asked(tools=(WEATHER,)))
