"""The four tools: TaskCreate, TaskGet, TaskUpdate, TaskList. Their schemas are made once a language."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from functools import cache, partial
from typing import Annotated, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, WithJsonSchema
from pydantic.alias_generators import to_camel

from roles_runtime.errors import TaskError, ToolFailedError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import ToolSpec
from roles_runtime.posts.event import TaskChanged
from roles_runtime.posts.post import RoleName
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.signature import json_schema
from roles_runtime.tools.tasks import replies
from roles_runtime.tools.tasks.board import Moved, TaskBoard, Tell
from roles_runtime.tools.tasks.change import Change, Who
from roles_runtime.tools.tasks.languages import words
from roles_runtime.tools.tasks.task import DELETED, STATES
from roles_runtime.tools.tasks.words import Language
from roles_runtime.tools.tool import DEFAULT_TIMEOUT_S, Tool

Record: TypeAlias = Callable[[TaskChanged], Awaitable[None]]
"""Writes an event into a session's journal."""

NonEmpty: TypeAlias = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Unblank: TypeAlias = Annotated[str, StringConstraints(pattern=r"^$|\S")]
Stripped: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True)]
Metadata: TypeAlias = Annotated[dict[str, JsonValue], WithJsonSchema({"type": "object", "additionalProperties": True})]
Ids: TypeAlias = Annotated[list[str | None], WithJsonSchema({"type": "array", "items": {"type": "string"}})]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class _Create(_Arguments):
    subject: NonEmpty
    description: str
    active_form: str = ""
    metadata: Metadata = {}


class _Get(_Arguments):
    task_id: str


class _Update(_Arguments):
    task_id: str
    subject: Unblank = ""
    description: str | None = ""
    active_form: str | None = ""
    # A plain text, so that what is none of them is answered with the list of those that are.
    status: str = Field("", json_schema_extra={"enum": [*STATES, DELETED]})
    add_blocks: Ids = []
    remove_blocks: Ids = []
    add_blocked_by: Ids = []
    remove_blocked_by: Ids = []
    owner: Stripped | None = ""
    metadata: Metadata | None = None


class _List(_Arguments):
    # It takes nothing; whatever else it is given changes nothing.
    model_config = ConfigDict(extra="ignore")


A = TypeVar("A", bound=_Arguments)


class _Kind(msgspec.Struct, Generic[A], frozen=True):
    """A tool without its board."""

    name: str
    accepts: type[A]
    run: Callable[[TaskBoard, A, Who, Tell | None], Awaitable[str]]


async def _create(board: TaskBoard, given: _Create, who: Who, tell: Tell | None) -> str:
    task = await board.create(
        given.subject, given.description, active_form=given.active_form, metadata=given.metadata, tell=tell
    )
    return replies.created(task)


async def _get(board: TaskBoard, given: _Get, who: Who, tell: Tell | None) -> str:
    return replies.shown(*await board.get(given.task_id))


async def _update(board: TaskBoard, given: _Update, who: Who, tell: Tell | None, *, strict: bool) -> str:
    change = Change(
        subject=given.subject,
        description=given.description,
        active_form=given.active_form,
        status=given.status,
        add_blocks=_ids(given.add_blocks),
        remove_blocks=_ids(given.remove_blocks),
        add_blocked_by=_ids(given.add_blocked_by),
        remove_blocked_by=_ids(given.remove_blocked_by),
        owner=given.owner,
        metadata=given.metadata if "metadata" in given.model_fields_set else UNSET,
    )
    return replies.updated(await board.update(given.task_id, change, who, strict=strict, tell=tell))


async def _list(board: TaskBoard, given: _List, who: Who, tell: Tell | None) -> str:
    return replies.board(await board.list())


def _ids(given: Ids) -> tuple[str, ...]:
    # A null is no id, and the board says so in its own words.
    return tuple(each or "" for each in given)


_CREATE = _Kind("TaskCreate", _Create, _create)
_GET = _Kind("TaskGet", _Get, _get)
_UPDATE = _Kind("TaskUpdate", _Update, partial(_update, strict=False))
_STRICT_UPDATE = _Kind("TaskUpdate", _Update, partial(_update, strict=True))
_LIST = _Kind("TaskList", _List, _list)

NAMES = ("TaskCreate", "TaskGet", "TaskUpdate", "TaskList")
"""The names of the four, in order."""


def task_tools(
    board: TaskBoard,
    leader: RoleName,
    language: Language = "en",
    *,
    strict: bool = False,
    record: Record | None = None,
) -> tuple[Tool, ...]:
    """The four tools of a board, in order. Their calls run alone, so that numbers follow the order of the calls.

    Args:
        board: What they work with.
        leader: The role that may reassign what others own.
        language: What a model is told of them is in.
        strict: Whether moves backwards, and completing what is blocked, are refused.
        record: Writes down what changed; where it is left out, the board's own backend does.
    """
    create, get, update, list_ = _specs(language)
    changing = _STRICT_UPDATE if strict else _UPDATE
    return (
        Tool(create, partial(_call, _CREATE, board, leader, record), _Create, DEFAULT_TIMEOUT_S, True),
        Tool(get, partial(_call, _GET, board, leader, record), _Get, DEFAULT_TIMEOUT_S, True),
        Tool(update, partial(_call, changing, board, leader, record), _Update, DEFAULT_TIMEOUT_S, True),
        Tool(list_, partial(_call, _LIST, board, leader, record), _List, DEFAULT_TIMEOUT_S, True),
    )


async def _record_all(record: Record, round_id: str, folder: str, moved: Sequence[Moved]) -> None:
    for each in moved:
        task = each.after or each.before
        if task is None:
            continue
        before = "" if each.before is None else each.before.status
        after = DELETED if each.after is None else each.after.status
        owner, text = ("", "") if each.after is None else (each.after.owner, each.after.encode())
        await record(TaskChanged(round_id, task.id, before, after, owner, text, folder))


async def _call(
    kind: _Kind[A], board: TaskBoard, leader: RoleName, record: Record | None, arguments: JsonObject, caller: Caller
) -> str:
    given = kind.accepts.model_validate(arguments)
    tell = None if record is None else partial(_record_all, record, caller.round_id, board.folder)
    try:
        return replies.result(await kind.run(board, given, Who(caller.role, caller.role == leader), tell))
    except TaskError as error:
        raise ToolFailedError(f"{kind.name} {error}") from error


@cache
def _specs(language: Language) -> tuple[ToolSpec, ToolSpec, ToolSpec, ToolSpec]:
    return _spec(_CREATE, language), _spec(_GET, language), _spec(_UPDATE, language), _spec(_LIST, language)


def _spec(kind: _Kind[A], language: Language) -> ToolSpec:
    told = words(language)
    schema = deepcopy(json_schema(kind.accepts, kind.name))
    properties = schema["properties"]
    for name, property_ in properties.items() if isinstance(properties, dict) else ():
        if isinstance(property_, dict):
            # What is left out is left out: a default would be one more word to read, and "" is no state.
            property_.pop("default", None)
            property_["description"] = told.parameters.get(f"{kind.name}.{name}") or told.parameters[name]
    return ToolSpec(kind.name, told.descriptions[kind.name], schema)
