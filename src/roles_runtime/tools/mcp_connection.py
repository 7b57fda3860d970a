"""One open session with an MCP server, by the official SDK. Imported only where a server is opened."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from typing import TextIO, TypeAlias

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, CallToolResult, Implementation, Tool

from roles_runtime.errors import ToolFailedError, ToolSourceError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.tools.result import words_of

CLOSE_TIMEOUT_S = 10.0
"""How long a server is waited for at its end; the SDK kills it well before."""

PROBE_TIMEOUT_S = 5.0
"""How long a server that may be gone is given to show that it is not."""

DRAIN_TIMEOUT_S = 0.5
"""How long the last lines of a server that has ended are waited for."""

MAX_TOOLS = 1000
"""More of one server are not looked at."""

_LINE_BYTES = 2000
_PIECE_BYTES = 1 << 16

log = logging.getLogger(__name__)

# The SDK prints a traceback for each line that is no message; that is a log's to keep, and no terminal's.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())

Transport: TypeAlias = AbstractAsyncContextManager[TransportStreams]
"""How a server is reached; entered once."""


class Connection:
    """A session in a task of its own, since what anyio opens must be closed by the task that opened it.

    Attributes:
        listed: The server's tools.
        is_lost: Whether nothing can be called by it any more.
    """

    def __init__(self, server: str, where: str, transport: Transport, last_words: deque[str]) -> None:
        """Takes the server's name, what it is for a reader, how it is reached, and where its last words are kept."""
        self._server, self._where, self._transport, self._last_words = server, where, transport, last_words
        self._settled, self._leave = anyio.Event(), anyio.Event()
        self._client: Client | None = None
        self._failure: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self.listed: list[Tool] = []
        self.is_lost = False

    async def open(self, context: Context, timeout_s: float) -> None:
        """Starts the server, or reaches it, and asks for its tools.

        Raises:
            ToolSourceError: it did not start, or not in time; nothing is left of it.
        """
        self._task = asyncio.get_running_loop().create_task(self._serve(), context=context.copy())
        try:
            with anyio.move_on_after(timeout_s):
                await self._settled.wait()
        finally:
            if self._client is None:
                await self.close()
        if self._client is not None:
            return
        problem = f"it did not answer within {timeout_s:g} s" if self._failure is None else _words(self._failure)
        said = "".join(f"\n  {line}" for line in self._last_words)
        raise ToolSourceError(
            self._where, f"it can not be started: {problem}." + (f" Its last words were:{said}" if said else "")
        ) from self._failure

    async def close(self) -> None:
        """Ends the session, and a server that was started for it; a bound keeps it from waiting for ever."""
        self.is_lost = True
        self._leave.set()
        task = self._task
        if task is None:
            return
        with anyio.CancelScope(shield=True):
            if not self._settled.is_set():
                task.cancel()
            await asyncio.wait([task], timeout=CLOSE_TIMEOUT_S)
            if not task.done():
                task.cancel()
                log.warning("MCP server %s did not end and is abandoned", self._server)

    async def call(self, tool: str, arguments: JsonObject) -> CallToolResult:
        """Calls a tool.

        Raises:
            ToolFailedError: the server refuses the call, or ended before it answered.
        """
        if self._client is None or self.is_lost:
            raise ToolFailedError(f"The MCP server {self._server} is not running.")
        try:
            return await self._client.call_tool(tool, arguments)
        except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            self.is_lost = self.is_lost or (_may_be_gone(error) and not await self._answers())
            if not self.is_lost:
                raise ToolFailedError(f"The MCP server {self._server} refused the call: {_words(error)}") from error
            raise ToolFailedError(
                f"The MCP server {self._server} ended before it answered; the next call starts it anew."
            ) from error

    async def _answers(self) -> bool:
        assert self._client is not None
        try:
            with anyio.fail_after(PROBE_TIMEOUT_S):
                await self._client.session.list_tools()
        except (MCPError, TimeoutError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True

    async def _serve(self) -> None:
        try:
            # No callbacks: the SDK then offers no sampling, no roots and no elicitation, and refuses all three.
            async with Client(self._transport, client_info=Implementation(name="roles-runtime", version="1")) as client:
                self.listed = await _list(client)
                self._client = client
                self._settled.set()
                await self._leave.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a group of whatever the SDK's own tasks raised
            self._failure = error
            if self._client is not None and not self._leave.is_set():
                log.warning("MCP server %s was lost: %s", self._server, _words(error))
        finally:
            self.is_lost = True
            self._settled.set()


@asynccontextmanager
async def started(
    server: str, command: Sequence[str], environment: Mapping[str, str], cwd: str | None, last_words: deque[str]
) -> AsyncGenerator[TransportStreams, None]:
    """Starts a server as a process; gives the streams to it. What it writes on stderr goes to the log, line by line."""
    parameters = StdioServerParameters(command=command[0], args=[*command[1:]], env=dict(environment), cwd=cwd)
    async with _logged(server, last_words) as complaints, stdio_client(parameters, complaints) as streams:
        # The server has its own copy; with ours open, its end would not be seen.
        complaints.close()
        yield streams


@asynccontextmanager
async def reached(url: str, headers: Mapping[str, str]) -> AsyncGenerator[TransportStreams, None]:
    """Reaches a server by streamable HTTP; gives the streams to it."""
    timeout = httpx2.Timeout(30.0, read=300.0)
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _logged(server: str, last_words: deque[str]) -> AsyncGenerator[TextIO, None]:
    """A file for a process to write to, whose lines are logged."""
    reading, writing = os.pipe()
    reader = asyncio.StreamReader()
    with os.fdopen(reading, "rb", buffering=0) as source, os.fdopen(writing, "w", encoding="utf-8") as written:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), source
        )
        try:
            async with anyio.create_task_group() as group:
                read = anyio.Event()
                group.start_soon(_log_lines, server, reader, last_words, read)
                try:
                    yield written
                finally:
                    # What was written is read to its end, unless a child of the server holds the other side open.
                    written.close()
                    with anyio.move_on_after(DRAIN_TIMEOUT_S, shield=True):
                        await read.wait()
                    group.cancel_scope.cancel()
        finally:
            transport.close()


async def _log_lines(server: str, reader: asyncio.StreamReader, last_words: deque[str], read: anyio.Event) -> None:
    rest = b""
    while piece := await reader.read(_PIECE_BYTES):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _LINE_BYTES:
            lines, rest = [*lines, rest], b""
        for line in lines:
            _log_line(server, line, last_words)
    _log_line(server, rest, last_words)
    read.set()


def _log_line(server: str, line: bytes, last_words: deque[str]) -> None:
    text = "".join(each if each.isprintable() else " " for each in line[:_LINE_BYTES].decode("utf-8", "replace"))
    if text := text.strip():
        last_words.append(text)
        log.info("MCP server %s says: %s", server, text)


async def _list(client: Client) -> list[Tool]:
    tools: list[Tool] = []
    cursor: str | None = None
    while len(tools) < MAX_TOOLS:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor or not page.tools:
            break
    return tools[:MAX_TOOLS]


def _may_be_gone(error: Exception) -> bool:
    # A server that lives may use the same code for an error of its own.
    return not isinstance(error, MCPError) or error.code in (CONNECTION_CLOSED, INVALID_REQUEST)


def _words(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error) if isinstance(error, MCPError) else words_of(error)
