"""``trace``: what happened in each round, as a tree with its times, from the journal alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich.cells import chop_cells

from roles_runtime.apps.assemble import make_store
from roles_runtime.apps.plain import is_ascii_only, print_json, write_svg
from roles_runtime.apps.text import one_line
from roles_runtime.apps.trace_words import attached_words, contents, ending, span_words, style_of, sums, words
from roles_runtime.errors import RoundNotFoundError, SessionNotFoundError
from roles_runtime.posts.attachment import Json
from roles_runtime.telemetry.nodes import Node, PostDetails, RoundDetails
from roles_runtime.telemetry.tree import fold, split

if TYPE_CHECKING:
    from rich.console import Console

    from roles_runtime.apps.config import Config

PIPE_WIDTH = 200
"""How wide a line is where there is no terminal."""

PICTURE_WIDTH = 150
"""How wide a picture is, in cells."""

_MIN_TEXT = 24
_UNIFORM_NS = 1_000_000_000_000
_TIMES = 24  # two spans, and a blank after each


class Line(msgspec.Struct, frozen=True):
    """A line of a drawn tree.

    Attributes:
        times: When it began and how long it took, in columns.
        bar: The same as a picture, or empty.
        guide: The tree's own lines.
        text: What is said, clean.
        style: Of the text.
    """

    times: str
    bar: str
    guide: str
    text: str
    style: str = ""


class Pen(msgspec.Struct, frozen=True):
    """What a tree is drawn with.

    Attributes:
        width: In cells.
        bar: How many of them a picture of the time has; 0 for none.
        ascii_only: Whether nothing else can be shown.
    """

    width: int = PIPE_WIDTH
    bar: int = 0
    ascii_only: bool = False


async def show_trace(
    config: Config,
    session_id: str,
    *,
    number: int | None,
    as_json: bool,
    with_content: bool = False,
    svg: Path | None = None,
) -> int:
    """Prints the rounds of a session as trees.

    Args:
        config: Where the store is.
        session_id: Which session.
        number: Which round, from 1; all where left out.
        as_json: As one JSON object.
        with_content: Also code, arguments, results and whole texts.
        svg: Draw them into this file instead.

    Raises:
        SessionNotFoundError: there is no such session.
        RoundNotFoundError: there is no such round in it.
        RolesError: the file can not be written.
    """
    async with make_store(config, read_only=True) as store, aclosing(store.read(session_id)) as entries:
        rounds = split([entry async for entry in entries])
    if not rounds:
        raise SessionNotFoundError(session_id)
    if number is not None and not 1 <= number <= len(rounds):
        raise RoundNotFoundError(session_id, number, len(rounds))
    chosen = range(1, len(rounds) + 1) if number is None else (number,)
    trees = {each: fold(rounds[each - 1], with_content=with_content) for each in chosen}
    if svg is not None:
        write_svg(svg, _picture(trees, f"trace {session_id}"))
    elif as_json:
        told: list[Json] = [{"number": each, **msgspec.to_builtins(node)} for each, node in trees.items()]
        print_json({"session_id": session_id, "rounds": told})
    elif sys.stdout.isatty():
        _print_at_terminal(trees)
    else:
        for line in _all_lines(trees, Pen(ascii_only=is_ascii_only(sys.stdout))):
            print(f"{line.times}{line.guide}{line.text}".rstrip())
    return 0


def _print_at_terminal(trees: dict[int, Node]) -> None:
    from roles_runtime.apps.screen import terminal

    _draw(terminal(), trees)


def _picture(trees: dict[int, Node], title: str) -> str:
    from roles_runtime.apps.screen import recording

    console = recording(PICTURE_WIDTH)
    _draw(console, trees)
    return console.export_svg(title=one_line(title, 100))


def _draw(console: Console, trees: dict[int, Node]) -> None:
    from rich.text import Text

    width = console.width
    pen = Pen(width, 16 if width >= 120 else 10 if width >= 90 else 0)
    for line in _all_lines(trees, pen):
        drawn = Text.assemble((line.times, "dim"), (line.bar, "blue"), (line.guide, "dim"), (line.text, line.style))
        console.print(drawn, no_wrap=True, overflow="ellipsis", crop=True)


def _all_lines(trees: dict[int, Node], pen: Pen) -> Iterator[Line]:
    for count, (number, node) in enumerate(trees.items()):
        if count:
            yield Line("", "", "", "")
        yield from tree_lines(number, node, pen)


def tree_lines(number: int, root: Node, pen: Pen) -> Iterator[Line]:
    """A round: its head, and its tree."""
    details = root.details
    assert isinstance(details, RoundDetails)
    state = root.outcome or "not over"
    took = f" in {span_words(root.duration_ns)}" if root.ended_ns is not None else ""
    yield Line("", "", "", f"--- round {number}: {state}{took} ---", "bold")
    if details.trace_id:
        yield Line("", "", "", f"trace: {details.trace_id}")
    spent = sums(details)
    if spent:
        yield Line("", "", "", f"{spent}.")
    yield Line(f"{'start':>11} {'took':>11} ", " " * (pen.bar + 1 if pen.bar else 0), "", "", "")
    yield from _Drawing(root, pen).lines()


class _Drawing:
    """One tree, drawn."""

    def __init__(self, root: Node, pen: Pen) -> None:
        self._root, self._pen = root, pen
        self._start = root.started_ns or 0
        self._span = max(root.duration_ns, *(each - self._start for each in _moments(root)), 1)
        self._tee, self._elbow, self._bar = ("|- ", "`- ", "|  ") if pen.ascii_only else ("├─ ", "└─ ", "│  ")
        self._blank = " " * (pen.bar + 1 if pen.bar else 0)

    def lines(self) -> Iterator[Line]:
        """Line by line."""
        yield self._line(self._root, None, "")
        for child in self._root.children:
            yield from self._branch(child, self._root, "", is_last=False)
        first, *rest = self._folded(ending(self._root), self._elbow, style_of(self._root))
        yield first
        yield from (msgspec.structs.replace(line, guide="   ") for line in rest)

    def _branch(self, node: Node, within: Node, guide: str, *, is_last: bool) -> Iterator[Line]:
        yield self._line(node, within, guide + (self._elbow if is_last else self._tee))
        guide += "   " if is_last else self._bar
        children = node.children if len(node.children) > 1 or node.kind != "tool" else []
        below = guide + (self._bar if children else "   ")
        if isinstance(node.details, PostDetails) and (attached := attached_words(node.details)):
            yield from self._folded(attached, below, "dim")
        for title, lines in contents(node):
            yield Line(" " * _TIMES, self._blank, below, f"[{title}]", "dim")
            for line in lines:
                yield from self._folded(line, below + "  ")
        for each in children:
            yield from self._branch(each, node, guide, is_last=each is children[-1])

    def _line(self, node: Node, within: Node | None, guide: str) -> Line:
        text = words(node, within)
        return Line(self._times(node), self._picture(node), guide, one_line(text, self._room(guide)), style_of(node))

    def _folded(self, line: str, guide: str, style: str = "") -> Iterator[Line]:
        for piece in chop_cells(line, self._room(guide)) or [""]:
            yield Line(" " * _TIMES, self._blank, guide, piece, style)

    def _room(self, guide: str) -> int:
        return max(_MIN_TEXT, self._pen.width - _TIMES - len(self._blank) - len(guide))

    def _times(self, node: Node) -> str:
        if node.started_ns is None:
            return " " * _TIMES
        since = max(0, node.started_ns - self._start)
        # In one unit as long as that is short, so that the column is read at a glance.
        start = f"{since / 1e9:.3f} s" if since < _UNIFORM_NS else span_words(since)
        takes_time = node.ended_ns is not None and node.kind not in ("post", "task", "unanswered")
        took = span_words(node.duration_ns) if takes_time else ""
        return f"{'+' + start:>11} {took:>11} "

    def _picture(self, node: Node) -> str:
        cells = self._pen.bar
        if not cells or node.started_ns is None:
            return self._blank
        first = min(cells - 1, max(0, node.started_ns - self._start) * cells // self._span)
        if not node.duration_ns:
            mark = "." if self._pen.ascii_only else "·"
            return f"{' ' * first}{mark}".ljust(cells + 1)
        length = max(1, min(cells - first, round(node.duration_ns * cells / self._span)))
        return f"{' ' * first}{('=' if self._pen.ascii_only else '━') * length}".ljust(cells + 1)


def _moments(root: Node) -> Sequence[int]:
    """When something in it began or ended."""
    nodes = [each for child in root.children for each in (child, *child.children)]
    return [moment for each in nodes for moment in (each.started_ns, each.ended_ns) if moment is not None] or [0]
