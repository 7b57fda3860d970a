"""What Gemini is asked."""

from __future__ import annotations

import pytest

from llm.providers.scenes import PDF, PNG, QUESTION, SCHEMA, WEATHER, asked, counter, golden, read, trip
from roles_runtime.llm.assembly import assemble
from roles_runtime.llm.calls import Reasoning, ToolCall, ToolReturn
from roles_runtime.llm.message import (
    AssistantTextMessage,
    AudioMessage,
    ImageMessage,
    SystemMessage,
    ToolMessage,
    VideoMessage,
)
from roles_runtime.llm.model import ReasoningDone, TextChunk, ToolCallChunk
from roles_runtime.llm.parts import AudioPart, ImagePart, JsonObject, Media, VideoPart
from roles_runtime.llm.providers.gemini import GeminiAdapter
from roles_runtime.llm.providers.gemini.contents import UNSIGNED
from roles_runtime.llm.providers.gemini.schema import understood
from roles_runtime.llm.providers.gemini.stream import GeminiReader
from roles_runtime.llm.request import LLMRequest

THREE = GeminiAdapter("gemini-3-pro")
FLASH = GeminiAdapter("gemini-2.5-flash")

SIGNED = (
    Reasoning(text="Look first.", origin="gemini", payload={"place": "thought"}),
    Reasoning(origin="gemini", payload={"place": "text", "thoughtSignature": "dGV4dA==", "chars": 5}, after_chars=8),
    Reasoning(origin="gemini", payload={"place": "call", "thoughtSignature": "Y2FsbA=="}, after_chars=13),
)


def contents(request: LLMRequest, adapter: GeminiAdapter = THREE) -> list[list[JsonObject]]:
    told: list[JsonObject] = assemble(adapter, request)["contents"]
    return [each["parts"] for each in told]


def test_a_trip_of_calls_pictures_and_signatures_looks_as_it_should() -> None:
    golden("gemini-trip", assemble(THREE, trip(*SIGNED)))


def test_a_plain_question_looks_as_it_should() -> None:
    fields = {"effort": "medium", "temperature": 0.5, "top_p": 0.9, "max_tokens": 100}
    golden("gemini-question", assemble(FLASH, asked(response_schema=SCHEMA, **fields)))


@pytest.mark.parametrize(
    "request_",
    [trip(*SIGNED), trip(), asked(response_schema=SCHEMA, effort="high"), asked(tools=(WEATHER,), tool_choice="none")],
)
@pytest.mark.parametrize("model", ["gemini-3-pro", "gemini-2.5-flash", "gemini-2.0-flash", "gemini-4-argon"])
def test_a_body_is_of_the_vendors_own_types(request_: LLMRequest, model: str) -> None:
    from google.genai import types

    body = assemble(GeminiAdapter(model), request_)
    for content in body.pop("contents"):
        types.Content.model_validate(content)
    config: JsonObject = {**body.pop("generationConfig", {})}
    types.GenerateContentConfig.model_validate({**config, **body})


def test_signatures_stand_on_the_parts_they_came_with() -> None:
    said = contents(trip(*SIGNED))[1]
    assert said == [
        {"text": "Look first.", "thought": True},
        {"text": "I look. "},
        {"text": "Both.", "thoughtSignature": "dGV4dA=="},
        {"functionCall": {"id": "call_1", "name": "weather", "args": {"city": "東京"}}, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {"id": "call_2", "name": "weather", "args": {}}},
    ]


def test_what_it_answered_goes_back_as_it_came() -> None:
    import json

    parts: list[JsonObject] = [
        {"text": "Hm.", "thought": True, "thoughtSignature": "MQ=="},
        {"text": "First, "},
        {"text": "second", "thoughtSignature": "Mg=="},
        {"text": "", "thoughtSignature": "Mw=="},
        {"functionCall": {"name": "weather", "args": {"city": "Paris"}}, "thoughtSignature": "NA=="},
        {"functionCall": {"name": "weather", "args": {"city": "Rome"}}},
        {"functionCall": {"id": "own", "name": "weather", "args": {}}, "thoughtSignature": "NQ=="},
    ]
    responses = [{"candidates": [{"content": {"parts": [each]}}]} for each in parts]
    responses.append({"candidates": [{"finishReason": "STOP"}]})
    stream = b"".join(f"data: {json.dumps(each)}\n\n".encode() for each in responses)
    chunks = read(GeminiReader("gemini:x", counter("gemini-")), [stream])
    calls = tuple(chunk.call for chunk in chunks if isinstance(chunk, ToolCallChunk))
    answer = AssistantTextMessage(
        content="".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk)),
        tool_calls=calls,
        reasoning=tuple(chunk.reasoning for chunk in chunks if isinstance(chunk, ReasoningDone)),
    )
    results = ToolMessage(
        tool_reses=tuple(ToolReturn(call_id=each.call_id, name=each.name, result="ok") for each in calls)
    )
    _, said, told = contents(asked(QUESTION, answer, results, tools=(WEATHER,)))
    assert said == parts
    assert [each["functionResponse"].get("id") for each in told] == [None, None, "own"]


