"""The live round in a terminal: Posts as they are sent, and below them what is growing and who is busy with what."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment
from rich.spinner import Spinner
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from roles_runtime.apps.board import MAX_ROWS, Board, Glance, Moment
from roles_runtime.apps.board_drawing import BoardDrawing
from roles_runtime.apps.shown import Section, artifact_lines, failure_line, heading, sections
from roles_runtime.apps.text import clean, one_line
from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.conversation import Round
from roles_runtime.posts.event import (
    AttachmentGrew,
    Event,
    MessageGrew,
    PostSent,
    PostWithdrawn,
    StatusChanged,
    TaskChanged,
    TurnFinished,
    TurnStarted,
)
from roles_runtime.posts.post import USER, Post, RoleName
from roles_runtime.tools.tasks.task import Task

T = TypeVar("T")

_TAIL_CHARS = 2000
_TAIL_LINES = 10
_MAX_FINISHED = 100
_STYLES = {"thought": "dim italic", "fault": "yellow", "result": "", "failure": "red", "correction": "yellow"}
_TITLES = {"fault": "not run", "result": "result", "failure": "failure", "correction": "corrects itself"}


class Growth:
    """The end of a text that grows.

    Attributes:
        kind: The attachment's type, or ``message``.
        tail: Its last characters, as they came.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.tail = ""

    def add(self, text: str) -> None:
        """Appends; only the end is kept."""
        self.tail = (self.tail + text)[-_TAIL_CHARS:]

    def render(self) -> RenderableType:
        """Its last lines."""
        text = "\n".join(clean(self.tail).splitlines()[-_TAIL_LINES:])
        if self.kind == AttachmentType.reply_content:
            return _code(text)
        return Text(text, style="dim", overflow="fold")


class _Tail:
    """The last lines of something, as many as have room."""

    def __init__(self, drawn: RenderableType, height: int) -> None:
        self._drawn, self._height = drawn, height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._drawn, options, pad=False)
        for line in lines[max(0, len(lines) - self._height) :]:
            yield from line
            yield Segment.line()


