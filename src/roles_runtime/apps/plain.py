"""A round in plain lines: for a pipe, a file, a log; and stored rounds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import Self, TextIO

from roles_runtime.apps.board import Board, Row
from roles_runtime.apps.shown import Section, artifact_lines, failure_line, heading, said, sections
from roles_runtime.apps.text import json_text, shortened
from roles_runtime.errors import RolesError
from roles_runtime.posts.attachment import Json
from roles_runtime.posts.conversation import Round
from roles_runtime.posts.event import Event, PostSent, TaskChanged
from roles_runtime.posts.post import Post
from roles_runtime.tools.tasks.task import Task

_TITLES = {
    "thought": "thought",
    "plan": "plan",
    "code": "code",
    "fault": "not run",
    "result": "result",
    "failure": "failure",
    "correction": "corrects itself",
}


class PlainView:
    """Prints each Post when it was sent, and each change of the board."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._board = Board()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def begin(self, tasks: Iterable[Task]) -> None:
        """Prints nothing yet: lines tell of changes."""
        self._board = Board(tasks)

    def take(self, event: Event) -> None:
        """Prints a Post, or what changed on the board."""
        match event:
            case PostSent(post=post):
                self._print(post_lines(post))
            case TaskChanged(board="") as changed:
                self._print(change_lines(self._board, changed))

    def paused(self) -> AbstractContextManager[None]:
        """Lines are in nobody's way."""
        return nullcontext()

    def end(self, record: Round) -> None:
        """Prints the files, and why the round failed."""
        self._print(end_lines(record))

    def _print(self, lines: Iterable[str]) -> None:
        for line in lines:
            print(line, file=self._out, flush=True)


def change_lines(board: Board, event: TaskChanged) -> Iterator[str]:
    """Folds a change into the board, and tells what of it can be seen."""
    before = board.row(event.task_id)
    finished = board.take(event)
    after = board.row(event.task_id)
    if after is not None and after != before:
        yield task_line(after)
    elif after is None and (event.previous != "completed" or board.is_open):
        # Where all is completed, and told, the board is only cleared.
        yield f"[task #{event.task_id} deleted]"
    if finished:
        yield f"[all tasks are completed: {board.total}]"


def task_line(row: Row) -> str:
    """``[task #1 in_progress: Counting the rows (Planner)]``."""
    owner = f" ({row.owner})" if row.owner else ""
    blockers = f", {row.blockers}" if row.blockers else ""
    return f"[task #{row.id} {row.state}: {row.text}{owner}{blockers}]"


def post_lines(post: Post) -> Iterator[str]:
    """``Planner -> User: …`` with what it carries."""
    sender, recipient = heading(post)
    parts = sections(post)
    messages = [part.text for part in parts if part.kind == "message"]
    first, *rest = "\n".join(messages).splitlines() or [""]
    yield f"{sender} -> {recipient}: {first}".rstrip()
    yield from (indent(line, "  ") for line in rest)
    for part in parts:
        if part.kind != "message":
            yield f"  [{_TITLES[part.kind]}]"
            yield from _body(part)


def _body(part: Section) -> Iterator[str]:
    for number, line in enumerate(part.text.splitlines()):
        mark = "> " if number == part.current else "  "
        yield f"  {mark if part.kind == 'plan' else '  '}{line}".rstrip()


def end_lines(record: Round) -> Iterator[str]:
    """The files, and why it failed."""
    yield from (f"file {line}" for line in artifact_lines(record))
    failed = failure_line(record)
    if failed:
        yield failed


def round_lines(record: Round) -> Iterator[str]:
    """A stored round with all that its Posts carry."""
    for post in record.post_list:
        sender, recipient = heading(post)
        first, *rest = said(post).splitlines() or [""]
        yield f"{sender} -> {recipient}: {first}".rstrip()
        yield from (f"  {line}".rstrip() for line in rest)
        for attachment in post.attachment_list:
            content = shortened(attachment.content).strip()
            if content:
                yield f"  [{shortened(attachment.type)}]"
                yield from (f"    {line}".rstrip() for line in content.splitlines())
    yield from end_lines(record)


def is_ascii_only(out: TextIO) -> bool:
    """Whether letters beyond ASCII are not sure to be shown: only UTF-8 has all of them."""
    return (out.encoding or "").lower().replace("-", "") != "utf8"


def print_json(document: Json) -> None:
    """Prints a document as one line on stdout, whatever its encoding can hold."""
    print(json_text(document, ascii_only=is_ascii_only(sys.stdout)), flush=True)


def write_svg(path: Path, picture: str) -> None:
    """Writes a picture into a file.

    Raises:
        RolesError: it can not be written.
    """
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise RolesError(f"{path}: it can not be written: {error.strerror}.") from error