def test_another_houses_call_in_the_current_turn_passes_by_the_sentinel_on_the_first_of_each_step_alone() -> None:
    def step(*ids: str) -> tuple[AssistantTextMessage, ToolMessage]:
        calls = tuple(ToolCall(call_id=each, name="weather", arguments="{}") for each in ids)
        results = tuple(ToolReturn(call_id=each, name="weather", result="ok") for each in ids)
        return AssistantTextMessage(tool_calls=calls), ToolMessage(tool_reses=results)

    request = asked(QUESTION, *step("a"), QUESTION, *step("b", "c"), *step("d"), tools=(WEATHER,))
    signatures = [
        [part.get("thoughtSignature") for part in parts if "functionCall" in part] for parts in contents(request)
    ]
    assert [each for each in signatures if each] == [[None], [UNSIGNED, None], [UNSIGNED]]
    assert UNSIGNED not in str(contents(request, FLASH))


def test_a_foreign_signature_is_not_sent() -> None:
    foreign = Reasoning(origin="anthropic", payload={"place": "call", "thoughtSignature": "Zm9yZWlnbg=="})
    assert "Zm9yZWlnbg==" not in str(contents(trip(foreign)))


def test_all_results_of_a_step_are_one_content_and_nothing_else_stands_in_it() -> None:
    told = contents(trip(*SIGNED))
    assert [list(part) for part in told[2]] == [["functionResponse"], ["functionResponse"]]
    assert [part["functionResponse"]["response"] for part in told[2]] == [
        {"output": "21 °C"},
        {"error": "Which city?"},
    ]


def test_a_picture_of_a_result_follows_as_the_users_where_results_take_none() -> None:
    *_, results, shown = contents(trip(), FLASH)
    assert all("parts" not in part["functionResponse"] for part in results)
    assert [list(part) for part in shown] == [["text"], ["inlineData"]]


def test_sounds_films_and_addresses_are_shown() -> None:
    url = Media(url="https://example.org/a.png", mime="image/png")
    parts = contents(
        asked(
            AudioMessage(content=AudioPart(media=Media(data=b"ID3...", mime="audio/mpeg"))),
            VideoMessage(content=VideoPart(media=Media(data=b"\x1aE\xdf\xa3..", mime="video/webm"))),
            ImageMessage(content=ImagePart(media=url)),
            ImageMessage(content=ImagePart(media=Media(data=b"GIF89a..."), detail="A cat.")),
        )
    )[0]
    assert [part.get("inlineData", part.get("fileData", {})).get("mimeType") for part in parts] == [
        "audio/mpeg",
        "video/webm",
        "image/png",
        None,
    ]
    assert parts[2] == {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}}
    assert parts[3] == {"text": "A cat."}
    assert PNG != PDF


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gemini-3-pro", None, None),
        ("gemini-3-pro", "none", {"thinkingLevel": "LOW"}),
        ("gemini-3-pro", "medium", {"includeThoughts": True, "thinkingLevel": "LOW"}),
        ("gemini-3-flash", "none", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3-flash", "high", {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("gemini-4-argon", "none", {"thinkingLevel": "LOW"}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "none", {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "low", {"includeThoughts": True, "thinkingBudget": 2048}),
        ("gemini-2.0-flash", "high", None),
        ("gemma-3-27b", "high", None),
    ],
)
def test_how_hard_it_thinks_is_told_as_the_model_takes_it(model: str, effort: object, thinking: object) -> None:
    config: JsonObject = assemble(GeminiAdapter(model), asked(effort=effort)).get("generationConfig", {})
    assert config.get("thinkingConfig") == thinking


def test_a_call_is_forced_or_forbidden() -> None:
    def mode(**fields: object) -> object:
        return assemble(THREE, asked(tools=(WEATHER,), **fields)).get("toolConfig")

    assert mode() is None
    assert mode(tool_choice="required") == {"functionCallingConfig": {"mode": "ANY"}}
    assert mode(tool_choice="none") == {"functionCallingConfig": {"mode": "NONE"}}


def test_a_schema_beside_tools_is_enforced_where_the_model_can() -> None:
    request = asked(response_schema=SCHEMA, tools=(WEATHER,))
    assert "generationConfig" in assemble(THREE, request)
    assert "generationConfig" not in assemble(FLASH, request)


def test_instructions_at_the_beginning_have_a_field_of_their_own() -> None:
    body = assemble(THREE, asked(SystemMessage(content="A"), SystemMessage(content="B"), QUESTION))
    assert body["systemInstruction"] == {"parts": [{"text": "A\n\nB"}]}


def test_a_schema_loses_what_gemini_does_not_know() -> None:
    schema: JsonObject = {
        "$schema": "x",
        "title": "T",
        "type": "object",
        "properties": {"title": {"const": "a"}, "n": {"type": "integer", "exclusiveMinimum": 0, "minimum": 1}},
    }
    assert understood(schema) == {
        "type": "object",
        "properties": {"title": {"enum": ["a"], "type": "string"}, "n": {"type": "integer", "minimum": 1}},
    }
