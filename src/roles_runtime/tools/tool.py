"""A Tool: what a model may have called on a role's behalf; and ``@tool``, which makes one of a typed function."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from typing import TypeAlias, overload

import msgspec
from pydantic import BaseModel

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.llm.message import JsonObject
from roles_runtime.llm.request import ToolSpec
from roles_runtime.tools.signature import Function, arguments_model, caller, json_schema, read_docstring

# What every provider accepts as a function's name.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Decorator: TypeAlias = "Callable[[Function], Tool]"


class Tool(msgspec.Struct, frozen=True):
    """A named function with a JSON Schema.

    To wrap a tool, replace its ``call`` (``msgspec.structs.replace(tool, call=...)``); what it accepts stays.

    Attributes:
        spec: What a model knows of it.
        call: Takes arguments that were parsed and validated; returns the result's text. A `ToolFailedError` tells the
            model what went wrong in its own words.
        accepts: What the arguments are validated against before the call; None leaves that to the tool (one of
            another process knows only its JSON Schema).
    """

    spec: ToolSpec
    call: Callable[[JsonObject], Awaitable[str]]
    accepts: type[BaseModel] | None = None

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
def tool(*, name: str | None = None, description: str | None = None) -> Decorator: ...


def tool(
    function: Function | None = None, /, *, name: str | None = None, description: str | None = None
) -> Tool | Decorator:
    """Makes a tool of a typed function: ``@tool`` or ``@tool(name="…", description="…")``.

    The name and the description come from the function and its docstring, the JSON Schema from its signature, with
    what the Google docstring says of each argument under ``Args:``. An async function is awaited; any other runs in a
    worker thread. A result that is no text reaches the model as JSON.

    Raises:
        ToolDefinitionError: the function has positional-only or starred parameters, one without an annotation, one
            whose type has no JSON Schema, or a name that providers refuse.
    """

    def make(function: Function) -> Tool:
        called = name or str(getattr(function, "__name__", type(function).__name__))
        if not _NAME.fullmatch(called):
            raise ToolDefinitionError(
                f"{called!r} can not be a tool's name: 1 to 64 ASCII letters, digits, _ or -; give it one by name=."
            )
        documented = read_docstring(function)
        accepts = arguments_model(function, called, documented.arguments)
        spec = ToolSpec(
            called, documented.summary if description is None else description, json_schema(accepts, called)
        )
        return Tool(spec, caller(function, accepts), accepts)

    return make if function is None else make(function)
