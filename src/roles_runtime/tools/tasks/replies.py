"""What a model is told of a board: the results of the four tools. They are in English, whatever it is told else."""

from __future__ import annotations

import json
from collections.abc import Sequence

from roles_runtime.tools.tasks.board import Listing, Updated
from roles_runtime.tools.tasks.task import Task, listed

MAX_SUBJECT = 300
"""How much of a subject one line of many shows, so that no task pushes the others out of a prompt."""


def result(text: str) -> str:
    """A result as all four give it."""
    return json.dumps({"result": text}, ensure_ascii=False, separators=(",", ":"))


def created(task: Task) -> str:
    """That a task is there."""
    return f"Task #{task.id} created successfully: {task.subject}"


def shown(task: Task, blockers: Sequence[str]) -> str:
    """A task whole."""
    lines = [f"Task #{task.id}: {task.subject}", f"Status: {task.status}", f"Description: {task.description}"]
    if blockers:
        lines.append(f"Blocked by: {listed(blockers)}")
    if task.blocks:
        lines.append(f"Blocks: {listed(task.blocks)}")
    if task.owner:
        lines.append(f"Owner: {task.owner}")
    return "\n".join(lines) + "\n"


def line(task: Task, blockers: Sequence[str]) -> str:
    """A task as one line, whatever its subject holds; `TaskGet` shows it whole."""
    owner = f" [owner: {_flat(task.owner)}]" if task.owner else ""
    blocked = f" [blocked by {listed(blockers)}]" if blockers else ""
    return f"#{task.id} [{_flat(task.status)}] {brief(task)}{owner}{blocked}"


def brief(task: Task) -> str:
    """A subject as one line of many has it: flat, and cut where it is no matter of a few words."""
    subject = _flat(task.subject)
    return subject if len(subject) <= MAX_SUBJECT else f"{subject[:MAX_SUBJECT]}…"


def board(listing: Listing) -> str:
    """All tasks, and what files hold none."""
    lines = [line(task, listing.blockers.get(task.id, ())) for task in listing.tasks] or ["No tasks found."]
    return "\n".join([*lines, *(f"Skipped, for it can not be read: {_flat(each)}" for each in listing.skipped)])


def updated(done: Updated) -> str:
    """What came of an update."""
    task_id = done.task.id
    if done.deleted:
        lines = [f"Updated task #{task_id} deleted"]
    elif not done.fields:
        lines = [f"Task #{task_id}: no changes"]
    else:
        lines = [f"Updated task #{task_id} {', '.join(done.fields)}"]
    if done.blockers:
        lines.append(f"Note: it was still blocked by {listed(done.blockers)}.")
    if done.unblocked:
        lines.append(f"Now unblocked: {listed(done.unblocked)}")
    if done.finished:
        lines.append("All tasks are completed, and were taken off the board. New ones go on with the next number.")
    if done.left:
        lines.append(f"All tasks are completed, but could not be taken off the board: {done.left}")
    return "\n".join(lines)


def _flat(text: str) -> str:
    return " ".join(text.split())
