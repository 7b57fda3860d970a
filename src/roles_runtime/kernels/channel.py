"""How the runtime speaks with a kernel: Jupyter's messages as JSON over ipc sockets, each capped."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import anyio

from roles_runtime.errors import KernelError, KernelUnavailableError
from roles_runtime.kernels.jupyter import Message, Wire
from roles_runtime.kernels.zmtp import Messages, greeting, message, subscription

MAX_MESSAGE_BYTES = 16 << 20
_READ_BYTES = 1 << 18
_POLL_S = 0.005
SHELL, IOPUB, CONTROL = 1, 2, 4
_KINDS = {SHELL: "DEALER", IOPUB: "SUB", CONTROL: "DEALER"}


class ByteStream(Protocol):
    """What a `Line` needs of a socket; the errors are anyio's."""

    async def receive(self, max_bytes: int) -> bytes:
        """What came, at least one byte."""
        ...

    async def send(self, item: bytes) -> None:
        """Sends bytes whole."""
        ...

    async def aclose(self) -> None:
        """Closes it."""
        ...


class Socket:
    """A unix socket by asyncio's streams.

    anyio's own waits for a raw socket with a future that the loop may still resolve in the iteration in which it was
    cancelled, and then the loop complains.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def receive(self, max_bytes: int) -> bytes:
        """What came, at least one byte; it is read no faster than it is taken."""
        try:
            data = await self._reader.read(max_bytes)
        except OSError as error:
            raise anyio.BrokenResourceError from error
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        """Sends bytes whole."""
        try:
            self._writer.write(item)
            await self._writer.drain()
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Closes it at once, whatever is still to be sent."""
        self._writer.transport.abort()
        await asyncio.sleep(0)


class Line:
    """One socket of a kernel. What it says is read no faster than it is taken, and no message can be too large."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._messages = Messages(MAX_MESSAGE_BYTES)
        self._sending = anyio.Lock()

    async def greet(self, kind: str) -> None:
        """Comes to terms with the kernel, which has said nothing else yet."""
        await self.send(greeting(kind))
        while not self._messages.greeted:
            self._messages.feed(await self._stream.receive(_READ_BYTES))
            self._messages.next()
        if kind == "SUB":
            await self.send(subscription())

    async def send(self, data: bytes) -> None:
        """Sends bytes whole, one caller after the other."""
        async with self._sending:
            await self._stream.send(data)

    async def receive(self) -> list[bytes]:
        """The frames of the next message."""
        while (frames := self._messages.next()) is None:
            self._messages.feed(await self._stream.receive(_READ_BYTES))
        return frames

    async def aclose(self) -> None:
        """Closes it."""
        await self._stream.aclose()


class Channel:
    """The sockets of one kernel. It connects once, before any cell runs, and never again.

    A cell can put another socket, or a link to one, in the place of its own; so nobody looks there a second time.
    """

    def __init__(self, address: Path, key: str) -> None:
        self._address = address
        self._wire = Wire(key)
        self._lines: dict[int, Line] = {}

    async def connect(self) -> None:
        """Connects as soon as the kernel listens on all its sockets."""
        for number, kind in _KINDS.items():
            line = self._lines[number] = Line(await _patiently(f"{self._address}-{number}"))
            await line.greet(kind)

    def compose(
        self, kind: str, content: Mapping[str, object], metadata: Mapping[str, str] | None = None
    ) -> tuple[str, list[bytes]]:
        """A request's id, which the answers name as their parent, and its frames."""
        return self._wire.compose(kind, content, metadata)

    async def send(self, number: int, frames: list[bytes]) -> None:
        """Sends a request. Where the kernel closed that socket, whoever listens to it is told."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._lines[number].send(message(frames))

    async def receive(self, number: int) -> Message:
        """The next message on a socket; what is none is dropped.

        Raises:
            KernelError: the kernel closed that socket, or floods it.
        """
        while True:
            try:
                frames = await self._lines[number].receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                raise KernelError("The kernel closed its sockets.") from error
            found = self._wire.read(frames)
            if found is not None:
                return found

    async def aclose(self) -> None:
        """Closes the sockets; closing again changes nothing."""
        lines, self._lines = self._lines, {}
        for line in lines.values():
            await line.aclose()


def check_installed() -> None:
    """Looks for what a kernel runs with, so that its absence is told before anything is started.

    Raises:
        KernelUnavailableError: ipykernel is not installed.
    """
    if find_spec("ipykernel") is None:
        raise KernelUnavailableError(
            "Running code needs roles-runtime[interpreter]; install it (ipykernel is missing)."
        )


async def _patiently(path: str) -> Socket:
    """Connects to a socket that a kernel is about to make."""
    while True:
        try:
            return Socket(*await asyncio.open_unix_connection(path, limit=_READ_BYTES))
        except OSError:
            await anyio.sleep(_POLL_S)
