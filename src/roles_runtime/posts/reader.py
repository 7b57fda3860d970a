"""A model's answer, read while it is written: ``{"response": {key: value, …}}``, and what models put round it."""

from __future__ import annotations

import re

import msgspec

from roles_runtime.posts.json_stream import JsonEvent, JsonStream, JsonWriter, Kind

RESPONSE = "response"
"""The key of the root object under which the answer stands."""

_THINK, _THINK_END = "<think>", "</think>"
_LANDMARK = re.compile(r"\{|</?think>")
_PARTIAL_TAG = re.compile(r"</?(?:t(?:h(?:i(?:nk?)?)?)?)?\Z")
_MAX_TRIES = 1000
_NO_OBJECT = f'it is no JSON object with the key "{RESPONSE}"'


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A value of the answer grew.

    Attributes:
        key: Its key.
        text: What came to it: of a string any part; of everything else the whole. A number is its digits, null is
            empty, an object or array is its JSON text.
        whole: The whole value, with its last piece; None before.
    """

    key: str
    text: str
    whole: str | None = None


class PostReader:
    """Reads an answer, however it is cut into chunks. It never raises: what is wrong stands in `problem`.

    Before the object, prose, a Markdown fence and ``<think>`` blocks are taken off; after it everything is skipped.
    An object without the key ``response`` counts as prose. The root object must be closed: a brace that is missing
    at its end may as well be missing in its middle, and then values stand where they were not meant.

    Attributes:
        problem: What is wrong with the answer, as a clause beginning with "it"; None while nothing is.
        done: Whether the answer was read to its end.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        self.done = False
        self._held = ""
        self._prose: list[str] = []
        self._reasoning: list[str] = []
        self._thinking = False
        self._last_char = ""
        self._tries = 0
        self._fault: str | None = None
        self._begin_search()

    def _begin_search(self) -> None:
        self._stream: JsonStream | None = None
        self._depth = 0
        self._in_response = False
        self._answered = False
        self._root_key: str | None = None
        self._key: str | None = None
        self._value: list[str] = []
        self._piece: list[str] = []
        self._writer: JsonWriter | None = None

    @property
    def reasoning(self) -> str:
        """What the model thought before it answered."""
        return "\n".join(filter(None, map(str.strip, self._reasoning)))

    def feed(self, chunk: str) -> list[Piece]:
        """Reads on.

        Returns:
            What grew, in order: at most one piece a value, and only the last may be of a value that has not ended.
        """
        if self.done or self.problem is not None:
            return []
        text, self._held = self._held + chunk, ""
        pieces: list[Piece] = []
        at = 0
        while at < len(text) and not self.done and self.problem is None:
            at = self._search(text, at) if self._stream is None else self._read(text, at, pieces)
        if self._piece and self._key is not None:
            pieces.append(Piece(self._key, self._drain_piece()))
        return pieces

    def close(self) -> list[Piece]:
        """The text is over; `problem` is final from now on. Nothing grows any more: the list is empty."""
        if self.done or self.problem is not None:
            return []
        self._prose.append(self._held)
        if self._in_response:
            where = f'before its "{RESPONSE}" is closed' if self._key is None else f'inside "{self._key[:80]}"'
            self.problem = f"it ends {where}"
        elif self._answered:
            self.problem = 'it ends before its last "}"'
        elif self._fault is not None:
            self.problem = self._fault
        elif self._thinking:
            self.problem = f"it ends inside its {_THINK} block"
            self._reasoning.append("".join(self._prose))
        elif self._stream is not None:
            self.problem = f'it ends before the key "{RESPONSE}"'
        elif "".join(self._prose).strip() or self._tries:
            self.problem = _NO_OBJECT
        else:
            self.problem = f"it is reasoning only, and {_NO_OBJECT}" if self.reasoning else "it is empty"
        return []

    def _search(self, text: str, at: int) -> int:
        landmark = _LANDMARK.search(text, at)
        while self._thinking and landmark is not None and landmark[0] != _THINK_END:
            landmark = _LANDMARK.search(text, landmark.end())
        if landmark is None:
            partial = _PARTIAL_TAG.search(text, max(at, len(text) - len(_THINK_END)))
            end = len(text) if partial is None else partial.start()
            self._held = text[end:]
            self._skip(text[at:end])
            return len(text)
        self._skip(text[at : landmark.start()])
        if landmark[0] == "{":
            self._stream = JsonStream(skip_after_root=True)
            return landmark.start()
        if landmark[0] == _THINK_END:
            self._reasoning.append("".join(self._prose))
        self._thinking = landmark[0] == _THINK
        self._prose.clear()
        self._last_char = ""
        return landmark.end()

    def _skip(self, prose: str) -> None:
        self._prose.append(prose)
        self._last_char = prose.rstrip()[-1:] or self._last_char

    def _read(self, text: str, at: int, pieces: list[Piece]) -> int:
        stream = self._stream
        assert stream is not None
        events, end = stream.feed(text, at)
        for event in events:
            self._take(event, pieces)
            if self.problem is not None:
                return len(text)
        if stream.problem is not None:
            self._fail(stream.problem)
        elif stream.done and self._answered:
            self.done = True
        elif stream.done:
            self._give_up()
        return end

    def _fail(self, problem: str) -> None:
        if self._in_response or self._answered:
            where = "" if self._key is None else f' in "{self._key[:80]}"'
            self.problem = f"it is no valid JSON{where}: {problem}"
            return
        # An opening brace in prose is no fault worth telling; an object with a key that broke is.
        if self._root_key is not None and self._fault is None:
            self._fault = f"it is no valid JSON: {problem}"
        self._give_up()

    def _give_up(self) -> None:
        self._tries += 1
        if self._tries == _MAX_TRIES:
            self.problem = _NO_OBJECT
        self._last_char = "}"
        self._begin_search()

    def _take(self, event: JsonEvent, pieces: list[Piece]) -> None:
        kind = event.kind
        if kind is Kind.CLOSE:
            self._depth -= 1
        if self._in_response:
            self._take_answer(event, pieces)
        elif self._answered:
            pass
        elif self._depth == 1 and kind is Kind.KEY:
            self._root_key = event.text
            if event.text == RESPONSE and self._last_char == "[":
                self.problem = f'it is a list; it must be one JSON object with the key "{RESPONSE}"'
        elif self._depth == 1 and self._root_key == RESPONSE:
            if kind is Kind.OPEN and event.text == "{":
                self._in_response = True
            else:
                self.problem = f'its "{RESPONSE}" is no JSON object'
        if kind is Kind.OPEN:
            self._depth += 1

    def _take_answer(self, event: JsonEvent, pieces: list[Piece]) -> None:
        kind = event.kind
        if self._writer is not None or kind is Kind.OPEN:
            self._take_nested(event, pieces)
        elif kind is Kind.KEY:
            self._key = event.text
        elif kind is Kind.TEXT:
            self._value.append(event.text)
            self._piece.append(event.text)
        elif kind is Kind.END:
            self._end_value(pieces)
        elif kind is Kind.SCALAR:
            self._end_value(pieces, "" if event.text == "null" else event.text)
        else:
            self._in_response, self._answered = False, True

    def _take_nested(self, event: JsonEvent, pieces: list[Piece]) -> None:
        if self._writer is None:
            self._writer = JsonWriter()
        self._writer.write(event)
        if event.kind is Kind.CLOSE and self._depth == 2:
            text, self._writer = self._writer.text, None
            self._end_value(pieces, text)

    def _end_value(self, pieces: list[Piece], text: str = "") -> None:
        assert self._key is not None
        if text:
            self._value.append(text)
            self._piece.append(text)
        pieces.append(Piece(self._key, self._drain_piece(), "".join(self._value)))
        self._value.clear()
        self._key = None

    def _drain_piece(self) -> str:
        text = "".join(self._piece)
        self._piece.clear()
        return text
