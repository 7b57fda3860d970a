"""What a role tells its model: templates, and a conversation of Posts as Messages. Pure: Posts in, Messages out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeAlias

import msgspec

from roles_runtime.llm.calls import Reasoning
from roles_runtime.llm.marks import CONVERSATION_START, REMINDER_END, REMINDER_START
from roles_runtime.llm.message import (
    AssistantTextMessage,
    Message,
    MultiPartMessage,
    SystemMessage,
    TextMessage,
)
from roles_runtime.llm.parts import JsonObject, TextPart
from roles_runtime.memory.memory import Memory
from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.conversation import Conversation, Round
from roles_runtime.posts.ids import time_of
from roles_runtime.posts.post import USER, Post, RoleName
from roles_runtime.posts.shared import FILE_PROFILE_HEADING
from roles_runtime.posts.translator import PostTranslator
from roles_runtime.roles.recalling import NOTHING, Recalled
from roles_runtime.roles.turn import Member
from roles_runtime.roles.words import RoleWords
from roles_runtime.tools.tasks.words import Language

Told: TypeAlias = TextMessage | MultiPartMessage
"""A Post to the role, as its model is told."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@cache
def template(name: str, language: Language = "en") -> str:
    """The prompt of a role: the file ``NAME.md`` beside it, or ``NAME.LANGUAGE.md`` where it is not in English."""
    file = f"{name}.md" if language == "en" else f"{name}.{language}.md"
    return files("roles_runtime.roles").joinpath(file).read_text(encoding="utf-8")


def fill(text: str, **values: str) -> str:
    """Puts each value where ``{name}`` stands. All other braces stay, those in the values first of all."""
    filled = list(_taken_apart(text))
    for at in range(1, len(filled), 2):
        name = filled[at]
        filled[at] = values.get(name, f"{{{name}}}")
    return "".join(filled)


@lru_cache(maxsize=64)
def _taken_apart(text: str) -> tuple[str, ...]:
    """What stands between the placeholders, and the names in these, by turns."""
    return tuple(_PLACEHOLDER.split(text))


def schema_text(schema: JsonObject) -> str:
    """A JSON Schema as it stands in a prompt."""
    return _spaced(msgspec.json.encode(schema))


@lru_cache(maxsize=64)
def _spaced(schema: bytes) -> str:
    # The library that writes with spaces is slow, and a role asks with the same schema again and again.
    return json.dumps(json.loads(schema), ensure_ascii=False)


def roster_text(roster: Iterable[Member], me: RoleName, words: RoleWords) -> str:
    """The others, a line each: ``- NAME: intro``."""
    others = [words.member.format(name=each.name, intro=each.intro) for each in roster if each.name != me]
    return "\n".join(others) or words.nobody


def time_text(now: datetime, words: RoleWords) -> str:
    """The time, to the minute."""
    weekday, date, clock = words.weekdays[now.weekday()], now.strftime("%Y-%m-%d"), now.strftime("%H:%M %Z")
    return words.time.format(weekday=weekday, date=date, clock=clock)


def files_text(memory: Memory) -> str:
    """The profiles of the session's files, a heading and one line of JSON; empty without files."""
    entries = memory.get_shared_memory_entries("file_profile")
    if not entries:
        return ""
    return f"\n{FILE_PROFILE_HEADING}\n{entries[-1].content}\n"


def summary_text(memory: Memory, words: RoleWords) -> str:
    """What stands for the rounds that are no longer shown; empty where all are."""
    summary = memory.summary.strip()
    return f"\n{words.summary}\n{summary}\n" if summary else ""


def plans_text(memory: Memory, words: RoleWords) -> str:
    """What the others plan in this round; empty if nothing."""
    plans = [entry.content for entry in memory.get_shared_memory_entries("plan")]
    return "\n".join((words.context, *plans)) + "\n\n" if plans else ""


def system(text: str, creator: RoleName) -> SystemMessage:
    """The instructions of a role; its name as the creator tells models whose they are."""
    return SystemMessage(content=text.strip() + "\n", creator=creator)


def reminders(texts: Iterable[str]) -> list[Message]:
    """What the role is reminded of at the end of its prompt, marked as what nobody of the team said."""
    # A task's subject is anybody's: it must not end the reminder early.
    inner = (text.replace(REMINDER_END.strip(), "") for text in texts)
    return [TextMessage(content=f"{REMINDER_START}{text}{REMINDER_END}") for text in inner]


