"""A Task: an item of planned work, and its file, which eino's plantask reads and writes too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec
from pydantic import JsonValue

from roles_runtime.errors import TaskError
from roles_runtime.llm.parts import JsonObject, mend_surrogates

Status: TypeAlias = Literal["pending", "in_progress", "completed"]

STATES: tuple[Status, ...] = ("pending", "in_progress", "completed")
"""The states of a task, in the order in which work goes on."""

DELETED = "deleted"
"""What an update says to have a task deleted; no task is ever in this state."""

_ID = re.compile(r"[0-9]{1,200}")
_KEYS = frozenset(("id", "subject", "description", "status", "blocks", "blockedBy", "activeForm", "owner", "metadata"))


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """An item of planned work.

    Attributes:
        id: A decimal number, never given twice.
        subject: What is to be done, in a few words.
        description: The same at length.
        status: One of `STATES`; a file of other hands may say something else, which is kept until it is changed.
        blocks: Ids of the tasks that wait for this one.
        blocked_by: Ids of those that this one waits for.
        active_form: What is shown while it is in progress: ``Counting the rows``.
        owner: The name of the role that works on it, or empty.
        metadata: Whatever else.
        unknown: What its file had beside these; it survives.
    """

    id: str
    subject: str
    description: str
    status: str = "pending"
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    active_form: str = ""
    owner: str = ""
    metadata: Mapping[str, JsonValue] = {}
    unknown: Mapping[str, JsonValue] = {}

    @property
    def state(self) -> Status:
        """Its status; of one that nobody knows, ``pending``: there is something left to do then."""
        return next((each for each in STATES if each == self.status), "pending")

    @property
    def is_open(self) -> bool:
        """Whether there is something left to do."""
        return self.status != "completed"

    @property
    def doing(self) -> str:
        """What is shown while it is in progress."""
        return self.active_form or self.subject

    def document(self) -> JsonObject:
        """The task as its file has it: keys in order, what is empty left out."""
        document: JsonObject = {
            "id": self.id,
            "subject": self.subject,
            "description": self.description,
            "status": self.status,
            "blocks": list(self.blocks),
            "blockedBy": list(self.blocked_by),
        }
        if self.active_form:
            document["activeForm"] = self.active_form
        if self.owner:
            document["owner"] = self.owner
        if self.metadata:
            document["metadata"] = dict(self.metadata)
        return {**document, **self.unknown}

    def encode(self) -> str:
        """The text of its file: compact JSON, letters as they are."""
        text = json.dumps(self.document(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return mend_surrogates(text)


def is_id(text: str) -> bool:
    """Whether it has the form of an id; ``01`` has, though no task is called so."""
    return _ID.fullmatch(text) is not None


def number_of(name: str) -> int | None:
    """The number that a task file is named after, or None: ``7.json`` is 7, ``notes.json`` is no task's file."""
    stem, dot, ending = name.partition(".")
    return int(stem) if dot and ending == "json" and is_id(stem) else None


def file_of(task_id: str) -> str:
    """The name of a task's file."""
    return f"{task_id}.json"


def decode_task(name: str, text: str) -> Task:
    """Reads a task's file.

    Raises:
        TaskError: it holds no task, or another one than it is named after.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TaskError(f"it is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise TaskError("it is no JSON object")
    task_id = found.get("id")
    if not isinstance(task_id, str) or not is_id(task_id) or file_of(task_id) != name or task_id != str(int(task_id)):
        raise TaskError(f"it says to be task {json.dumps(task_id)[:80]}")
    metadata = found.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise TaskError("its metadata is no object")
    return Task(
        id=task_id,
        subject=_text(found, "subject"),
        description=_text(found, "description"),
        status=_text(found, "status") or "pending",
        blocks=_ids(found, "blocks"),
        blocked_by=_ids(found, "blockedBy"),
        active_form=_text(found, "activeForm"),
        owner=_text(found, "owner"),
        metadata=metadata or {},
        unknown={} if found.keys() <= _KEYS else {key: found[key] for key in found if key not in _KEYS},
    )


def _text(found: JsonObject, key: str) -> str:
    value = found.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TaskError(f"its {key} is no text")
    return value if value.isascii() else mend_surrogates(value)


def _ids(found: JsonObject, key: str) -> tuple[str, ...]:
    value = found.get(key)
    if value is None or value == []:
        return ()
    ids = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    if not isinstance(value, list) or len(ids) < len(value):
        raise TaskError(f"its {key} is no list of texts")
    return distinct(ids)


def distinct(ids: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(ids))


def listed(ids: Iterable[str]) -> str:
    """Ids as they are told: ``#1, #2``."""
    return ", ".join(f"#{each}" for each in ids)
