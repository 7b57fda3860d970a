"""What is asked on OpenAI's chat wire, of OpenAI and of servers with ways of their own."""

from __future__ import annotations

import pytest

from llm.providers.openai_types import hold_to_vendor
from llm.providers.scenes import PDF, PNG, QUESTION, SCHEMA, WEATHER, asked, golden, trip
from roles_runtime.llm.assembly import assemble
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.message import AssistantTextMessage, MultiPartMessage, SystemMessage, TextMessage
from roles_runtime.llm.parts import AudioPart, FilePart, JsonObject, Media, VideoPart
from roles_runtime.llm.providers.deepseek import DEEPSEEK
from roles_runtime.llm.providers.doubao import DOUBAO
from roles_runtime.llm.providers.openai import ChatAdapter, Profile
from roles_runtime.llm.providers.openai.profile import COMPATIBLE, OPENAI
from roles_runtime.llm.providers.openai.schemas import is_strict
from roles_runtime.llm.providers.zhipu import ZHIPU
from roles_runtime.llm.request import LLMRequest

MODELS = [
    (OPENAI, "gpt-4o"),
    (OPENAI, "gpt-5"),
    (OPENAI, "o3"),
    (COMPATIBLE, "qwen3"),
    (ZHIPU, "glm-4.5v"),
    (ZHIPU, "glm-5"),
    (DOUBAO, "doubao-seed-1-6-250615"),
    (DEEPSEEK, "deepseek-v4-pro"),
]


def adapter(profile: Profile, model: str) -> ChatAdapter:
    return ChatAdapter(f"{profile.provider}:{model}", model, profile.capabilities(model), profile)


def body(profile: Profile, model: str, request: LLMRequest) -> JsonObject:
    return assemble(adapter(profile, model), request)


def messages(told: JsonObject) -> list[JsonObject]:
    return told["messages"]  # type: ignore[return-value]


@pytest.mark.parametrize(("profile", "model"), MODELS)
def test_a_trip_of_calls_and_pictures_looks_as_it_should(profile: Profile, model: str) -> None:
    thought = Reasoning(text="Look first.", origin=profile.provider)
    golden(f"openai-chat-trip-{profile.provider}-{model}", body(profile, model, trip(thought)))


@pytest.mark.parametrize(("profile", "model"), MODELS)
def test_a_plain_question_looks_as_it_should(profile: Profile, model: str) -> None:
    request = asked(
        SystemMessage(content="Answer in JSON."),
        QUESTION,
        response_schema=SCHEMA,
        temperature=0.0,
        top_p=1.0,
        max_tokens=500,
        effort="none",
    )
    golden(f"openai-chat-question-{profile.provider}-{model}", body(profile, model, request))


@pytest.mark.parametrize(
    "request_",
    [trip(), trip(tools=()), asked(), asked(response_schema=SCHEMA, effort="high"), asked(tools=(WEATHER,))],
)
@pytest.mark.parametrize(("profile", "model"), MODELS)
def test_a_body_is_of_the_vendors_own_type(request_: LLMRequest, profile: Profile, model: str) -> None:
    hold_to_vendor("openai-chat", body(profile, model, request_))


