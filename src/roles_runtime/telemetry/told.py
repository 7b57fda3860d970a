"""What of the journal's texts is told in a tree: one line of a Post, and what other rooms wrote as JSON.

Only what is told of it is read, so that older and newer forms do as well, and no room is asked to make its own again.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.delimiters import remove_all_delimiters
from roles_runtime.posts.post import Post

MAX_GIST_CHARS = 400
"""How much of a text stands for it."""

T = TypeVar("T", bound=msgspec.Struct)


class Call(msgspec.Struct):
    """Of a ToolCall."""

    call_id: str = ""
    name: str = ""
    arguments: str = ""


class Answer(msgspec.Struct):
    """Of an assistant message; its content may be of a kind that is not told."""

    content: object = ""
    tool_calls: tuple[Call, ...] = ()


class Returned(msgspec.Struct):
    """Of a ToolReturn."""

    result: str = ""


class Ran(msgspec.Struct):
    """Of an Execution."""

    error: str | None = None
    output: str = ""
    stdout: tuple[str, ...] = ()


class Planned(msgspec.Struct):
    """Of a Task."""

    subject: str = ""


def decoded(text: str, kind: type[T]) -> T:
    """What is told of a JSON text; nothing where it is none, or of another shape."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return kind()


def gist(text: str) -> str:
    """The beginning of a text as one line."""
    # Cut before it is looked through, and after: a text may have millions of characters.
    return " ".join(remove_all_delimiters(text[: 4 * MAX_GIST_CHARS]).split())[:MAX_GIST_CHARS]


def gist_of(post: Post) -> str:
    """What a Post says, in one line: what is to be corrected, what came of code, or its message."""
    texts = {each.type: each.content for each in post.attachment_list}
    corrected = texts.get(AttachmentType.revise_message, "")
    # The message about a cell repeats its code, for the other roles.
    ran = texts.get(AttachmentType.reply_type, "").strip().casefold() == "python"
    result = texts.get(AttachmentType.execution_result, "") if ran else ""
    return gist(next(filter(str.strip, (corrected, result, post.message)), ""))
