"""A stream's events, decoded: what the two readers of OpenAI's wires share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from roles_runtime.errors import ModelError, StreamIncompleteError, StreamMalformedError
from roles_runtime.llm.connection import MAX_ERROR_BYTES
from roles_runtime.llm.faults import one_line
from roles_runtime.llm.parts import mend_surrogates
from roles_runtime.llm.providers.openai.complaint import find_complaint
from roles_runtime.llm.sse import EventDecoder, TooLongError

T = TypeVar("T")

DONE = b"[DONE]"


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
            StreamMalformedError: one is no JSON, or is not of that type.
        """
        if not self._has_any and len(self._beginning) < MAX_ERROR_BYTES:
            self._beginning += data
        try:
            for event in self._sse.feed(data):
                self._has_any = True
                yield None if event.data.strip() == DONE else self._decoded(event.data)
        except (msgspec.MsgspecError, TooLongError) as error:
            raise StreamMalformedError(self._name, f"its stream is not of its own format: {error}") from None

    def _decoded(self, data: bytes) -> T:
        try:
            return self._decoder.decode(data)
        except msgspec.DecodeError:
            if b"\\u" not in data:
                raise
        # Half of a surrogate pair, whose other half is in the next event; msgspec refuses it.
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise msgspec.DecodeError(str(error)) from None
        event: T = msgspec.convert(value, self._decoder.type)
        return event

    def ended(self) -> ModelError:
        """The error that stands for a stream that ended before its terminal signal."""
        if self._has_any:
            return StreamIncompleteError(self._name)
        body = bytes(self._beginning).strip()
        if not body:
            return StreamIncompleteError(self._name, "it answered with an empty stream.")
        complaint = find_complaint(body)
        if complaint is not None:
            return complaint.fault(self._name)
        told = one_line(body[:300].decode(errors="replace"))
        return StreamMalformedError(self._name, f"it answered with what is no stream of events: {told}")


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
