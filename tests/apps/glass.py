"""What stands on a terminal after all that was written to it: so much of one as rich's live display needs."""

from __future__ import annotations

import re

from wcwidth import wcwidth

_PIECE = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])|(.)", re.DOTALL)


class Glass:
    """A terminal without colours. A line is written from its start and broken where it is too long, and what scrolled
    away can not be changed.

    Attributes:
        lines: All lines, the ones that scrolled away too.
    """

    def __init__(self, text: str, *, width: int, height: int) -> None:
        self.lines = [""]
        self._row = 0
        self._width, self._height = width, height
        for values, letter, char in _PIECE.findall(text):
            if letter == "A":
                self._row = max(self._row - int(values or 1), 0, len(self.lines) - self._height)
            elif letter == "K":
                assert values == "2"
                self.lines[self._row] = ""
            elif char == "\n":
                self._down()
            elif char and char != "\r":
                self._write(char)

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self.lines):
            self.lines.append("")

    def _write(self, char: str) -> None:
        if sum(max(wcwidth(each), 0) for each in self.lines[self._row] + char) > self._width:
            self._down()
        self.lines[self._row] += char
