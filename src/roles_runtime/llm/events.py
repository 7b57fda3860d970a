"""A stream's events, decoded: what all readers of server-sent events share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import msgspec

from roles_runtime.errors import ModelError, StreamIncompleteError, StreamMalformedError
from roles_runtime.llm.complaint import find_complaint, read_complaint
from roles_runtime.llm.connection import MAX_ERROR_BYTES
from roles_runtime.llm.decoding import decoded
from roles_runtime.llm.faults import one_line
from roles_runtime.llm.parts import mend_surrogates
from roles_runtime.llm.sse import EventDecoder, TooLongError

T = TypeVar("T")

DONE = b"[DONE]"

_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


@contextmanager
def format_of(name: str) -> Iterator[None]:
    """Makes one error of whatever inside the block is not as the model of that name has it.

    Raises:
        StreamMalformedError: something could not be decoded, or is longer than anybody sends.
    """
    try:
        yield
    except (msgspec.MsgspecError, TooLongError) as error:
        raise StreamMalformedError(name, f"its stream is not of its own format: {error}") from None


class Events(Generic[T]):
    """Makes objects of bytes; ``[DONE]`` is None."""

    def __init__(self, name: str, decoder: msgspec.json.Decoder[T]) -> None:
        """Takes the model's name, for errors, and what decodes an event."""
        self._name, self._decoder = name, decoder
        self._sse = EventDecoder()
        self._has_any = False
        self._beginning = bytearray()

    def feed(self, data: bytes) -> Iterator[T | None]:
        """The events that these bytes complete.

        Raises:
            msgspec.DecodeError: one is no JSON, or is not of that type.
            TooLongError: one grows beyond all measure.
        """
        if not self._has_any and len(self._beginning) < MAX_ERROR_BYTES:
            self._beginning += data
        for event in self._sse.feed(data):
            self._has_any = True
            yield None if event.data.strip() == DONE else decoded(self._decoder, event.data)

    def ended(self) -> ModelError:
        """The error that stands for a stream that ended before its terminal signal."""
        if self._has_any:
            return StreamIncompleteError(self._name)
        body = bytes(self._beginning).strip()
        if not body:
            return StreamIncompleteError(self._name, "it answered with an empty stream.")
        if any(body[: len(field)] == field[: len(body)] for field in _FIELDS):
            return StreamIncompleteError(self._name)
        complaint = find_complaint(body)
        if complaint is not None:
            return complaint.fault(self._name)
        return StreamMalformedError(self._name, no_stream(body))


def no_stream(body: bytes) -> str:
    """What is said of an answer that is none of a provider's."""
    _, words = read_complaint(body)
    return f"it answered with what is no stream: {one_line(words, 300).rstrip('.')}. Check the base_url."


class Halves:
    """Joins the halves of surrogate pairs that a server cut apart."""

    def __init__(self) -> None:
        self._half = ""

    def join(self, text: str) -> str:
        """The text, without a half at its end: that one waits for the next."""
        if text.isascii() and not self._half:
            return text
        text = self._half + text
        self._half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return mend_surrogates(text[:-1] if self._half else text)

    def rest(self) -> str:
        """What waits still, as it is shown where the other half never came."""
        half, self._half = self._half, ""
        return "\ufffd" if half else ""
