"""A real MCP server by the official SDK, run as a script: over stdio, or over HTTP where a port is given."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import CallToolResult, EmbeddedResource, ImageContent, ResourceLink, TextContent, TextResourceContents

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)

server = MCPServer("test")


@server.tool()
def add(left: int, right: int = 1) -> int:
    """Adds."""
    return left + right


@server.tool(structured_output=False)
def picture() -> Image:
    """A picture."""
    return Image(data=PNG, format="png")


@server.tool(structured_output=False)
def broken_picture() -> CallToolResult:
    """A picture that is none."""
    return CallToolResult(content=[ImageContent(data="no base64!", mime_type="image/png")])


@server.tool(structured_output=False)
def fail() -> str:
    """Fails."""
    raise ValueError("the shelf is empty")


@server.tool(structured_output=False)
def books() -> CallToolResult:
    """Links, and a text that is in the answer."""
    return CallToolResult(
        content=[
            TextContent(text="Two books."),
            ResourceLink(name="ulysses", uri="file:///ulysses.txt", description="a day in Dublin"),
            EmbeddedResource(resource=TextResourceContents(uri="file:///emma.txt", text="Emma Woodhouse, handsome")),
        ]
    )


@server.tool(structured_output=False)
def environment() -> str:
    """The names of what stands in the environment, and a value."""
    return " ".join(sorted(os.environ)) + " | " + os.environ.get("SHELF", "")


@server.tool(structured_output=False)
def process() -> str:
    """Who it is."""
    return str(os.getpid())


@server.tool(structured_output=False)
def die() -> str:
    """Ends the server."""
    os._exit(3)


@server.tool(structured_output=False)
def sleep() -> str:
    """Takes long."""
    time.sleep(60)
    return "woke up"


@server.tool(structured_output=False)
async def capabilities(context: Context[Any, Any]) -> str:
    """What the client says that it can do."""
    able = context.session.client_params.capabilities if context.session.client_params else None
    return "unknown" if able is None else str(able.model_dump(exclude_none=True))


@server.tool(name="odd name.with/letters and much more than sixty-four characters", structured_output=False)
def odd() -> str:
    """Has a name that no provider takes."""
    return "odd"


if __name__ == "__main__":
    print("the shelf is open", file=sys.stderr, flush=True)
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
