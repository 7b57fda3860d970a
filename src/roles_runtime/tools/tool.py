"""A Tool: what a model may have called on a role's behalf; and ``@tool``, which makes one of a typed function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

import msgspec

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.llm.message import JsonObject
from roles_runtime.llm.request import ToolSpec


class Tool(msgspec.Struct, frozen=True):
    """A named function with a JSON Schema.

    Attributes:
        spec: What a model knows of it.
        call: Takes arguments that were parsed and validated; returns the result's text.
    """

    spec: ToolSpec
    call: Callable[[JsonObject], Awaitable[str]]

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
