"""What an update asks for, and the rules that it keeps to. Pure: a sketch comes out, or an error."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from pydantic import JsonValue

from roles_runtime.errors import TaskError
from roles_runtime.tools.tasks.graph import Sketch, check_id
from roles_runtime.tools.tasks.task import DELETED, STATES, Task, listed


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What an update asks for. An empty text leaves what there is, None clears it.

    Attributes:
        metadata: Merged into what there is, one level deep; a value None takes its key out, None itself takes all.
    """

    subject: str = ""
    description: str | None = ""
    active_form: str | None = ""
    status: str = ""
    add_blocks: tuple[str, ...] = ()
    remove_blocks: tuple[str, ...] = ()
    add_blocked_by: tuple[str, ...] = ()
    remove_blocked_by: tuple[str, ...] = ()
    owner: str | None = ""
    metadata: Mapping[str, JsonValue] | UnsetType | None = UNSET


class Who(msgspec.Struct, frozen=True):
    """Who asks: the name of a role, and whether it leads, so that it may reassign."""

    name: str = ""
    leads: bool = False


def apply(sketch: Sketch, task_id: str, change: Change, who: Who, *, strict: bool) -> list[str]:
    """Sketches an update of a task, and says which fields it was about.

    Raises:
        TaskError: it asks for what can not be.
    """
    names = _texts(sketch, task_id, change)
    names += _status(sketch, task_id, change, who)
    names += _edges(sketch, task_id, change)
    if strict and change.status == "completed":
        _check_unblocked(sketch, sketch[task_id])
    names += _owner(sketch, task_id, change, who)
    if change.metadata is not UNSET:
        merged = {} if change.metadata is None else {**sketch[task_id].metadata, **change.metadata}
        kept = {key: value for key, value in merged.items() if value is not None or key not in (change.metadata or {})}
        sketch.put(replace(sketch[task_id], metadata=kept))
        names.append("metadata")
    if strict:
        _check_forward(sketch.before(task_id), sketch[task_id], change)
    return names


def check_status(change: Change) -> None:
    """Checks that the state is one that there is.

    Raises:
        TaskError: it is not.
    """
    if change.status and change.status != DELETED and change.status not in STATES:
        raise TaskError(f"invalid task status: {change.status[:100]}; it is one of {', '.join((*STATES, DELETED))}")


def check_owner(task: Task, who: Who, doing: str) -> None:
    """Checks that a task is nobody else's; the leader may change whose it is.

    Raises:
        TaskError: it is.
    """
    if task.owner and task.owner != who.name and not who.leads:
        raise TaskError(f"Task #{task.id} can not be {doing} by {who.name or 'you'}: it is owned by {task.owner}")


def delete(sketch: Sketch, task: Task) -> None:
    """Sketches a board without a task: its id goes from all others."""
    for each in task.blocks:
        sketch.part(task.id, each)
    for each in task.blocked_by:
        sketch.part(each, task.id)


def _texts(sketch: Sketch, task_id: str, change: Change) -> list[str]:
    task = sketch[task_id]
    names: list[str] = []
    if change.subject:
        task = replace(task, subject=change.subject)
        names.append("subject")
    if change.description != "":
        task = replace(task, description=change.description or "")
        names.append("description")
    if change.active_form != "":
        task = replace(task, active_form=change.active_form or "")
        names.append("activeForm")
    sketch.put(task)
    return names


def _status(sketch: Sketch, task_id: str, change: Change, who: Who) -> list[str]:
    if not change.status:
        return []
    task = sketch[task_id]
    doing = "claimed" if change.status == "in_progress" else "moved"
    check_owner(task, who, doing)
    sketch.put(replace(task, status=change.status))
    return ["status"]


def _edges(sketch: Sketch, task_id: str, change: Change) -> list[str]:
    for target in change.remove_blocks:
        check_id(target, "validate blocked task ID failed")
        sketch.part(task_id, target)
    for target in change.remove_blocked_by:
        check_id(target, "validate blocking task ID failed")
        sketch.part(target, task_id)
    if change.add_blocks:
        sketch.block(task_id, change.add_blocks)
    if change.add_blocked_by:
        sketch.block_by(task_id, change.add_blocked_by)
    names = ["blocks"] if change.add_blocks or change.remove_blocks else []
    return [*names, "blockedBy"] if change.add_blocked_by or change.remove_blocked_by else names


def _owner(sketch: Sketch, task_id: str, change: Change, who: Who) -> list[str]:
    task = sketch[task_id]
    if change.owner == "":
        if change.status != "in_progress" or task.owner or not who.name:
            return []
        sketch.put(replace(task, owner=who.name))
        return ["owner"]
    if change.owner != task.owner:
        check_owner(task, who, "released" if change.owner is None else "claimed")
    if change.owner is None:
        # What nobody works on is not in progress.
        status = "pending" if task.status == "in_progress" else task.status
        sketch.put(replace(task, owner="", status=status))
    else:
        sketch.put(replace(task, owner=change.owner))
    return ["owner"]


def _check_unblocked(sketch: Sketch, task: Task) -> None:
    if blockers := sketch.open_blockers(task):
        raise TaskError(f"Task #{task.id} can not be completed: it is blocked by {listed(blockers)}")


def _check_forward(before: Task, after: Task, change: Change) -> None:
    if before.status not in STATES or after.status not in STATES or not change.status:
        return
    if STATES.index(after.status) < STATES.index(before.status):
        raise TaskError(f"Task #{after.id} can not go back from {before.status} to {after.status}")
