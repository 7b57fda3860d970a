"""ZeroMQ's wire protocol, version 3.0, as far as one side of one ipc connection needs it. Pure: bytes in, frames out.

The library of that name counts whole messages, so that a peer which never ends one fills the memory of whoever
listens. The peer here is code that nobody trusts; this reader takes no more than it was told to.
"""

from __future__ import annotations

from collections.abc import Sequence

from roles_runtime.errors import KernelError

MAX_FRAMES = 32
"""Frames of one message; Jupyter's have about ten."""

_GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_MORE, _LONG, _COMMAND = 1, 2, 4
_SHORT_BYTES = 255


def greeting(kind: str) -> bytes:
    """What one says first; messages follow when the peer has said the same (`Messages.greeted`).

    Args:
        kind: The type of our socket, such as ``DEALER``.
    """
    name = kind.encode("ascii")
    return _GREETING + _frame(_COMMAND, b"\x05READY" + b"\x0bSocket-Type" + len(name).to_bytes(4, "big") + name)


def subscription() -> bytes:
    """What a ``SUB`` says next: that it takes all topics."""
    return message([b"\x01"])


def message(frames: Sequence[bytes]) -> bytes:
    """A message as it goes over the wire."""
    last = len(frames) - 1
    return b"".join(_frame(_MORE if at < last else 0, frame) for at, frame in enumerate(frames))


class Messages:
    """Finds the messages in what a peer sends.

    Args:
        max_bytes: Of all frames of one message; one that is longer is refused before it was taken in.

    Attributes:
        greeted: Whether the peer has greeted.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._frames: list[bytes] = []
        self._taken = 0
        self._signed = False
        self.greeted = False

    def feed(self, data: bytes) -> None:
        """Takes in some bytes; how they are cut means nothing."""
        self._buffer += data

    def next(self) -> list[bytes] | None:
        """The next message's frames, or None until more was fed.

        Raises:
            KernelError: a message has too many frames or bytes, or it is another protocol.
        """
        if not self._signed and not self._check_signature():
            return None
        while (found := self._next_frame()) is not None:
            flags, body = found
            if flags & _COMMAND:
                self.greeted = True
                continue
            self._frames.append(body)
            if not flags & _MORE:
                frames, self._frames, self._taken = self._frames, [], 0
                return frames
        return None

    def _check_signature(self) -> bool:
        head = bytes(self._buffer[:11])
        if head[:1] not in (b"", b"\xff") or (len(head) == 11 and (head[9] != 0x7F or head[10] < 3)):
            raise KernelError("It speaks another protocol than ZMTP 3.")
        if len(self._buffer) < len(_GREETING):
            return False
        del self._buffer[: len(_GREETING)]
        self._signed = True
        return True

    def _next_frame(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if not buffer:
            return None
        flags = buffer[0]
        start = 9 if flags & _LONG else 2
        if len(buffer) < start:
            return None
        size = int.from_bytes(buffer[1:start], "big")
        if self._taken + size > self._max_bytes or len(self._frames) >= MAX_FRAMES:
            raise KernelError(f"It sent a message of more than {self._max_bytes >> 20} MiB or {MAX_FRAMES} frames.")
        if len(buffer) < start + size:
            return None
        body = bytes(buffer[start : start + size])
        del buffer[: start + size]
        if not flags & _COMMAND:
            self._taken += size
        return flags, body


def _frame(flags: int, body: bytes) -> bytes:
    if len(body) <= _SHORT_BYTES:
        return bytes((flags, len(body))) + body
    return bytes((flags | _LONG,)) + len(body).to_bytes(8, "big") + body
