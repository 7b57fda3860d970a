"""The CodeInterpreter's conversation as Messages: tasks, the code it wrote, and what came of the code. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roles_runtime.llm.calls import ConsoleResult
from roles_runtime.llm.marks import CONVERSATION_START
from roles_runtime.llm.message import AssistantTextMessage, ConsoleMessage, Message, MultiPartMessage, TextMessage
from roles_runtime.llm.parts import TextPart
from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.conversation import Conversation, Round
from roles_runtime.posts.post import USER, Post, RoleName
from roles_runtime.posts.translator import PostTranslator
from roles_runtime.roles import prompt
from roles_runtime.roles.recalling import NOTHING, Recalled
from roles_runtime.roles.words import RoleWords

WRITTEN = (AttachmentType.thought, AttachmentType.reply_type, AttachmentType.reply_content)
"""What of a Post its model wrote; the rest is what came of it."""

SUMMARY = "summary"
"""The key in the extra of an ``execution_result`` under which its form for later rounds stands."""


def conversation(
    rounds: Sequence[Round],
    role: RoleName,
    recalled: Recalled,
    words: RoleWords,
    *,
    context: str,
    requirements: str,
) -> list[Message]:
    """What the role was told, wrote and saw, up to what it is to do now.

    Args:
        rounds: As memory gives them; the last is the one under way.
        role: Whose view it is.
        recalled: What its turns thought and called, and the pictures.
        words: Of the team's language.
        context: Stands before the task at hand.
        requirements: Stand after what the model reads last.
    """
    messages = _told(rounds, role, role, recalled, words, current=True)
    last = messages[-1] if messages else None
    if not isinstance(last, TextMessage | MultiPartMessage):
        return messages
    before = ""
    if last.creator != role:
        asked = rounds[-1].user_query.strip()
        before = context + (f"{words.request}\n{asked}\n\n" if asked and last.creator != USER else "")
    return [*messages[:-1], _around(last, before, requirements)]


def examples(documents: Iterable[Conversation], role: RoleName, words: RoleWords) -> list[Message]:
    """Example conversations, as this role would have had them."""
    messages: list[Message] = []
    for document in documents:
        if document.enabled:
            rounds = [prompt.round_of(each, role) for each in document.rounds]
            messages.extend(_told(rounds, role, "", NOTHING, words, current=False))
    return messages


def _around(message: TextMessage | MultiPartMessage, before: str, after: str) -> Message:
    """The message with more text before and after its own, which is its first part where it has several."""
    if isinstance(message, TextMessage):
        return message.model_copy(update={"content": f"{before}{message.content.rstrip()}\n\n{after}"})
    first, *rest = message.content
    text = TextPart(text=f"{before}{message.text.rstrip()}\n") if isinstance(first, TextPart) else first
    return message.model_copy(update={"content": (text, *rest, TextPart(text=after))})


def _told(
    rounds: Sequence[Round], role: RoleName, creator: RoleName, recalled: Recalled, words: RoleWords, *, current: bool
) -> list[Message]:
    messages: list[Message] = []
    opening, answered = f"{CONVERSATION_START}\n", ""
    for index, each in enumerate(rounds):
        is_current = current and index == len(rounds) - 1
        for post in each.post_list:
            if post.send_from != role:
                text = f"{opening}{words.task.format(name=post.send_from)}\n{post.message}\n"
                messages.append(prompt.told(text, post, recalled))
                opening = ""
            elif post.get_attachment(AttachmentType.reply_content):
                messages.extend(_written(post, creator, recalled, answered, is_current=is_current))
            elif post.send_to == role:
                messages.extend(prompt.corrected(post, creator, recalled))
            else:
                messages.append(prompt.said(post, creator, recalled.thoughts(answered)))
            answered = post.id
    return messages


def _written(post: Post, creator: RoleName, recalled: Recalled, answered: str, *, is_current: bool) -> list[Message]:
    others = {str(each.type) for each in post.attachment_list} - set(WRITTEN)
    raw = PostTranslator.post_to_raw_text(post, if_format_message=False, if_format_send_to=False, ignored_types=others)
    thoughts = recalled.thoughts(answered)
    messages: list[Message] = [AssistantTextMessage(content=raw, reasoning=thoughts, creator=creator, msg_id=post.id)]
    console = _console(post, is_current=is_current)
    if console is not None:
        messages.append(console)
    revise = post.get_attachment(AttachmentType.revise_message)
    if revise:
        mended = prompt.told("\n".join(each.content for each in revise), post, recalled)
        messages.append(mended.model_copy(update={"msg_id": revise[0].id}))
    return messages


def _console(post: Post, *, is_current: bool) -> ConsoleMessage | None:
    """What came of the code. In a later round its long parts are gone, so that the summary is the whole."""
    faults = "\n".join(each.content for each in post.get_attachment(AttachmentType.code_error) if each.content)
    results = [each for each in post.get_attachment(AttachmentType.execution_result) if each.content]
    if not (faults or results):
        return None
    full = "\n".join(filter(None, (faults, *(each.content for each in results))))
    summaries = [
        str(each.extra[SUMMARY]) if isinstance(each.extra, dict) and SUMMARY in each.extra else each.content
        for each in results
    ]
    summary = "\n".join(filter(None, (faults, *summaries)))
    told = full if is_current else summary
    paths = "\n".join(each.content for each in post.get_attachment(AttachmentType.artifact_paths)).split("\n")
    result = ConsoleResult(result=told, summary_result=summary, attachments=tuple(filter(None, paths)))
    return ConsoleMessage(content=told, creator=post.send_from, console_reses=(result,))
