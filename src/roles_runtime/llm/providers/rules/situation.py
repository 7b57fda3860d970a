"""What a request says: whose part is played, which files there are, who said what last."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import msgspec

from roles_runtime.errors import DocumentError
from roles_runtime.llm.marks import CONVERSATION_START
from roles_runtime.llm.message import Message, TextMessage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.rules.board import is_reminder
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.post import USER
from roles_runtime.posts.shared import FILE_PROFILE_HEADING, FileProfile, FileProfiles

_HEAD = re.compile(r"\A\s*From: [^\n]*\nMessage: ?")
# A team speaks English or Chinese; what it says to machines is the same in both.
_TASK = re.compile(r"(?:\A|\n)(?:Your task, from [^\n]*:|你的任务，来自 [^\n]*：)\n")
_REQUIREMENTS = re.compile(r"\n(?:Requirements:|要求：)\n")
_FILES_ADDED = re.compile(r"\Afiles added: ([^\n]*)\.\n")
_READ_NODES = (
    ast.Expression,
    ast.Call,
    ast.Attribute,
    ast.Name,
    ast.Load,
    ast.keyword,
    ast.Constant,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.UnaryOp,
    ast.USub,
)


class Said(msgspec.Struct, frozen=True):
    """One message of the conversation.

    Attributes:
        by: Its creator; empty where nobody is named.
        text: What was said, without what the prompt puts round it.
        mine: Whether the model said it.
    """

    by: str
    text: str
    mine: bool = False


class Situation(msgspec.Struct, frozen=True):
    """What one request says.

    Attributes:
        part: ``Planner``, ``CodeInterpreter``, or another title, or empty.
        me: The role's name, where it is told.
        recipients: Whom an answer may be sent to.
        files: The profiles of the session's files.
        said: The conversation, in order, examples left out.
    """

    part: str
    me: str
    recipients: tuple[str, ...]
    files: tuple[FileProfile, ...]
    said: tuple[Said, ...]

    @property
    def tables(self) -> tuple[FileProfile, ...]:
        """The files that are tables which can be read."""
        return tuple(file for file in self.files if file.columns and safe_to_read(file.read_call))

    def user_questions(self) -> tuple[str, ...]:
        """What the user asked, the last one last."""
        return tuple(question_in(each.text) for each in self.said if not each.mine and each.by in (USER, ""))


def situation_of(request: LLMRequest) -> Situation:
    """Reads a request; what it does not say stays empty."""
    schema = request.response_schema or {}
    title = schema.get("title")
    systems = [message for message in request.messages if message.role == "system"]
    return Situation(
        part=title if isinstance(title, str) else "",
        me=next((message.creator for message in systems if message.creator), ""),
        recipients=_recipients(schema),
        files=_files([message.text for message in systems]),
        said=tuple(_said(message) for message in _conversation(request.messages)),
    )


def _recipients(schema: JsonObject) -> tuple[str, ...]:
    found: object = schema
    for key in ("properties", "response", "properties", "send_to", "enum"):
        found = found.get(key) if isinstance(found, dict) else None
    return tuple(str(each) for each in found) if isinstance(found, list) else ()


def _files(texts: Sequence[str]) -> tuple[FileProfile, ...]:
    """The last profiles in the instructions. A user's own words are no profile: code is made from it."""
    for text in reversed(texts):
        _, heading, after = text.rpartition(f"{FILE_PROFILE_HEADING}\n")
        if heading:
            try:
                return FileProfiles.from_json(after.partition("\n")[0]).files
            except DocumentError:
                continue
    return ()


def safe_to_read(call: str) -> bool:
    """Whether a profile's ``read_call`` is what it should be: functions of pandas, given constants."""
    try:
        tree = ast.parse(call, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if not isinstance(node, _READ_NODES) or (isinstance(node, ast.Name) and node.id != "pd"):
            return False
        if isinstance(node, ast.Attribute) and not isinstance(node.value, ast.Name | ast.Call):
            return False
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return False
    return isinstance(tree.body, ast.Call)


def _conversation(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What was said since the conversation began, without instructions, reminders, tools and consoles."""
    start = 0
    for index, message in enumerate(messages):
        if isinstance(message, TextMessage) and CONVERSATION_START in message.content[:400]:
            start = index
    return tuple(
        message
        for message in messages[start:]
        if message.role in ("user", "assistant") and not message.tool_calls and not is_reminder(message)
    )


def _said(message: Message) -> Said:
    if message.role == "assistant":
        return Said(message.creator, message.text, mine=True)
    text = message.text
    task = _TASK.search(text)
    if task:
        text = text[task.end() :]
        # The last one is the prompt's own; a task may have requirements too.
        ends = [found.start() for found in _REQUIREMENTS.finditer(text)]
        text = text[: ends[-1]] if ends else text
    text = text.removeprefix(f"{CONVERSATION_START}\n")
    text = _HEAD.sub("", text, count=1).removeprefix(f"{CONVERSATION_START}\n")
    return Said(message.creator, text.strip())


def question_in(text: str) -> str:
    """A user's question without the line that tells which files came with it, on one line."""
    return " ".join(_FILES_ADDED.sub("", text, count=1).split())


def files_added(text: str) -> tuple[str, ...]:
    """The files that came with a question."""
    found = _FILES_ADDED.match(text)
    return tuple(name.strip() for name in found[1].split(", ")) if found else ()