@pytest.mark.parametrize(
    ("effort", "told"),
    [
        ("none", {"thinking": {"type": "disabled"}}),
        ("low", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"}),
        ("medium", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
    ],
)
def test_effort_is_told_in_the_servers_own_words(effort: str, told: JsonObject) -> None:
    assert body(DEEPSEEK, "deepseek-v4-pro", asked(effort=effort)).items() >= told.items()


@pytest.mark.parametrize(
    ("model", "word"), [("gpt-5", "minimal"), ("gpt-5-mini", "minimal"), ("gpt-5.2", "none"), ("o3", "low")]
)
def test_who_can_not_leave_thinking_is_told_to_think_least(model: str, word: str) -> None:
    assert body(OPENAI, model, asked(effort="none"))["reasoning_effort"] == word


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-mini", "gpt-3.5-turbo", "gpt-5-chat-latest"])
def test_a_model_that_does_not_think_is_told_no_effort_but_a_temperature(model: str) -> None:
    told = body(OPENAI, model, asked(effort="high", temperature=0.5))
    assert "reasoning_effort" not in told
    assert told["temperature"] == 0.5


@pytest.mark.parametrize("model", ["gpt-5", "gpt-5.2-pro", "gpt-6", "o1", "o4-mini"])
def test_a_model_that_thinks_is_told_no_temperature(model: str) -> None:
    assert body(OPENAI, model, asked(temperature=0.5, top_p=0.5)).keys().isdisjoint({"temperature", "top_p"})


@pytest.mark.parametrize("choice", ["none", "required"])
def test_a_choice_of_tools_is_told_where_the_server_takes_it(choice: str) -> None:
    assert body(OPENAI, "gpt-4o", asked(tools=(WEATHER,), tool_choice=choice))["tool_choice"] == choice


def test_where_only_auto_is_taken_forbidden_tools_are_not_shown() -> None:
    assert "tools" not in body(ZHIPU, "glm-5", asked(tools=(WEATHER,), tool_choice="none"))
    required = body(ZHIPU, "glm-5", asked(tools=(WEATHER,), tool_choice="required"))
    assert "tools" in required
    assert "tool_choice" not in required


def said(origin: str, text: str = "It is warm.", calls: bool = False) -> tuple[object, ...]:
    made = (ToolCall(call_id="c", name="weather", arguments="{}"),) if calls else ()
    thought = (Reasoning(text="I thought.", origin=origin),)
    return QUESTION, AssistantTextMessage(content=text, reasoning=thought, tool_calls=made), TextMessage(content="And?")


@pytest.mark.parametrize(
    ("profile", "model", "origin", "back"),
    [
        (OPENAI, "gpt-4o", "openai", None),
        (COMPATIBLE, "qwen3", "openai", None),
        (ZHIPU, "glm-5", "zhipu", "I thought."),
        (ZHIPU, "glm-5", "deepseek", None),
        (DEEPSEEK, "deepseek-v4-pro", "deepseek", "I thought."),
        (DEEPSEEK, "deepseek-v4-pro", "zhipu", ""),
        (DOUBAO, "doubao-seed-1-6", "doubao", None),
    ],
)
@pytest.mark.parametrize("calls", [True, False])
def test_thoughts_go_back_to_whom_they_came_from_alone(
    profile: Profile, model: str, origin: str, back: str | None, calls: bool
) -> None:
    told = messages(body(profile, model, asked(*said(origin, calls=calls), tools=(WEATHER,))))
    assert told[1].get("reasoning_content") == back


def test_a_call_without_words_has_no_empty_text_beside_it() -> None:
    told = messages(body(ZHIPU, "glm-5", asked(*said("x", text="", calls=True), tools=(WEATHER,))))
    assert told[1]["content"] is None


@pytest.mark.parametrize(("profile", "limit"), [(OPENAI, 40), (COMPATIBLE, 64), (ZHIPU, 64)])
def test_an_id_of_another_house_is_made_to_fit_and_stays_with_its_result(profile: Profile, limit: int) -> None:
    long = "toolu_" + "x" * 100
    call = ToolCall(call_id=long, name="weather", arguments="{}")
    other = ToolCall(call_id=f"{long}y", name="weather", arguments="{}")
    request = asked(QUESTION, AssistantTextMessage(content="", tool_calls=(call, other)), tools=(WEATHER,))
    told = messages(body(profile, "gpt-4o", request))
    calls: list[JsonObject] = told[1]["tool_calls"]  # type: ignore[assignment]
    ids = [each["id"] for each in calls]
    assert len(set(ids)) == 2
    assert all(len(str(each)) <= limit for each in ids)
    assert [each["tool_call_id"] for each in told[2:4]] == ids


def test_sounds_films_and_files_are_shown_to_whom_they_can_be_shown() -> None:
    sound = AudioPart(media=Media(data=b"RIFF....WAVE", mime="audio/wav"), detail="A sound.")
    film = VideoPart(media=Media(url="https://example.org/a.mp4", mime="video/mp4"), detail="A film.")
    file = FilePart(media=Media(data=PDF), detail="A file.")
    page = FilePart(media=Media(url="https://example.org/a.pdf", mime="application/pdf"), detail="A page.")
    request = asked(MultiPartMessage(content=(sound, film, file, page)))
    assert messages(body(OPENAI, "gpt-4o-audio-preview", request))[0]["content"] == [
        {"type": "input_audio", "input_audio": {"data": "UklGRi4uLi5XQVZF", "format": "wav"}},
        {"type": "text", "text": "A film."},
        {"type": "text", "text": "A file."},
        {"type": "text", "text": "A page."},
    ]
    seen: list[JsonObject] = messages(body(OPENAI, "gpt-4o", request))[0]["content"]  # type: ignore[assignment]
    assert [each["type"] for each in seen] == ["text", "text", "file", "text"]
    filmed = messages(body(DOUBAO, "doubao-seed-1-6", request))[0]["content"]
    assert {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}} in filmed  # type: ignore[operator]


def test_a_blind_model_is_told_in_words() -> None:
    picture = Media(data=PNG)
    request = asked(MultiPartMessage(content=(FilePart(media=picture, detail="A red dot."),)))
    assert messages(body(DEEPSEEK, "deepseek-v4-pro", request))[0]["content"] == "A red dot."


def test_json_is_only_asked_for_where_the_prompt_speaks_of_it() -> None:
    assert "response_format" not in body(DEEPSEEK, "deepseek-v4-pro", asked(response_schema=SCHEMA))


OPEN: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
CLOSED: JsonObject = {**OPEN, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        (OPEN, False),
        ({**CLOSED, "required": []}, False),
        ({**CLOSED, "properties": {"a": {"type": "string", "minLength": 1}}}, False),
        ({**CLOSED, "properties": {"a": {"type": "array", "items": CLOSED}}}, True),
        ({**CLOSED, "properties": {"a": {"type": "array", "items": OPEN}}}, False),
        ({**CLOSED, "properties": {"a": {"anyOf": [{"type": "null"}, OPEN]}}}, False),
        ({**CLOSED, "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": OPEN}}, False),
        ({"anyOf": [CLOSED]}, False),
    ],
)
def test_a_schema_is_strict_only_where_the_vendor_would_take_it_so(schema: JsonObject, strict: bool) -> None:
    assert is_strict(schema) is strict
