"""Human approval: the user says yes before a tool runs."""

from __future__ import annotations

import math
from fnmatch import fnmatchcase

import anyio
import msgspec

from roles_runtime.errors import ConfigError, ToolFailedError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import Told
from roles_runtime.tools.tool import Tool

MAX_SHOWN_CHARS = 4_000
"""How much of a call's arguments the user is shown; a call with longer ones says so."""


class Approval:
    """Asks the user before a tool runs; after a no the model is told that the call was not allowed.

    Without a terminal, and without anybody who attends the session (`Session.attended`), the answer is no. The tools
    that stand in the turn are watched: register it after the middleware that gives the turn tools. Where one comes
    after it that says what it gives, the runtime is not made.
    """

    def __init__(self, *tools: str) -> None:
        """Says which tools are asked for.

        Args:
            tools: Their names; ``*`` stands for anything (``files__*``). Every tool, where none is named. In a team
                file they are a list: ``tools = ["files__*"]``.

        Raises:
            ConfigError: a name is no text, or empty.
        """
        for name in tools:
            if not (isinstance(name, str) and name):
                raise ConfigError(
                    "Approval", "tools", f"{name!r} is no name of a tool; give names: Approval('delete')."
                )
        self._names = tools or ("*",)

    async def __call__(self, turn: Turn, respond: Respond) -> Answer:
        """Answers with tools that ask first."""
        return await respond(turn.replace(tools=tuple(self._asking(turn, each) for each in turn.tools)))

    def watches(self, name: str) -> bool:
        """Whether the user is asked for the tool of that name."""
        return any(fnmatchcase(name, pattern) for pattern in self._names)

    def _asking(self, turn: Turn, asked: Tool) -> Tool:
        if not self.watches(asked.name):
            return asked

        async def asking(arguments: JsonObject, caller: Caller) -> Told:
            if not await turn.approve(_question(asked, arguments)):
                raise ToolFailedError(
                    f"The user did not allow this call of {asked.name}, so it was not made. "
                    "Do not try it again; go on without it, or say that you can not."
                )
            # Its own time runs from the yes.
            with anyio.move_on_after(asked.timeout_s):
                return await asked.call(arguments, caller)
            raise ToolFailedError(f"{asked.name} gave no result within {asked.timeout_s:g} s.")

        return msgspec.structs.replace(asked, call=asking, timeout_s=math.inf)


def _question(asked: Tool, arguments: JsonObject) -> str:
    shown = msgspec.json.encode(arguments).decode()
    if len(shown) > MAX_SHOWN_CHARS:
        left = len(shown) - MAX_SHOWN_CHARS
        shown = f"{shown[:MAX_SHOWN_CHARS]} … and {left:,} more characters that are NOT shown"
    return f"May the tool {asked.name} be called with {shown}?"
