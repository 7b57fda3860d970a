"""A board drawn by rich: a line a task, which no subject can make longer than the terminal is wide."""

from __future__ import annotations

from unicodedata import category, east_asian_width

from rich.cells import get_character_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.spinner import Spinner
from rich.text import Text

from roles_runtime.apps.board import Glance, Row

_EMOJI_STYLE = "\ufe0f"
"""Asks for the picture of a character, which may be wider than its letter."""

_PICTURES = "\U0001f000"
"""From here on there are pictures, and halves of flags."""

_MARKS = {"pending": ("☐", "dim"), "in_progress": ("▸", "bold yellow"), "completed": ("✓", "green")}
_STYLES = {"pending": "", "in_progress": "bold", "completed": "dim"}
_INDENT = "  "


class BoardDrawing:
    """Draws a board, line by line."""

    def __init__(self, glance: Glance, *, most: int, spinner: Spinner | None = None) -> None:
        """Takes the board.

        Args:
            glance: What it looks like.
            most: How many tasks have room; the others are counted in one more line.
            spinner: What turns before the tasks that are in progress; without it a mark stands there.
        """
        self._rows = glance.first(most)
        self._more = glance.total - len(self._rows)
        self._count = f"{glance.done} of {glance.total} completed"
        self._spinner = spinner

    @property
    def height(self) -> int:
        """How many lines it has."""
        return len(self._rows) + bool(self._more)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        turning = self._spinner and self._spinner.render(console.get_time())
        digits = max((len(row.id) for row in self._rows), default=0)
        for row in self._rows:
            mark = Text(*_MARKS[row.state])
            if row.state == "in_progress" and isinstance(turning, Text):
                mark = turning
            yield _line(row, mark, digits, options.max_width)
        if self._more:
            more = fit(f"{_INDENT}and {self._more} more ({self._count})", options.max_width)
            yield Text(more, style="dim", no_wrap=True, overflow="crop")


def _line(row: Row, mark: Text, digits: int, width: int) -> Text:
    """A task in one line. Where there is no room for all, its text keeps half of it."""
    style = _STYLES[row.state]
    number = f" {'#' + row.id:<{digits + 1}} "
    room = width - cells(f"{_INDENT}x{number}")
    beside = max(room // 2, room - cells(row.text))
    blockers = fit(f"  {row.blockers}", beside) if row.blockers else ""
    owner = fit(f"  {row.owner}", beside - cells(blockers)) if row.owner else ""
    text = fit(row.text, room - cells(owner) - cells(blockers))
    owner_style = "dim" if row.state == "completed" else "cyan"
    parts = ((number, "dim"), (text, style), (owner, owner_style), (blockers, "yellow"))
    return Text.assemble(_INDENT, mark, *parts, no_wrap=True, overflow="crop")


def fit(text: str, width: int) -> str:
    """The text, cut where it is wider than that many cells."""
    if cells(text) <= width:
        return text
    left = width - 1
    for at, char in enumerate(text):
        left -= _cells(char)
        if left < 0:
            return f"{text[:at].rstrip()}…" if width > 0 else ""
    return text


def cells(text: str) -> int:
    """How many cells a text takes at most. Terminals disagree about what is joined, and about pictures of letters."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if east_asian_width(char) in ("W", "F") or char >= _PICTURES:
        return 2
    is_joined = category(char) in ("Mn", "Me", "Cf") and char != _EMOJI_STYLE
    return max(0 if is_joined else 1, get_character_cell_size(char))