def heard(post: Post, opening: str = "", recalled: Recalled = NOTHING) -> Told:
    """What another role, or the user, said to this one, with what this one's turn made of it."""
    return told(f"From: {post.send_from}\nMessage: {opening}{post.message}\n", post, recalled)


def told(text: str, post: Post, recalled: Recalled) -> Told:
    """The text as the message that stands for a Post, with the pictures that it carries and what was made of it."""
    pictures, trace = recalled.pictures(post), recalled.trace(post.id)
    # A trace is younger than the Post that it hangs on, whenever the message is made.
    written_at = time_of(post.id)
    if pictures:
        return MultiPartMessage(
            content=(TextPart(text=text), *pictures),
            creator=post.send_from,
            msg_id=post.id,
            create_ts=written_at,
            intermediate_trace=trace,
        )
    return TextMessage(
        content=text, creator=post.send_from, msg_id=post.id, create_ts=written_at, intermediate_trace=trace
    )


def said(post: Post, creator: RoleName, thoughts: tuple[Reasoning, ...] = ()) -> AssistantTextMessage:
    """What this role said: the text in which its model would say it, after what it thought."""
    text = PostTranslator.post_to_raw_text(post)
    return AssistantTextMessage(content=text, reasoning=thoughts, creator=creator, msg_id=post.id)


def corrected(post: Post, creator: RoleName, recalled: Recalled = NOTHING) -> list[Message]:
    """A self-correction: what the model answered, and what was wrong with it.

    An empty answer leaves no message: providers refuse one, and a model would only learn from it to say nothing.
    """
    invalid = "\n".join(each.content for each in post.get_attachment(AttachmentType.invalid_response))
    revise = post.get_attachment(AttachmentType.revise_message)
    said_before: list[Message] = []
    if invalid.strip():
        said_before.append(AssistantTextMessage(content=invalid, creator=creator, msg_id=post.id))
    elif not revise:
        said_before.append(said(post, creator))
    mended = told("\n".join(each.content for each in revise) or post.message, post, recalled)
    return [*said_before, mended.model_copy(update={"msg_id": revise[0].id}) if revise else mended]


def conversation(
    rounds: Sequence[Round], role: RoleName, creator: RoleName, recalled: Recalled = NOTHING
) -> list[Message]:
    """The Posts that a role sent and received, as Messages; the first one it heard opens the conversation.

    Args:
        rounds: As memory gives them.
        role: Whose view it is.
        creator: Of the messages that are the role's own; empty in an example, which nobody of this team said.
        recalled: What its turns thought and called, and the pictures.
    """
    messages: list[Message] = []
    opening, answered = f"{CONVERSATION_START}\n", ""
    for post in (post for each in rounds for post in each.post_list):
        if post.send_from != role:
            messages.append(heard(post, opening, recalled))
            opening = ""
        elif post.send_to == role:
            messages.extend(corrected(post, creator, recalled))
        else:
            messages.append(said(post, creator, recalled.thoughts(answered)))
        answered = post.id
    return messages


def examples(documents: Iterable[Conversation], role: RoleName) -> list[Message]:
    """Example conversations, as this role would have had them."""
    messages: list[Message] = []
    for document in documents:
        if document.enabled:
            messages.extend(conversation([round_of(each, role) for each in document.rounds], role, ""))
    return messages


def round_of(whole: Round, role: RoleName) -> Round:
    """A round of an example with the Posts that a role sent or received."""
    return Round.create(
        whole.user_query, post_list=[post for post in whole.post_list if role in (post.send_from, post.send_to)]
    )


def response_schema(title: str, properties: JsonObject, required: Sequence[str]) -> JsonObject:
    """The JSON Schema of an answer: ``{"response": {…}}``. Its title names who answers."""
    return {
        "title": title,
        "type": "object",
        "properties": {
            "response": {
                "type": "object",
                "properties": properties,
                "required": list(required),
                "additionalProperties": False,
            }
        },
        "required": ["response"],
        "additionalProperties": False,
    }


def recipients(roster: Iterable[Member], me: RoleName) -> tuple[RoleName, ...]:
    """Whom a role may write to: the others and the user."""
    return (*(each.name for each in roster if each.name != me), USER)
