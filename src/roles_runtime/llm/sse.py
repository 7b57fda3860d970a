"""Server-sent events and lines of JSON out of bytes, however these are cut. Sans-I/O.

Source: the WHATWG HTML standard, section 9.2.6 (interpreting an event stream).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

MAX_EVENT_BYTES = 32 << 20
"""An event above it is refused: no provider sends one, and a peer gone mad must not fill the memory."""


class TooLongError(ValueError):
    """A line or an event is longer than anybody sends."""


class ServerSentEvent(msgspec.Struct, frozen=True):
    """One event.

    Attributes:
        event: Its name; ``message`` where it has none.
        data: Its lines, joined by newlines, as UTF-8.
    """

    event: str
    data: bytes


class LineDecoder:
    """Cuts bytes into lines. A line ends with LF, CRLF or CR; what stands behind the last end waits."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._skip_lf = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that these bytes complete, without their ends.

        Raises:
            TooLongError: a line grows beyond all measure.
        """
        if self._skip_lf and data:
            data = data.removeprefix(b"\n")
            self._skip_lf = False
        self._rest += data
        if len(self._rest) > MAX_EVENT_BYTES:
            raise TooLongError(f"a line of more than {MAX_EVENT_BYTES:,} bytes")
        # Nothing but what is new can hold an end.
        if b"\n" not in data and b"\r" not in data:
            return
        # A CR at the very end may be half of a CRLF.
        self._skip_lf = data.endswith(b"\r")
        *lines, rest = bytes(self._rest).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = bytearray(rest)
        yield from lines

    def close(self) -> Iterator[bytes]:
        """What stands behind the last end, if anything."""
        if self._rest:
            yield bytes(self._rest)
            self._rest.clear()


class EventDecoder:
    """Cuts bytes into server-sent events. An event that no empty line ended is none, as the standard has it."""

    def __init__(self) -> None:
        self._lines = LineDecoder()
        self._event = ""
        self._data: list[bytes] = []
        self._size = 0
        self._begun = False

    def feed(self, data: bytes) -> Iterator[ServerSentEvent]:
        """The events that these bytes complete.

        Raises:
            TooLongError: an event grows beyond all measure.
        """
        for line in self._lines.feed(data):
            if not self._begun:
                line, self._begun = line.removeprefix(b"\xef\xbb\xbf"), True
            event = self._take(line)
            if event is not None:
                yield event

    def _take(self, line: bytes) -> ServerSentEvent | None:
        if not line:
            event = ServerSentEvent(self._event or "message", b"\n".join(self._data)) if self._data else None
            self._event, self._data, self._size = "", [], 0
            return event
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._size += len(value) + 1
            if self._size > MAX_EVENT_BYTES:
                raise TooLongError(f"an event of more than {MAX_EVENT_BYTES:,} bytes")
            self._data.append(value)
        elif field == b"event":
            self._event = value.decode(errors="replace")
        return None
