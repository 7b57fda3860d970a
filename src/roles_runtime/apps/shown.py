"""What of a round a person is shown, whatever shows it: the live screen, plain lines, a stored round."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import PurePath
from types import TracebackType
from typing import Literal, Protocol, Self

import msgspec

from roles_runtime.apps.text import one_line, shortened
from roles_runtime.posts.attachment import AttachmentType, Json
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.delimiters import remove_all_delimiters
from roles_runtime.posts.event import Event
from roles_runtime.posts.post import Post
from roles_runtime.tools.tasks.task import Task

Kind = Literal["thought", "plan", "code", "fault", "result", "failure", "correction", "message"]


class Section(msgspec.Struct, frozen=True):
    """A part of a Post, fit for a terminal.

    Attributes:
        kind: What it is.
        text: Clean, never empty.
        current: Of a plan: the line of the current step, or -1.
    """

    kind: Kind
    text: str
    current: int = -1


class View(Protocol):
    """Shows one round. Entered before it is asked, left when it is over."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def begin(self, tasks: Iterable[Task]) -> None:
        """Takes the board as it is before the round."""
        ...

    def take(self, event: Event) -> None:
        """Shows an event as it comes."""
        ...

    def paused(self) -> AbstractContextManager[None]:
        """Leaves the terminal to somebody else while the block runs."""
        ...

    def end(self, record: Round) -> None:
        """Shows how the round ended, and the files that came of it."""
        ...


class NoView:
    """Shows nothing: its caller prints the round itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def begin(self, tasks: Iterable[Task]) -> None:
        """Does nothing."""

    def take(self, event: Event) -> None:
        """Does nothing."""

    def paused(self) -> AbstractContextManager[None]:
        """Nothing is in the way."""
        return nullcontext()

    def end(self, record: Round) -> None:
        """Does nothing."""


def sections(post: Post) -> list[Section]:
    """The parts of a Post in reading order: why, what was done, what came of it, what is said."""
    found: list[Section] = []

    def add(kind: Kind, attachment: AttachmentType) -> None:
        found.extend(
            Section(kind, text) for each in post.get_attachment(attachment) if (text := shortened(each.content).strip())
        )

    runs_code = _says(post, AttachmentType.reply_type) == "python"
    add("thought", AttachmentType.plan_reasoning)
    plan = _plan(post)
    if plan is not None:
        found.append(plan)
    add("thought", AttachmentType.thought)
    if runs_code:
        add("code", AttachmentType.reply_content)
    add("fault", AttachmentType.code_error)
    failed = _says(post, AttachmentType.execution_status) == "failure"
    add("failure" if failed else "result", AttachmentType.execution_result)
    add("correction", AttachmentType.revise_message)
    message = said(post)
    # The message about a cell repeats, for the other roles, the code and the result that stand above.
    if message and not (runs_code and found):
        found.append(Section("message", message))
    return found


def said(post: Post) -> str:
    """The text of a Post, fit for a terminal; the marks round what only its own round is told are for roles."""
    return shortened(remove_all_delimiters(post.message)).strip()


def current_line(plan: str, step: str) -> int:
    """Which line of a plan its current step is: the one of that text, else of that number; -1 if none is."""
    lines = [line.strip() for line in plan.splitlines()]
    wanted = step.strip()
    if not wanted:
        return -1
    for index, line in enumerate(lines):
        if line and (line == wanted or line in wanted or wanted in line):
            return index
    number = re.match(r"\d+", wanted)
    numbers = [re.match(r"\d+", line) for line in lines]
    return next((at for at, each in enumerate(numbers) if each and number and each[0] == number[0]), -1)


def heading(post: Post) -> tuple[str, str]:
    """Who speaks to whom."""
    return one_line(post.send_from, 80), one_line(post.send_to, 80)


def failure_line(record: Round) -> str:
    """Why a round failed, in one line; empty if it did not."""
    if record.state is not RoundState.failed:
        return ""
    detail = one_line(record.detail, 1000)
    return f"The round failed ({record.reason}): {detail}" if detail else f"The round failed ({record.reason})."


def artifact_lines(record: Round) -> list[str]:
    """A line for each file that came of the round, each file once: ``name: path``."""
    paths = {artifact.path: artifact for artifact in record.artifacts}
    return [
        f"{one_line(PurePath(artifact.name or path).name, 100)}: {one_line(path, 4096)}"
        for path, artifact in paths.items()
    ]


def round_document(record: Round) -> dict[str, Json]:
    """A round for a program to read."""
    reply = record.reply
    return {
        "round": record.to_dict(),
        "reason": record.reason,
        "detail": record.detail,
        "reply": "" if reply is None else reply.message,
        "artifacts": [{"path": artifact.path, "mime": artifact.mime} for artifact in record.artifacts],
    }


def _plan(post: Post) -> Section | None:
    plans = post.get_attachment(AttachmentType.plan)
    text = shortened(plans[-1].content).strip() if plans else ""
    if not text:
        return None
    steps = post.get_attachment(AttachmentType.current_plan_step)
    return Section("plan", text, current_line(text, shortened(steps[-1].content)) if steps else -1)


def _says(post: Post, kind: AttachmentType) -> str:
    found = post.get_attachment(kind)
    return found[-1].content.strip().casefold() if found else ""
