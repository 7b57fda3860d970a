"""MCP servers as tools: a process of one's own over stdio, or one over streamable HTTP. Needs the extra ``[mcp]``."""

from __future__ import annotations

import contextvars
import hashlib
import logging
import re
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import anyio

from roles_runtime.errors import ToolDefinitionError, ToolFailedError, ToolSourceError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import ToolSpec
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import Told
from roles_runtime.tools.source import ToolSource
from roles_runtime.tools.tool import DEFAULT_TIMEOUT_S, Tool

if TYPE_CHECKING:
    import mcp_types

    from roles_runtime.tools.mcp_connection import Connection

START_TIMEOUT_S = 30.0
"""How long a server may take until its tools are known."""

MAX_NAME_CHARS = 64
"""What every provider takes as a tool's name."""

MAX_DESCRIPTION_CHARS = 4000
"""What a model is told of one tool."""

_SERVER = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9-]){0,31}")
_LAST_WORDS = 5


log = logging.getLogger(__name__)


class McpServer(ToolSource):
    """A server of the Model Context Protocol. Its tools are named ``server__tool``.

    The server gets nothing of this process: of its environment only ``PATH``, ``HOME``, ``USER``, ``LOGNAME``,
    ``SHELL`` and ``TERM``, which the SDK hands to every server, and what ``env`` says. It may not ask for the model
    (sampling), for folders (roots) or for the user (elicitation). It runs outside the sandbox, with the user's rights.

    A call during which the server ends is an error result; the next call starts the server anew, once.
    """

    def __init__(
        self,
        name: str,
        *,
        command: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
        allow: Sequence[str] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        """Describes a server; nothing is started yet.

        Args:
            name: Stands before the names of its tools: up to 32 ASCII letters, digits, ``-``, single ``_``.
            command: The program and its arguments, for a server that is started here.
            env: What its environment holds beside the above.
            cwd: The folder that it is started in.
            url: Where it is reached, for one that runs already.
            headers: Sent with each request to it.
            allow: Which of its tools there are at all, by its own names for them; all, where left out.
            timeout_s: How long a call may take.
            start_timeout_s: How long it may take until it has told its tools.

        Raises:
            ToolDefinitionError: the name is none, or there is not one of command and url.
        """
        if not _SERVER.fullmatch(name):
            raise ToolDefinitionError(
                f"{name!r} can not be an MCP server's name: up to 32 ASCII letters, digits, - or single _, a letter "
                "first."
            )
        if isinstance(command, str) or bool(command) == bool(url):
            raise ToolDefinitionError(
                f"MCP server {name}: give it either a command=[program, argument, …] or a url='https://…'."
            )
        if url and urlsplit(url).scheme not in ("http", "https"):
            raise ToolDefinitionError(f"MCP server {name}: its url must begin with http:// or https://.")
        self.name = name
        self._command, self._env, self._cwd = tuple(command), dict(env or {}), None if cwd is None else str(cwd)
        self._url, self._headers = url or "", dict(headers or {})
        self._allow = None if allow is None else tuple(allow)
        self._timeout_s, self._start_timeout_s = timeout_s, start_timeout_s
        self._tools: Mapping[str, Tool] = MappingProxyType({})
        self._connection: Connection | None = None

    def __repr__(self) -> str:
        return f"McpServer({self.name!r})"  # its environment and its headers may hold keys

    @property
    def where(self) -> str:
        """What it is, for a reader: its name and its command, or its address without what may be secret in it."""
        if self._command:
            return f"MCP server {self.name} ({' '.join(self._command)[:200]})"
        address = urlsplit(self._url)
        return f"MCP server {self.name} ({address.scheme}://{address.netloc.rpartition('@')[2]}{address.path})"

    async def __aenter__(self) -> Self:
        """Starts the server, or reaches it, and reads what tools it has.

        Raises:
            ToolSourceError: it does not start; it is open already; or the extra ``[mcp]`` is missing.
            ToolDefinitionError: it has not the tools that are allowed, or two that can not be told apart.
        """
        if self._connection is not None:
            raise ToolSourceError(self.where, "it is open already; describe one McpServer for each Runtime.")
        self._context, self._opening = contextvars.copy_context(), anyio.Lock()
        connection = await self._connect()
        try:
            self._tools = MappingProxyType(self._made(connection.listed))
        except BaseException:
            await connection.close()
            raise
        self._connection = connection
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection, self._connection = self._connection, None
        self._tools = MappingProxyType({})
        if connection is not None:
            await connection.close()

    def tools(self) -> Mapping[str, Tool]:
        """Its tools by its own names for them; none while it is closed."""
        return self._tools

    async def _connect(self) -> Connection:
        try:
            from roles_runtime.tools import mcp_connection
        except ImportError as error:
            raise ToolSourceError(self.where, 'it needs an extra: pip install "roles-runtime[mcp]".') from error
        last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        transport = (
            mcp_connection.started(self.name, self._command, self._env, self._cwd, last_words)
            if self._command
            else mcp_connection.reached(self._url, self._headers)
        )
        connection = mcp_connection.Connection(self.name, self.where, transport, last_words)
        await connection.open(self._context, self._start_timeout_s)
        return connection

    async def _living(self) -> Connection:
        async with self._opening:
            connection = self._connection
            if connection is None:
                raise ToolFailedError(f"The MCP server {self.name} is closed.")
            if not connection.is_lost:
                return connection
            await connection.close()
            try:
                anew = await self._connect()
            except ToolSourceError as error:
                # Its command and its last words are for the user, and not for a model.
                log.warning("%s", error)
                raise ToolFailedError(f"The MCP server {self.name} ended, and can not be started anew.") from error
            if self._connection is None:  # closed meanwhile
                await anew.close()
                raise ToolFailedError(f"The MCP server {self.name} is closed.")
            self._connection = anew
            return anew

    async def _call(self, tool: str, arguments: JsonObject, caller: Caller) -> Told:
        from roles_runtime.tools.mcp_content import told

        connection = await self._living()
        return told(await connection.call(tool, arguments))

    def _made(self, listed: Sequence[mcp_types.Tool]) -> dict[str, Tool]:
        there = {each.name: each for each in listed}
        wanted = tuple(there) if self._allow is None else self._allow
        tools: dict[str, Tool] = {}
        taken: dict[str, str] = {}
        for name in dict.fromkeys(wanted):
            if name not in there:
                known = ", ".join(there) or "none"
                raise ToolDefinitionError(f"{self.where} has no tool {name!r} to allow; it has {known}.")
            called = tool_name(self.name, name)
            if called in taken:
                raise ToolDefinitionError(
                    f"{self.where}: its tools {taken[called]!r} and {name!r} would both be named {called}; "
                    "allow only one of them."
                )
            taken[called] = name
            each = there[name]
            spec = ToolSpec(called, (each.description or each.title or "")[:MAX_DESCRIPTION_CHARS], each.input_schema)
            tools[name] = Tool(spec, partial(self._call, name), timeout_s=self._timeout_s)
        return tools


def tool_name(server: str, tool: str) -> str:
    """``server__tool`` in the letters and the length that every provider takes; a cut name ends in a hash of it all."""
    name = f"{server}__{re.sub(r'[^A-Za-z0-9_-]', '_', tool)}"
    if len(name) <= MAX_NAME_CHARS:
        return name
    digest = hashlib.sha256(tool.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[: MAX_NAME_CHARS - 9]}_{digest}"
