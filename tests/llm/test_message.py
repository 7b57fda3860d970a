"""The message family: every kind comes back as itself, from JSON, from a dict and as an instance."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from roles_runtime.llm.base_message import BaseMessage
from roles_runtime.llm.calls import ConsoleResult, ToolCall, ToolReturn
from roles_runtime.llm.message import (
    AssistantTextMessage,
    ConsoleMessage,
    Message,
    SystemMessage,
    TextMessage,
    ToolMessage,
)
from roles_runtime.llm.parts import mend_surrogates

Messages: TypeAlias = list[Message]
ADAPTER: TypeAdapter[Messages] = TypeAdapter(Messages)

FAMILY: tuple[BaseMessage, ...] = (
    SystemMessage(content="Rules."),
    TextMessage(content="How many?", creator="User", msg_id="post-1"),
    AssistantTextMessage(
        content="", reasoning="hm", tool_calls=(ToolCall(call_id="1", name="add", arguments='{"a": 1}'),)
    ),
    ToolMessage(tool_reses=(ToolReturn(call_id="1", name="add", result="1", is_error=True),)),
    ConsoleMessage(content="42", console_reses=(ConsoleResult(result="42", attachments=("a.png",)),)),
)


@pytest.mark.parametrize("message", FAMILY, ids=lambda each: type(each).__name__)
def test_each_kind_comes_back_as_itself(message: BaseMessage) -> None:
    from_json = ADAPTER.validate_json(ADAPTER.dump_json([message]))  # type: ignore[list-item]
    from_dict = ADAPTER.validate_python(ADAPTER.dump_python([message]))  # type: ignore[list-item]
    from_instance = ADAPTER.validate_python([message])
    for (restored,) in (from_json, from_dict, from_instance):
        assert type(restored) is type(message)
        assert restored == message


def test_what_is_no_message_is_refused() -> None:
    for odd in ({"role": 3}, {}, 7, None, "user"):
        with pytest.raises(ValidationError):
            ADAPTER.validate_python([odd])


def test_a_message_never_changes_and_has_an_identity_of_its_own() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        FAMILY[0].content = "other"  # type: ignore[misc]
    made = [TextMessage() for _ in range(3)]
    assert len({each.msg_id for each in made}) == 3
    assert all(one.create_ts <= other.create_ts for one, other in pairwise(made))


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("plain", "plain"),
        ("預算 😀", "預算 😀"),
        ("\ud83d\ude00", "😀"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_halves_of_characters_are_joined_or_replaced(text: str, mended: str) -> None:
    assert mend_surrogates(text) == mended


@given(text=st.text(st.characters(exclude_categories=())))
def test_every_text_can_be_written_down_and_read_back(text: str) -> None:
    message = AssistantTextMessage(content=text, reasoning=text)
    assert AssistantTextMessage.model_validate_json(message.model_dump_json()) == message