class ScreenView:
    """Shows a round by rich. All text is shown as it is: no markup, no control characters."""

    def __init__(self, console: Console) -> None:
        self._console = console
        # Drawn by a thread of rich: what it reads is replaced, and never changed in place.
        self._growing: dict[RoleName, Growth] = {}
        self._busy: dict[RoleName, str] = {}
        self._board = Glance()
        # This is changed in place: the thread reads what was last seen of it, and never itself.
        self._tasks = Board()
        self._spinner = Spinner("dots", style="cyan")
        self._working = Spinner("dots", style="bold yellow")
        self._live = Live(
            console=console,
            get_renderable=self._render,
            transient=True,
            refresh_per_second=12,
            redirect_stderr=sys.stderr.isatty(),
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def begin(self, tasks: Iterable[Task]) -> None:
        """Shows what is open from the start."""
        self._tasks = Board(tasks)
        self._look()

    def take(self, event: Event) -> None:
        """Shows an event."""
        match event:
            case PostSent(post=post):
                self._growing = _without(self._growing, post.send_from)
                self._print(render_post(post))
            case TaskChanged(board="") as changed:
                finished = self._tasks.take(changed)
                self._look()
                if finished:
                    self._print(finished_board(self._tasks))
            case TurnStarted(role=role):
                self._busy = {**self._busy, role: "thinking"}
            case StatusChanged(role=role, status=status):
                self._busy = {**self._busy, role: one_line(status, 200)}
            case MessageGrew(role=role, text=text):
                self._grow(role, "message", text)
            case AttachmentGrew(role=role, type=type, text=text):
                self._grow(role, type, text)
            case PostWithdrawn(role=role):
                self._growing = _without(self._growing, role)
            case TurnFinished(role=role):
                self._busy = _without(self._busy, role)
                self._growing = _without(self._growing, role)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Draws nothing that moves while the block runs; Posts are still printed."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def end(self, record: Round) -> None:
        """Shows the files, and why the round failed."""
        self._live.stop()
        for line in render_end(record):
            # Never broken into lines, so that a copy takes the whole path.
            self._console.print(line, soft_wrap=True)

    def _look(self) -> None:
        self._board = self._tasks.glance(MAX_ROWS) if self._tasks.is_open else Glance()

    def _print(self, drawn: RenderableType) -> None:
        # Printing draws again what was drawn last, so that it must be up to date by then.
        self._live.refresh()
        self._console.print(drawn)

    def _grow(self, role: RoleName, kind: str, text: str) -> None:
        growth = self._growing.get(role)
        if growth is None or growth.kind != kind:
            growth = Growth(kind)
            self._growing = {**self._growing, role: growth}
        growth.add(text)

    def _render(self) -> RenderableType:
        busy = [f"{one_line(role, 80)}: {status}" for role, status in self._busy.items()]
        self._spinner.update(text=Text("; ".join(busy) or "waiting", no_wrap=True, overflow="ellipsis"))
        drafts = [Padding(growth.render(), (0, 0, 0, 2)) for growth in self._growing.values()]
        # What is higher than the screen can not be taken back from it, so that all of it has to have room.
        room = self._console.height - 2
        glance = self._board if room > 1 else Glance()
        board = BoardDrawing(glance, most=min(MAX_ROWS, room // 2), spinner=self._working)
        return Group(_Tail(Group(*drafts), room - board.height), self._spinner, board)


def _without(values: dict[RoleName, T], role: RoleName) -> dict[RoleName, T]:
    return {name: value for name, value in values.items() if name != role}


def render_post(post: Post) -> RenderableType:
    """A Post: who speaks to whom, and its parts."""
    sender, recipient = heading(post)
    head = Text.assemble((sender, "bold cyan"), " → ", (recipient, "bold magenta"))
    is_answer = post.send_to == USER
    parts = [Padding(_render(part, is_answer=is_answer), (0, 0, 0, 2)) for part in sections(post)]
    return Group(head, *parts, Text())


def render_end(record: Round) -> Iterator[RenderableType]:
    """The files that came of a round, and why it failed."""
    for line in artifact_lines(record):
        yield Text(f"  {line}", style="green", no_wrap=True, overflow="ellipsis")
    failed = failure_line(record)
    if failed:
        yield Text(failed, style="bold red")


def finished_board(tasks: Board) -> RenderableType:
    """A board on which all is completed."""
    return Group(BoardDrawing(tasks.glance(_MAX_FINISHED), most=_MAX_FINISHED), Text())


def recording(width: int) -> Console:
    """A terminal that is not there: what is printed to it becomes a picture (``export_svg``)."""
    return Console(
        record=True,
        file=io.StringIO(),
        width=width,
        force_terminal=True,
        color_system="truecolor",
        markup=False,
        emoji=False,
        highlight=False,
    )


def picture(record: Round, *, title: str = "roles_runtime", width: int = 100, board: Moment | None = None) -> str:
    """A round as an SVG document: what its screen looked like in the end.

    Args:
        record: The round.
        title: Of the window.
        width: In cells.
        board: A moment at which the board was looked at; it is drawn after the Posts that were sent by then.
    """
    console = recording(width)
    for number, post in enumerate(record.post_list, 1):
        console.print(render_post(post))
        if board is not None and board.posts == number:
            console.print(BoardDrawing(board.board, most=MAX_ROWS), Text())
    for line in render_end(record):
        console.print(line)
    return console.export_svg(title=one_line(title, 100))


def _render(part: Section, *, is_answer: bool) -> RenderableType:
    match part.kind:
        case "plan":
            return _plan(part)
        case "code":
            return Panel(_code(part.text), title="code", title_align="left", border_style="blue")
        case "message":
            return Text(part.text, style="bold" if is_answer else "")
        case "thought":
            return Text(part.text, style=_STYLES["thought"])
    style = _STYLES[part.kind]
    return Panel(
        Text(part.text, style=style), title=_TITLES[part.kind], title_align="left", border_style=style or "dim"
    )


def _plan(part: Section) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for number, line in enumerate(part.text.splitlines()):
        is_current = number == part.current
        table.add_row(
            Text("▶" if is_current else " ", style="bold yellow"), Text(line, "bold" if is_current else "dim")
        )
    return table


def _code(text: str) -> RenderableType:
    return Syntax(text, "python", theme="ansi_dark", word_wrap=True)


def terminal() -> Console:
    """The terminal on stdout, without anything that would make more of a text than it says."""
    return Console(markup=False, emoji=False, highlight=False)


def print_board(glance: Glance) -> None:
    """Prints all rows of a board."""
    terminal().print(BoardDrawing(glance, most=glance.total))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table of clean texts."""
    table = Table(*headings, box=None, header_style="bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    terminal().print(table)
