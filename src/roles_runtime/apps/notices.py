"""What the user must know and no role will say: lines on stderr, each told once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from roles_runtime.apps.text import clean, one_line
from roles_runtime.posts.event import CellStarted, Event
from roles_runtime.runtime.session import Session

if TYPE_CHECKING:
    from roles_runtime.apps.tracing import Tracing

_NO_LLM = {
    "rules": "it answers questions about tables by fixed rules. Say --model provider:name for an LLM.",
    "scripted": "it replays the answers of a script.",
}


class Notices:
    """Tells when code runs without a sandbox, when a model is no LLM, and where a round's trace is."""

    def __init__(self, session: Session, tracing: Tracing | None = None) -> None:
        self._session = session
        self._tracing = tracing
        self._told = False

    def take(self, event: Event) -> None:
        """Tells at the first cell that runs without a sandbox, which is when that is decided."""
        if isinstance(event, CellStarted) and self._session.sandbox is False and not self._told:
            self._told = True
            kernels = self._session.ground.kernels
            problem = "" if kernels is None else one_line(kernels.problem, 1000)
            tell(f"WARNING: code runs without a sandbox, with all your rights. {problem}".rstrip(), style="1;31")

    def tell_models(self) -> None:
        """Tells which models of the team are no LLM."""
        seats = self._session.ground.seats.values()
        names = {seat.model.name for seat in seats if seat.model is not None and not seat.model.writes_code}
        for name in sorted(names):
            why = _NO_LLM.get(name.partition(":")[0], "its answers follow from rules.")
            tell(f"The model {one_line(name)} is no LLM: {why}", style="2")

    def tell_trace(self, round_id: str) -> None:
        """Tells where the trace of a round that is over is found, if it has one."""
        line = "" if self._tracing is None else self._tracing.line(round_id)
        if line:
            tell(line, style="2")


def tell(text: str, *, style: str = "") -> None:
    """Writes a line to stderr.

    Args:
        text: Cleaned here.
        style: Of the line on a terminal, as ANSI numbers: ``1;31``.
    """
    line = clean(text)
    print(f"\x1b[{style}m{line}\x1b[0m" if style and sys.stderr.isatty() else line, file=sys.stderr, flush=True)
