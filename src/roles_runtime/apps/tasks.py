"""``tasks``: the board of a session, as its journal tells it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from roles_runtime.apps.assemble import make_store
from roles_runtime.apps.board import Board
from roles_runtime.apps.plain import print_json
from roles_runtime.apps.text import one_line
from roles_runtime.errors import SessionNotFoundError
from roles_runtime.posts.attachment import Json
from roles_runtime.runtime.restore import read_session
from roles_runtime.runtime.task_store import KeptTasks
from roles_runtime.tools.tasks import replies
from roles_runtime.tools.tasks.graph import Sketch
from roles_runtime.tools.tasks.task import Task, decode_task, file_of

if TYPE_CHECKING:
    from roles_runtime.apps.config import Config

MAX_LABEL = 60


async def show_tasks(config: Config, session_id: str, *, as_json: bool, as_graph: bool, done: bool) -> int:
    """Prints the tasks of a session.

    Args:
        config: Where the store is.
        session_id: Which one.
        as_json: As one JSON object.
        as_graph: As a Mermaid graph.
        done: Those too that were completed and taken off the board.

    Raises:
        SessionNotFoundError: there is no such session.
    """
    async with make_store(config, read_only=True) as store:
        restored = await read_session(store, session_id)
    if not restored.seq:
        raise SessionNotFoundError(session_id)
    tasks = tasks_of(restored.tasks or KeptTasks(), done=done)
    if as_json:
        print_json({"session_id": session_id, "tasks": task_documents(tasks.values())})
    elif as_graph:
        print("\n".join(graph_lines(tasks)))
    elif tasks and sys.stdout.isatty():
        from roles_runtime.apps.screen import print_board

        print_board(Board(tasks.values()).glance())
    else:
        print("\n".join(board_lines(tasks)))
    return 0


def tasks_of(kept: KeptTasks, *, done: bool) -> dict[str, Task]:
    """The tasks by number: those on the board, and those that were completed before if these are wished for."""
    texts = {**kept.done, **kept.files} if done else kept.files
    return {each: decode_task(file_of(each), texts[each]) for each in sorted(texts, key=int)}


def task_documents(tasks: Iterable[Task]) -> list[Json]:
    """Tasks for a program to read, as their files have them."""
    return [task.document() for task in tasks]


def board_lines(tasks: Mapping[str, Task]) -> Iterator[str]:
    """A task a line, fit for a terminal."""
    if not tasks:
        yield "There is no task."
    sketch = Sketch(tasks)
    for task in tasks.values():
        yield one_line(replies.line(task, sketch.open_blockers(task)), 400)


def graph_lines(tasks: Mapping[str, Task]) -> Iterator[str]:
    """The tasks and what waits for what, in Mermaid's words."""
    yield "graph LR"
    for task in tasks.values():
        label = one_line(task.subject, MAX_LABEL).replace("#", "#35;").replace('"', "#quot;")
        for sign, code in (("<", "#lt;"), (">", "#gt;"), ("`", "#96;"), ("\\", "#92;")):
            label = label.replace(sign, code)
        yield f'    t{task.id}["#35;{task.id} {label}"]:::{task.state}'
    for task in tasks.values():
        for each in task.blocks:
            if each in tasks:
                yield f"    t{task.id} --> t{each}"
    yield "    classDef pending stroke-dasharray: 4"
    yield "    classDef in_progress stroke-width: 3px"
    yield "    classDef completed opacity: 0.6"
