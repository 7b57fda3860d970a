"""JSON that arrives in pieces: an incremental parser without I/O, without recursion, in linear time.

The grammar is a table: in each state, what a character does. However the text is cut, the events say the same;
only a string's text may come in more or fewer pieces. Lenient where models are careless: a raw control character
inside a string, a comma before ``}`` and leading zeros are taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from typing import NamedTuple

MAX_DEPTH = 128
"""How deep objects and arrays may stand inside each other."""


class Kind(Enum):
    """What a `JsonEvent` tells."""

    OPEN = "an object or array begins: its bracket"
    CLOSE = "an object or array ended: its bracket"
    KEY = "a key of an object, whole"
    TEXT = "a string value grew by this text"
    END = "the string value ended"
    SCALAR = "a number, true, false or null, as it stands"


class JsonEvent(NamedTuple):
    """One thing that was read."""

    kind: Kind
    text: str


class _State(StrEnum):
    """Where the parser stands, in the words in which a fault says what it expected."""

    VALUE = "a value"
    FIRST_ITEM = "a value or ']'"
    MEMBER = "a key in double quotes or '}'"
    COLON = "':'"
    AFTER_MEMBER = "',' or '}'"
    AFTER_ITEM = "',' or ']'"
    DONE = "the end"
    STRING = "the rest of a string"
    ESCAPE = "an escape"
    UNICODE = "four hexadecimal digits"
    WORD = "the rest of a value"


class _Move(Enum):
    """What a character does between strings and words."""

    OPEN_OBJECT, OPEN_ARRAY, CLOSE, QUOTE, QUOTE_KEY, COLON, COMMA, WORD = range(8)


_VALUE_MOVES = {"{": _Move.OPEN_OBJECT, "[": _Move.OPEN_ARRAY, '"': _Move.QUOTE} | dict.fromkeys(
    "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", _Move.WORD
)
_MOVES: dict[_State, dict[str, _Move]] = {
    _State.VALUE: _VALUE_MOVES,
    _State.FIRST_ITEM: _VALUE_MOVES | {"]": _Move.CLOSE},
    _State.MEMBER: {'"': _Move.QUOTE_KEY, "}": _Move.CLOSE},
    _State.COLON: {":": _Move.COLON},
    _State.AFTER_MEMBER: {",": _Move.COMMA, "}": _Move.CLOSE},
    _State.AFTER_ITEM: {",": _Move.COMMA, "]": _Move.CLOSE},
    _State.DONE: {},
}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

_BLANKS = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\]*')
_WORD = re.compile(r"[A-Za-z0-9+\-._]*")
_NUMBER = re.compile(r"(-?)0*([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


class JsonStream:
    """Reads one JSON value, piece by piece. It never raises; a fault ends the reading and stands in `problem`.

    Half a surrogate pair, escaped or raw, becomes U+FFFD, so that every text is valid Unicode.

    Attributes:
        problem: What is wrong with the text, as a clause; None while nothing is.
    """

    def __init__(self, *, skip_after_root: bool = False) -> None:
        """Begins.

        Args:
            skip_after_root: Whether anything may follow the value, unread; else only blanks may.
        """
        self.problem: str | None = None
        self._skip_after_root = skip_after_root
        self._state = _State.VALUE
        self._after: list[_State] = []
        self._parts: list[str] = []
        self._is_key = False
        self._hex = ""
        self._high = 0
        self._events: list[JsonEvent] = []

    @property
    def done(self) -> bool:
        """Whether the value was read to its end."""
        return self._state is _State.DONE and self.problem is None

    def feed(self, text: str, start: int = 0) -> tuple[list[JsonEvent], int]:
        """Reads on, from ``start``.

        Returns:
            What was read, and the position in ``text`` where reading stopped: its end, the fault, or what follows
            the value where that is skipped.
        """
        at, end = start, len(text)
        while at < end and self.problem is None and not (self._skip_after_root and self._state is _State.DONE):
            at = _SCANNERS[self._state](self, text, at)
        self._flush()
        events, self._events = self._events, []
        return events, at

    def close(self) -> list[JsonEvent]:
        """The text is over: a value that is not whole is a problem from now on."""
        if self._state is _State.WORD and not self._after:
            self._end_word()
        if self.problem is None and self._state is not _State.DONE:
            self.problem = f"it ends where {self._state.value} must follow"
        events, self._events = self._events, []
        return events

    def _scan_structure(self, text: str, at: int) -> int:
        if text[at] in " \t\r\n":
            return _end(_BLANKS, text, at)
        move = _MOVES[self._state].get(text[at])
        if move is None:
            self.problem = f"{text[at]!r} stands where {self._state.value} must be"
            return at
        if move is _Move.WORD:
            self._state = _State.WORD
            return at
        self._go(move)
        return at + 1

    def _go(self, move: _Move) -> None:
        if move is _Move.OPEN_OBJECT:
            self._open("{", _State.MEMBER, _State.AFTER_MEMBER)
        elif move is _Move.OPEN_ARRAY:
            self._open("[", _State.FIRST_ITEM, _State.AFTER_ITEM)
        elif move is _Move.CLOSE:
            self._tell(Kind.CLOSE, "}" if self._after.pop() is _State.AFTER_MEMBER else "]")
            self._end_value()
        elif move is _Move.COMMA:
            self._state = _State.MEMBER if self._state is _State.AFTER_MEMBER else _State.VALUE
        elif move is _Move.COLON:
            self._state = _State.VALUE
        else:
            self._state, self._is_key = _State.STRING, move is _Move.QUOTE_KEY

    def _open(self, bracket: str, first: _State, after: _State) -> None:
        if len(self._after) == MAX_DEPTH:
            self.problem = f"it is nested deeper than {MAX_DEPTH} levels"
            return
        self._after.append(after)
        self._state = first
        self._tell(Kind.OPEN, bracket)

    def _scan_string(self, text: str, at: int) -> int:
        length = len(text)
        while True:
            end = _end(_PLAIN, text, at)
            if end > at:
                self._take(_SURROGATE.sub(_REPLACEMENT, text[at:end]))
            if end == length:
                return end
            if text[end] == '"':
                self._end_string()
                return end + 1
            # Most escapes are line breaks and stand in one chunk: they need no change of state.
            escaped = _ESCAPES.get(text[end + 1]) if end + 1 < length else None
            if escaped is None:
                self._state = _State.ESCAPE
                return end + 1
            self._take(escaped)
            at = end + 2

    def _scan_escape(self, text: str, at: int) -> int:
        char = text[at]
        if char == "u":
            self._state, self._hex = _State.UNICODE, ""
        elif char in _ESCAPES:
            self._take(_ESCAPES[char])
            self._state = _State.STRING
        else:
            self.problem = f"{chr(92) + char!r} is no JSON escape"
            return at
        return at + 1

    def _scan_unicode(self, text: str, at: int) -> int:
        char = text[at]
        if char not in "0123456789abcdefABCDEF":
            self.problem = f"{char!r} stands where {self._state.value} must be"
            return at
        self._hex += char
        if len(self._hex) == 4:
            self._take_code(int(self._hex, 16))
            self._state = _State.STRING
        return at + 1

    def _scan_word(self, text: str, at: int) -> int:
        end = _end(_WORD, text, at)
        self._parts.append(text[at:end])
        if end < len(text):
            self._end_word()
        return end

    def _take_code(self, code: int) -> None:
        if 0xDC00 <= code <= 0xDFFF and self._high:
            high, self._high = self._high, 0
            self._parts.append(chr(0x10000 + (high - 0xD800) * 0x400 + code - 0xDC00))
        elif 0xD800 <= code <= 0xDBFF:
            self._take("")
            self._high = code
        else:
            self._take(_SURROGATE.sub(_REPLACEMENT, chr(code)))

    def _take(self, text: str) -> None:
        # Only now is it known that the first half of a pair stands alone.
        if self._high:
            self._high = 0
            self._parts.append(_REPLACEMENT)
        self._parts.append(text)

    def _end_string(self) -> None:
        self._take("")
        if self._is_key:
            self._tell(Kind.KEY, self._drain())
            self._is_key = False
            self._state = _State.COLON
        else:
            self._flush(in_string=True)
            self._tell(Kind.END, "")
            self._end_value()

    def _end_word(self) -> None:
        word = self._drain()
        if word not in ("true", "false", "null"):
            number = _NUMBER.fullmatch(word)
            if number is None:
                self.problem = f"{word[:40]!r} is no JSON value"
                return
            word = number[1] + number[2]
        self._tell(Kind.SCALAR, word)
        self._end_value()

    def _end_value(self) -> None:
        self._state = self._after[-1] if self._after else _State.DONE

    def _flush(self, *, in_string: bool = False) -> None:
        if in_string or (self._state in _INSIDE_STRING and not self._is_key):
            text = self._drain()
            if text:
                self._tell(Kind.TEXT, text)

    def _drain(self) -> str:
        text = "".join(self._parts)
        self._parts.clear()
        return text

    def _tell(self, kind: Kind, text: str) -> None:
        self._events.append(JsonEvent(kind, text))


_INSIDE_STRING = (_State.STRING, _State.ESCAPE, _State.UNICODE)
_Scanner = Callable[[JsonStream, str, int], int]
_SCANNERS: Mapping[_State, _Scanner] = dict.fromkeys(_MOVES, JsonStream._scan_structure) | {
    _State.STRING: JsonStream._scan_string,
    _State.ESCAPE: JsonStream._scan_escape,
    _State.UNICODE: JsonStream._scan_unicode,
    _State.WORD: JsonStream._scan_word,
}


class JsonWriter:
    """Writes events down again as one text, in the form of ``json.dumps``; numbers keep their digits."""

    def __init__(self) -> None:
        self._written: list[str] = []
        self._string: list[str] = []
        self._separator = ""

    def write(self, event: JsonEvent) -> None:
        """Appends what an event says."""
        kind, text = event
        if kind is Kind.TEXT:
            self._string.append(text)
        elif kind is Kind.END:
            self._append(json.dumps("".join(self._string)), ", ")
            self._string.clear()
        elif kind is Kind.KEY:
            self._append(json.dumps(text) + ": ", "")
        elif kind is Kind.SCALAR:
            self._append(text, ", ")
        elif kind is Kind.OPEN:
            self._append(text, "")
        else:
            self._separator = ""
            self._append(text, ", ")

    def _append(self, text: str, separator_after: str) -> None:
        self._written.append(self._separator + text)
        self._separator = separator_after

    @property
    def text(self) -> str:
        """What was written so far."""
        return "".join(self._written)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()
