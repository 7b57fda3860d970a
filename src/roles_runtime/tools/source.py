"""Where tools come from that must be opened first: a server of another process, say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self, TypeAlias

import msgspec

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.tools.tool import Tool


class ToolSource(ABC):
    """Gives tools while it is open. It stands among a role's tools: whole, or as what `only` gives.

    The Runtime opens each source that its roles name, once, before the first session, and closes it after the last.

    Attributes:
        name: What it is called; unique within a team.
    """

    name: str

    @abstractmethod
    async def __aenter__(self) -> Self:
        """Opens it.

        Raises:
            ToolSourceError: it can not be opened.
        """

    @abstractmethod
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it, whatever state it is in."""

    @abstractmethod
    def tools(self) -> Mapping[str, Tool]:
        """Its tools by the names that it has for them itself; while it is open."""

    def only(self, *names: str) -> Only:
        """These of its tools and no others, by the names that it has for them itself."""
        return Only(self, names)


class Only(msgspec.Struct, frozen=True):
    """Some of the tools of a source.

    Attributes:
        source: Where they are from.
        names: What the source itself calls them.
    """

    source: ToolSource
    names: tuple[str, ...]


Handed: TypeAlias = Tool | ToolSource | Only
"""What may stand among a role's tools."""


def sources_of(handed: Iterable[Handed]) -> list[ToolSource]:
    """The sources among them, each once."""
    found = [each if isinstance(each, ToolSource) else each.source for each in handed if not isinstance(each, Tool)]
    return list({id(source): source for source in found}.values())


def tools_of(handed: Iterable[Handed]) -> list[Tool]:
    """All tools; the sources among them are open.

    Raises:
        ToolDefinitionError: a source has no tool of a name.
    """
    tools: list[Tool] = []
    for each in handed:
        match each:
            case Tool():
                tools.append(each)
            case ToolSource():
                tools += each.tools().values()
            case Only(source, names):
                tools += (_named(source, name) for name in names)
    return tools


def _named(source: ToolSource, name: str) -> Tool:
    tools = source.tools()
    if name not in tools:
        raise ToolDefinitionError(f"{source.name} has no tool {name!r}; it has {', '.join(tools) or 'none'}.")
    return tools[name]
