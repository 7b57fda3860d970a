"""Templates are filled once, and a conversation of Posts becomes Messages."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.llm.message import AssistantTextMessage, TextMessage
from roles_runtime.memory.memory import Memory
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import Conversation, Round
from roles_runtime.posts.post import Post
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles import prompt
from roles_runtime.roles.turn import Member
from roles_runtime.roles.words_en import ENGLISH
from roles_runtime.roles.words_zh import CHINESE
from roles_runtime.tools.tasks.languages import LANGUAGES


@given(value=st.text() | st.sampled_from(["{name}", "{{name}}", "{", "}", "{0}", "\\1", "\\g<0>"]))
def test_d14_a_value_stands_as_it_is_whatever_braces_it_holds(value: str) -> None:
    assert prompt.fill("I am {name}. {name}!", name=value, other="x") == f"I am {value}. {value}!"


def test_braces_that_are_no_placeholder_stay() -> None:
    assert prompt.fill('{"a": {}} {unknown} {{name}}', name="N") == '{"a": {}} {unknown} {N}'


@pytest.mark.parametrize("name", ["planner", "code_interpreter", "model_role", "code_requirements"])
def test_every_template_is_there_and_all_its_places_are_known(name: str) -> None:
    places, chinese = (re.findall(r"\{([a-z_]+)\}", prompt.template(name, each)) for each in LANGUAGES)
    assert sorted(places) == sorted(chinese)
    assert set(places) <= {
        "name",
        "team",
        "intro",
        "instructions",
        "schema",
        "files",
        "time",
        "rules",
        "conversation_start",
    }


def test_a_template_that_is_not_there_is_told() -> None:
    with pytest.raises(FileNotFoundError):
        prompt.template("nobody")


def test_the_team_is_told_without_the_one_who_reads() -> None:
    roster = (Member("Planner", "Leads."), Member("Echo", "Repeats."))
    assert prompt.roster_text(roster, "Planner", ENGLISH) == "- Echo: Repeats."
    assert prompt.roster_text(roster[:1], "Planner", ENGLISH) == "- (nobody else)"
    assert prompt.recipients(roster, "Planner") == ("Echo", "User")


def test_the_time_is_told_to_the_minute() -> None:
    now = datetime(2026, 11, 30, 9, 5, 59, tzinfo=UTC)
    assert prompt.time_text(now, ENGLISH) == "Monday, 2026-11-30 09:05 UTC"
    assert prompt.time_text(now, CHINESE) == "2026-11-30 星期一 09:05 UTC"


def test_without_files_and_plans_nothing_is_told_of_them() -> None:
    memory = Memory(Conversation.create([Round.create("?")]))
    assert prompt.files_text(memory) == prompt.plans_text(memory, ENGLISH) == ""


def test_the_latest_profile_of_the_files_is_told() -> None:
    posts = []
    for name in ("a.csv", "b.csv"):
        entry = SharedMemoryEntry.create("file_profile", "conversation", f'{{"files":[{{"name":"{name}"}}]}}')
        posts.append(Post.create("?", "User", "Planner", [Attachment.create("shared_memory_entry", "", extra=entry)]))
    text = prompt.files_text(Memory(Conversation.create([Round.create("?", post_list=posts)])))
    assert "b.csv" in text
    assert "a.csv" not in text


def test_a_self_send_without_attachments_is_both_said_and_heard() -> None:
    thought = Post.create("I should look twice.", "Planner", "Planner")
    said, heard = prompt.corrected(thought, "Planner")
    assert isinstance(said, AssistantTextMessage)
    assert isinstance(heard, TextMessage)
    assert heard.content == "I should look twice."


def test_a_correction_whose_answer_was_empty_is_only_told() -> None:
    post = Post.create("empty", "Planner", "Planner")
    post.add_attachment(Attachment.create(AttachmentType.invalid_response, " \n"))
    post.add_attachment(Attachment.create(AttachmentType.revise_message, "It is empty."))
    (heard,) = prompt.corrected(post, "Planner")
    assert (type(heard), heard.content) == (TextMessage, "It is empty.")


def test_a_disabled_example_is_not_told() -> None:
    example = Conversation.create([Round.create("?", post_list=[Post.create("?", "User", "Planner")])])
    assert len(prompt.examples([example], "Planner")) == 1
    example.enabled = False
    assert prompt.examples([example], "Planner") == []


def test_a_reminder_is_ended_by_nobody_but_its_end() -> None:
    (message,) = prompt.reminders(["#1 [pending] a</reminder>b"])
    assert message.text == "<reminder>\n#1 [pending] ab\n</reminder>"
