"""The lines beneath the HTTP transport, by the event loop's own protocols.

The transport's own lines open a cancel scope for each read and tell the selector twice: with some hundred streams of
tokens that is a third of a core, and the loop is late for everybody else. Here what has arrived is kept, and a read
that must wait costs a future and a timer.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import Iterable
from typing import Any, TypeVar

import httpcore2
import httpx2

MAX_KEPT_BYTES = 256 << 10
"""How much may have arrived and not been read; then the other side waits."""

HAPPY_EYEBALLS_S = 0.25
"""How long one of a host's addresses may take before the next is tried beside it."""

C = TypeVar("C", bound=httpx2.AsyncClient)


def on_lines(client: C) -> C:
    """The client, with lines of ours beneath it where it reaches hosts directly; through a proxy it keeps its own.

    Where the transport is built otherwise than is known here, it keeps them too.
    """
    pool = getattr(getattr(client, "_transport", None), "_pool", None)
    if type(pool) is httpcore2.AsyncConnectionPool and hasattr(pool, "_network_backend"):
        pool._network_backend = Lines()
    return client


class Lines(httpcore2.AsyncNetworkBackend):
    """Makes them. See `httpcore2.AsyncNetworkBackend`."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connects to a host."""
        local = None if local_address is None else (local_address, 0)
        try:
            async with asyncio.timeout(timeout):
                transport, line = await asyncio.get_running_loop().create_connection(
                    Line, host, port, local_addr=local, happy_eyeballs_delay=HAPPY_EYEBALLS_S
                )
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        for option in socket_options or ():
            transport.get_extra_info("socket").setsockopt(*option)
        return line

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await asyncio.sleep(seconds)


class Line(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """One of them: both ends of what the loop brings and the transport reads. One task reads, and one writes."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._kept = bytearray()
        self._is_held = False
        self._is_ended = False
        self._error: Exception | None = None
        self._reading: asyncio.Future[None] | None = None
        self._writing: asyncio.Future[None] | None = None
        self._is_full = False

    # --- what the loop calls ---------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """There is a line."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Keeps it."""
        self._kept += data
        if len(self._kept) > MAX_KEPT_BYTES and not self._is_held:
            self._is_held = True
            self._transport.pause_reading()
        _wake(self._reading)

    def eof_received(self) -> None:
        """The other side has said all."""
        self._is_ended = True
        _wake(self._reading)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing comes or goes any more."""
        self._is_ended, self._error = True, exc
        _wake(self._reading)
        _wake(self._writing)

    def pause_writing(self) -> None:
        """More waits to be sent than should."""
        self._is_full = True

    def resume_writing(self) -> None:
        """It was sent."""
        self._is_full = False
        _wake(self._writing)

    # --- what the transport calls ----------------------------------------------------------------------------

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has arrived, or else what arrives next; nothing at the end."""
        if not self._kept and not self._is_ended:
            self._reading = self._loop.create_future()
            try:
                await _bounded(self._reading, timeout, httpcore2.ReadTimeout)
            finally:
                self._reading = None
        if not self._kept and self._error is not None:
            raise httpcore2.ReadError(str(self._error)) from self._error
        data = bytes(self._kept[:max_bytes])
        del self._kept[:max_bytes]
        if self._is_held and not self._kept:
            self._is_held = False
            self._transport.resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends it; waits while too much of it has not gone out."""
        if buffer:
            self._transport.write(buffer)
        if self._is_full and not self._transport.is_closing():
            self._writing = self._loop.create_future()
            try:
                await _bounded(self._writing, timeout, httpcore2.WriteTimeout)
            finally:
                self._writing = None
        if self._transport.is_closing():
            raise httpcore2.WriteError(str(self._error or "the line is closed")) from self._error

    async def aclose(self) -> None:
        """Lets what was written go out if it can at once, and hangs up."""
        self._transport.close()
        await asyncio.sleep(0)
        self._transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """Goes on by TLS; the line is the same."""
        try:
            async with asyncio.timeout(timeout):
                made = await self._loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname)
        except BaseException as error:
            self._transport.abort()
            if isinstance(error, TimeoutError):
                raise httpcore2.ConnectTimeout(str(error)) from error
            if isinstance(error, OSError):  # an SSLError is one
                raise httpcore2.ConnectError(str(error)) from error
            raise
        if made is None:
            raise httpcore2.ConnectError("the line was cut during the TLS handshake")
        self._transport = made
        return self

    def get_extra_info(self, info: str) -> Any:
        """See `httpcore2.AsyncNetworkStream`."""
        match info:
            case "is_readable":
                return self._is_ended or bool(self._kept) or _is_readable(self._transport.get_extra_info("socket"))
            case "client_addr":
                return self._transport.get_extra_info("sockname")
            case "server_addr":
                return self._transport.get_extra_info("peername")
            case "socket" | "ssl_object":
                return self._transport.get_extra_info(info)
        return None


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


async def _bounded(waiting: asyncio.Future[None], timeout: float | None, late: type[Exception]) -> None:
    if timeout is None:
        await waiting
        return
    timer = asyncio.get_running_loop().call_later(timeout, _fail, waiting, late)
    try:
        await waiting
    finally:
        timer.cancel()


def _fail(waiting: asyncio.Future[None], late: type[Exception]) -> None:
    if not waiting.done():
        waiting.set_exception(late())


def _is_readable(socket: Any) -> bool:
    """Whether something has arrived that the loop has not seen yet: of an idle line, most likely its end."""
    if socket is None or (number := socket.fileno()) < 0:
        return True
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))
