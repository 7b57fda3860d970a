"""What is told of what was said: bounded, whole, masked, and nothing at all where content is off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.message import AssistantTextMessage, SystemMessage, TextMessage, ToolMessage
from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.delimiters import wrap_text_with_delimiter
from roles_runtime.posts.post import Post
from roles_runtime.telemetry.content import MAX_CHARS, MAX_ITEM_CHARS, MAX_ITEMS, UNTOLD, Content
from roles_runtime.telemetry.redaction import MASK, mask

ODD = st.text(st.characters(codec=None, categories=("L", "N", "P", "S", "Z", "C")), max_size=50)


def carrying(*contents: str) -> Post:
    return Post.create("m", "A", "B", [Attachment.create("text", content) for content in contents])


def attachments(content: Content, *contents: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(content.attachments([carrying(*contents)]))
    return found


def test_without_content_there_are_ids_types_and_sizes_alone() -> None:
    (item,) = attachments(Content(False), "größer")
    assert item == {"id": item["id"], "type": "text", "bytes": 8}


def test_with_content_each_item_is_cut_for_itself() -> None:
    short, long = attachments(Content(True), "short", "x" * 20_000_000)
    assert (short["content"], "truncated" in short) == ("short", False)
    assert long["content"] == "x" * MAX_ITEM_CHARS + "… [20,000,000 characters]"
    assert (long["bytes"], long["truncated"]) == (20_000_000, True)


LONG = st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=3), st.integers(1_500, 6_000))


@given(st.lists(ODD | LONG, max_size=90))
def test_the_json_is_whole_and_bounded_whatever_is_carried(contents: list[str]) -> None:
    told = Content(True).attachments([carrying(*contents)])
    items = json.loads(told)
    assert len(items) == min(len(contents), MAX_ITEMS + 1)
    assert sum(len(item.get("content", "")) for item in items) <= MAX_CHARS + 64 * len(items)
    assert len(told.encode()) <= 8 * MAX_CHARS + 300 * len(items)


@given(st.lists(ODD, max_size=120))
def test_messages_are_told_from_the_end_and_whole(texts: list[str]) -> None:
    told = json.loads(Content(True).messages([TextMessage(content=text) for text in texts]))
    assert len(told) <= MAX_ITEMS
    if texts:
        assert told[-1]["role"] == "user"


CALLS = st.lists(st.builds(lambda at, text: ToolCall(call_id=f"c{at}", name="f", arguments=text), st.integers(), LONG))


@given(st.lists(CALLS, max_size=3))
def test_calls_count_toward_the_bound_as_texts_do(answers: list[list[ToolCall]]) -> None:
    told = Content(True).messages([AssistantTextMessage(content="x", tool_calls=tuple(calls)) for calls in answers])
    parts = [part for message in json.loads(told) for part in message["parts"]]
    assert sum(len(part.get("arguments", "")) for part in parts) <= MAX_CHARS + 64


def test_of_a_message_of_thousands_of_calls_the_first_are_told_and_that_there_are_more() -> None:
    calls = tuple(ToolCall(call_id=f"call_{n}", name="look", arguments="{}") for n in range(4_000))
    told = Content(True).messages([AssistantTextMessage(content="", tool_calls=calls)])
    parts = json.loads(told)[0]["parts"]
    assert parts[0]["id"] == "call_0"
    assert parts[-1] == {"type": "…"}
    assert len(told.encode()) <= 32_768


def test_messages_are_told_by_the_conventions() -> None:
    messages = [
        SystemMessage(content="rules"),
        AssistantTextMessage(content="hm", tool_calls=(ToolCall(call_id="c", name="look", arguments="{}"),)),
        ToolMessage(tool_reses=(ToolReturn(call_id="c", name="look", result="42"),)),
    ]
    assert json.loads(Content(True).messages(messages)) == [
        {"role": "system", "parts": [{"type": "text", "content": "rules"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "hm"},
                {"type": "tool_call", "id": "c", "name": "look", "arguments": "{}"},
            ],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "42"}]},
    ]


def test_instructions_and_answers_are_told_by_the_conventions() -> None:
    content = Content(True)
    assert json.loads(content.instructions([SystemMessage(content="rules")])) == [{"type": "text", "content": "rules"}]
    assert json.loads(content.answer(AssistantTextMessage(content="42"), "stop")) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "42"}], "finish_reason": "stop"}
    ]


def test_marks_for_later_prompts_are_not_told() -> None:
    marked = wrap_text_with_delimiter("now") + " and ever"
    assert Content(True).spoken([marked, "b"]) == "now and ever\n\nb"


SECRETS = (
    "sk-proj-abcdefghijklmnop1234",
    "sk-ant-api03-abcdefghijklmnop",
    "AIzaSyA-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuvwxyz",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef",
    "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["{}", "key={} ok", '{{"a": "{}"}}', "({})", "a\n{}\nb"])
def test_what_has_the_form_of_a_key_is_masked_wherever_it_stands(secret: str, around: str) -> None:
    told = mask(around.format(secret))
    assert secret not in told
    assert MASK in told


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abcd1234", f"Authorization: Bearer {MASK}"),
        ("bearer abcd1234", f"bearer {MASK}"),
        ("password=hunter22&x=1", f"password={MASK}&x=1"),
        ('{"api_key": "hunter22", "n": 1}', f'{{"api_key": "{MASK}", "n": 1}}'),
        ("DB_PASSWORD: hunter22", f"DB_PASSWORD: {MASK}"),
        ("postgres://me:hunter22@db/x", f"postgres://me:{MASK}@db/x"),
        ("the password is long, and sky-high", "the password is long, and sky-high"),
        ("total sales by region", "total sales by region"),
    ],
)
def test_what_is_named_as_a_secret_is_masked_and_the_rest_stays(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_a_key_that_a_cut_would_halve_is_masked() -> None:
    text = "x" * (MAX_ITEM_CHARS - 5) + " " + SECRETS[0] + "y" * 100
    assert "sk-proj" not in Content(True).text(text, MAX_ITEM_CHARS)


def test_the_applications_own_redaction_is_asked() -> None:
    assert Content(True, lambda text: text.replace("Ada", "somebody")).text("for Ada") == "for somebody"


def test_a_redaction_that_fails_tells_nothing_and_harms_nobody() -> None:
    def broken(text: str) -> str:
        raise ValueError(text)

    assert Content(True, broken).text("secret") == UNTOLD
