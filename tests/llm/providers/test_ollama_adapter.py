"""What Ollama is asked."""

from __future__ import annotations

import pytest

from llm.providers.scenes import QUESTION, SCHEMA, WEATHER, asked, golden, trip
from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.assembly import assemble
from roles_runtime.llm.calls import Reasoning
from roles_runtime.llm.message import AssistantTextMessage, SystemMessage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.ollama import OllamaAdapter

QWEN = OllamaAdapter("qwen3")
SEEING = OllamaAdapter("qwen2.5vl:7b")


def messages(body: JsonObject) -> list[JsonObject]:
    return body["messages"]


def test_a_trip_of_calls_and_pictures_looks_as_it_should() -> None:
    golden("ollama-trip", assemble(SEEING, trip()))


def test_a_plain_question_looks_as_it_should() -> None:
    fields = {"effort": "low", "temperature": 0.5, "top_p": 0.9, "max_tokens": 100}
    golden("ollama-question", assemble(QWEN, asked(response_schema=SCHEMA, **fields)))


def test_calls_go_without_ids_and_results_stand_in_their_order() -> None:
    body = assemble(QWEN, trip())
    assert "call_1" not in str(body)
    assert [each["content"] for each in messages(body) if each["role"] == "tool"] == ["21 °C", "Which city?"]
    assert [each["tool_name"] for each in messages(body) if each["role"] == "tool"] == ["weather", "weather"]


def test_its_thoughts_are_not_sent_back() -> None:
    thought = Reasoning(text="deep in thought", origin="ollama")
    answer = AssistantTextMessage(content="Paris.", reasoning=(thought,))
    assert "deep in thought" not in str(assemble(QWEN, asked(QUESTION, answer, QUESTION)))


def test_a_model_that_does_not_see_reads_the_words() -> None:
    told = messages(assemble(QWEN, trip()))
    assert all("images" not in each for each in told)
    assert "A map." in str(told[1]["content"])
    assert [len(each["images"]) for each in messages(assemble(SEEING, trip())) if "images" in each] == [1, 1]


@pytest.mark.parametrize(
    ("model", "effort", "think"),
    [
        ("qwen3", None, None),
        ("qwen3", "none", False),
        ("qwen3", "high", True),
        ("gpt-oss:20b", "high", "high"),
        ("gpt-oss:20b", "none", False),
    ],
)
def test_how_hard_it_thinks_is_told_as_the_model_takes_it(model: str, effort: object, think: object) -> None:
    assert assemble(OllamaAdapter(model), asked(effort=effort)).get("think") == think


def test_the_window_is_asked_for_so_that_the_server_cuts_nothing_in_silence() -> None:
    assert assemble(QWEN, asked())["options"] == {"num_ctx": 16_384}
    own = OllamaAdapter("qwen3", Capabilities(context_window=None))
    assert "options" not in assemble(own, asked())


def test_a_call_is_forbidden_by_showing_no_tools() -> None:
    assert "tools" in assemble(QWEN, asked(tools=(WEATHER,)))
    assert "tools" not in assemble(QWEN, asked(tools=(WEATHER,), tool_choice="none"))


def test_a_schema_is_enforced_without_tools_only() -> None:
    assert assemble(QWEN, asked(response_schema=SCHEMA))["format"] == SCHEMA
    assert "format" not in assemble(QWEN, asked(response_schema=SCHEMA, tools=(WEATHER,)))


def test_later_instructions_stand_in_their_place() -> None:
    body = assemble(QWEN, asked(SystemMessage(content="A"), QUESTION, SystemMessage(content="B"), QUESTION))
    assert [each["role"] for each in messages(body)] == ["system", "user", "system", "user"]
