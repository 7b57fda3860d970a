"""Lines beneath HTTP: what arrives is read whole and in order, and whatever goes wrong is the transport's own error."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import httpcore2
import httpx2
import pytest
import trustme

from roles_runtime.llm.http_lines import MAX_KEPT_BYTES, Line, Lines, on_lines

pytestmark = pytest.mark.anyio

AUTHORITY = trustme.CA()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def served(serve: Serve, *, secret: bool = False) -> AsyncIterator[str]:
    """A server that does this with each line; its address."""
    context = None
    if secret:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"{'https' if secret else 'http'}://127.0.0.1:{port}/"


def client(timeout_s: float = 5.0, verify: ssl.SSLContext | bool = True) -> httpx2.AsyncClient:
    made = on_lines(httpx2.AsyncClient(timeout=timeout_s, verify=verify, trust_env=False))
    assert isinstance(made._transport, httpx2.AsyncHTTPTransport)
    assert isinstance(made._transport._pool._network_backend, Lines)
    return made


def telling(body: bytes, *, times: int = 1000) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(times):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(HEAD % len(body) + body)
            await writer.drain()

    return serve


@pytest.mark.parametrize("secret", [False, True])
@pytest.mark.parametrize("size", [0, 5, 4 * MAX_KEPT_BYTES])
async def test_an_answer_of_any_length_is_read_whole_and_its_line_serves_again(secret: bool, size: int) -> None:
    body = bytes(n * 7 % 251 for n in range(size))
    trusted = ssl.create_default_context()
    AUTHORITY.configure_trust(trusted)
    async with served(telling(body), secret=secret) as url, client(verify=trusted) as asking:
        for _ in range(3):
            async with asking.stream("POST", url, content=b"x" * 1000) as answer:
                await anyio.sleep(0.01)  # what comes meanwhile is kept, up to a bound
                assert await answer.aread() == body


async def test_pieces_are_read_when_they_come() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD % 4)
        for piece in (b"ab", b"cd"):
            writer.write(piece)
            await go_on.wait()
            go_on.clear()

    go_on = asyncio.Event()
    seen = b""
    async with served(serve) as url, client() as asking, asking.stream("GET", url) as answer:
        async for piece in answer.aiter_raw():
            seen += piece
            go_on.set()
    assert seen == b"abcd"


async def test_who_says_nothing_is_not_waited_for_longer_than_asked() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with served(serve) as url, client(0.05) as asking:
        with pytest.raises(httpx2.ReadTimeout):
            await asking.get(url)


async def test_who_reads_nothing_is_not_written_to_longer_than_asked() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with served(serve) as url, client(0.05) as asking:
        with pytest.raises(httpx2.WriteTimeout):
            await asking.post(url, content=b"x" * (32 << 20))


async def test_a_line_that_was_cut_says_so() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD % 100 + b"half")
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.transport.abort()

    async with served(serve) as url, client() as asking:
        with pytest.raises(httpx2.RemoteProtocolError, match="closed"):
            await asking.get(url)


async def test_a_line_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    async with served(telling(b"once", times=1)) as url, client() as asking:
        for _ in range(3):
            assert (await asking.get(url)).content == b"once"
            await anyio.sleep(0.01)


async def test_nobody_at_the_address_and_a_certificate_that_nobody_trusts_are_no_connection() -> None:
    async with served(telling(b""), secret=True) as url, client() as asking:
        with pytest.raises(httpx2.ConnectError):
            await asking.get(url)
    async with client() as asking:
        with pytest.raises(httpx2.ConnectError):
            await asking.get(url)


async def test_a_read_that_was_cancelled_loses_nothing() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        writer.write(b"later")
        await reader.read()

    async with served(serve) as url:
        line = await Lines().connect_tcp("127.0.0.1", httpx2.URL(url).port or 0)
        assert isinstance(line, Line)
        with anyio.move_on_after(0.01):
            await line.read(10)
        assert not line.get_extra_info("is_readable")
        await line.write(b"x", timeout=5)
        assert await line.read(3, timeout=5) + await line.read(10, timeout=5) == b"later"
        await line.aclose()
        with pytest.raises(httpcore2.WriteError):
            await line.write(b"x")


def test_a_client_that_is_built_otherwise_is_left_as_it_is() -> None:
    asking = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda request: httpx2.Response(200)))
    assert on_lines(asking) is asking
