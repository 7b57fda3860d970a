"""The MCP servers that a team file describes, and what of them each role is handed."""

from __future__ import annotations

from collections.abc import Mapping

from roles_runtime.apps.config import Config, Key, suggestion
from roles_runtime.apps.sections import McpSettings
from roles_runtime.errors import ToolDefinitionError
from roles_runtime.tools.mcp import McpServer
from roles_runtime.tools.source import Handed

ALL = "*"
"""What a role says for all tools of a server."""


def make_servers(config: Config) -> dict[str, McpServer]:
    """The servers by name, none of them started.

    Raises:
        ConfigError: one can not be as it is described.
    """
    return {name: _make(config, name, settings) for name, settings in config.settings.mcp.items()}


def handed(
    config: Config, here: Key, wanted: Mapping[str, list[str]], servers: Mapping[str, McpServer]
) -> list[Handed]:
    """What a role that says ``mcp = { files = ["read_file"] }`` is handed.

    Raises:
        ConfigError: there is no server of that name, or none of its tools is wanted.
    """
    found: list[Handed] = []
    for name, tools in wanted.items():
        if name not in servers:
            known = suggestion(name, tuple(servers)) if servers else "there is none."
            raise config.wrong((*here, name), f"there is no server [mcp.{name}]; {known}")
        if not tools:
            raise config.wrong((*here, name), f'name the tools that the role may call, or ["{ALL}"] for all.')
        found.append(servers[name] if ALL in tools else servers[name].only(*dict.fromkeys(tools)))
    return found


def _make(config: Config, name: str, settings: McpSettings) -> McpServer:
    here: Key = ("mcp", name)
    if settings.missing:
        raise config.wrong(here, f"the environment has no {settings.missing[0]!r}, which the server shall be given.")
    try:
        return McpServer(
            name,
            command=settings.command,
            env=settings.whole_env,
            cwd=settings.cwd,
            url=settings.url,
            headers=settings.whole_headers,
            allow=settings.allow,
            timeout_s=settings.timeout_s,
        )
    except ToolDefinitionError as error:
        raise config.wrong(here, str(error)) from error
