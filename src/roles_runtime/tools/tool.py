"""A Tool: what a model may have called on a role's behalf; and ``@tool``, which makes one of a typed function."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Collection
from typing import TypeAlias, overload

import msgspec
from pydantic import BaseModel

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import ToolSpec
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import Told
from roles_runtime.tools.signature import Function, call_of, json_schema, read_docstring, read_signature

# What every provider accepts as a function's name.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

DEFAULT_TIMEOUT_S = 60.0
"""How long a call may take where its tool says nothing else."""

Decorator: TypeAlias = "Callable[[Function], Tool]"


class Tool(msgspec.Struct, frozen=True):
    """A named function with a JSON Schema.

    To wrap a tool, replace its ``call`` (``msgspec.structs.replace(tool, call=...)``); what it accepts stays.

    Attributes:
        spec: What a model knows of it.
        call: Takes arguments that were parsed and validated, and who calls; returns the result's text, or a
            `ToolResult` that has attachments too. A `ToolFailedError` tells the model what went wrong in its own words.
        accepts: What the arguments are validated against before the call; None leaves that to the tool (one of
            another process knows only its JSON Schema).
        timeout_s: How long a call may take; then the model is told that it took too long.
        exclusive: Whether a call of it runs alone: after the calls before it, and before those after it.
    """

    spec: ToolSpec
    call: Callable[[JsonObject, Caller], Awaitable[Told]]
    accepts: type[BaseModel] | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    exclusive: bool = False

    @property
    def name(self) -> str:
        """Its name, unique within a turn."""
        return self.spec.name

    def check_new(self, taken: Collection[str]) -> None:
        """Checks that no tool of this name is there.

        Raises:
            ToolDefinitionError: one is.
        """
        if self.name in taken:
            raise ToolDefinitionError(f"There is a tool named {self.name!r} already; give one of them another name.")


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    exclusive: bool = False,
) -> Decorator: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    exclusive: bool = False,
) -> Tool | Decorator:
    """Makes a tool of a typed function: ``@tool``, or with what shall be otherwise: ``@tool(timeout_s=5)``.

    The name and the description come from the function and its docstring, the JSON Schema from its signature, with
    what the Google docstring says of each argument under ``Args:``. A parameter of type `Caller` is filled in at each
    call. An async function is awaited; any other runs in a thread (see `MAX_THREADS`), which is left behind where it
    takes too long. What it returns is told as `result_of` says.

    Args:
        function: What is called.
        name: 1 to 64 ASCII letters, digits, ``_`` or ``-``.
        description: What a model is told of it.
        timeout_s: How long a call may take.
        exclusive: Whether a call of it runs beside no other of its turn.

    Raises:
        ToolDefinitionError: the function has positional-only or starred parameters, one without an annotation, one
            whose type has no JSON Schema, or a name that providers refuse; or the time limit is none.
    """

    def make(function: Function) -> Tool:
        called = name or str(getattr(function, "__name__", type(function).__name__))
        if not _NAME.fullmatch(called):
            raise ToolDefinitionError(
                f"{called!r} can not be a tool's name: 1 to 64 ASCII letters, digits, _ or -; give it one by name=."
            )
        if not (math.isfinite(timeout_s) and timeout_s > 0):
            raise ToolDefinitionError(f"Tool {called}: timeout_s is {timeout_s}; give it a number of seconds above 0.")
        documented = read_docstring(function)
        signature = read_signature(function, called, documented.arguments)
        spec = ToolSpec(
            called, documented.summary if description is None else description, json_schema(signature.accepts, called)
        )
        return Tool(spec, call_of(function, signature), signature.accepts, timeout_s, exclusive)

    return make if function is None else make(function)
