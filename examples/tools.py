"""Tools of a role: a typed function that is told who calls it, and a server of the Model Context Protocol."""

import sys

import anyio
from mcp.server.mcpserver import MCPServer

from roles_runtime import Finish, ModelRole, Runtime, ScriptedModel, Team, ToolCallChunk, tool
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.request import LLMRequest
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.mcp import McpServer


@tool(timeout_s=5)
async def note(text: str, caller: Caller) -> str:
    """Keeps a note.

    Args:
        text: What to keep.
    """
    return f"{caller.role} keeps: {text}"


def serve() -> None:
    """The other program: any server of the protocol does."""
    server = MCPServer("sums")
    server.tool()(add)
    server.run("stdio")


def add(left: int, right: int) -> int:
    """Adds."""
    return left + right


def told(request: LLMRequest) -> str:
    return "; ".join(each.result for each in request.messages[-1].tool_reses)


CALLS = (
    ToolCallChunk(ToolCall(call_id="1", name="note", arguments='{"text": "buy tea"}')),
    ToolCallChunk(ToolCall(call_id="2", name="sums__add", arguments='{"left": 20, "right": 22}')),
    Finish("tool_calls"),
)


async def main() -> None:
    sums = McpServer("sums", command=[sys.executable, __file__, "serve"])  # opened and closed by the Runtime
    model = ScriptedModel([CALLS, told])  # in place of "openai:gpt-5"
    clerk = ModelRole("Clerk", intro="Notes and adds.", model=model, tools=[note, sums.only("add")])
    async with Runtime(Team(clerk), kernels=None) as runtime:
        answered = await (await runtime.session()).ask("Note: buy tea. And what is 20 + 22?")
        print(answered.reply.message if answered.reply else answered.detail)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        anyio.run(main)
