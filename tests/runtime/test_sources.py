"""Sources of tools: the runtime opens each that its roles name, hands them its tools, and closes it at the end."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

import pytest

from roles_runtime.errors import ToolDefinitionError, ToolSourceError
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.tools.source import Handed, ToolSource
from roles_runtime.tools.tool import Tool, tool
from runtime.casting import Cast, cast, running

pytestmark = pytest.mark.anyio


@tool
def lend() -> str:
    """Lends."""
    return "lent"


@tool
def burn() -> str:
    """Burns."""
    return "burnt"


class Library(ToolSource):
    """Says when it was opened and closed."""

    def __init__(self, name: str, *, problem: str = "") -> None:
        self.name, self.problem = name, problem
        self.seen: list[str] = []

    async def __aenter__(self) -> Self:
        if self.problem:
            raise ToolSourceError(self.name, self.problem)
        self.seen.append("opened")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seen.append("closed")

    def tools(self) -> Mapping[str, Tool]:
        return {"lend": lend, "burn": burn} if self.seen == ["opened"] else {}


def tells_its_tools(name: str, *tools: Handed) -> Cast:
    @cast(name)
    async def role(turn: Turn) -> Answer:
        if turn.post.send_from == USER and name != turn.leader:
            return turn.answer("?", turn.leader)
        return turn.answer(", ".join(each.name for each in turn.tools), USER)

    role.tools = tools
    return role


async def test_a_source_is_opened_once_for_all_roles_and_closed_with_the_runtime() -> None:
    library = Library("library")
    roles = (tells_its_tools("Planner", library.only("lend")), tells_its_tools("Echo", library))
    async with running(*roles) as runtime:
        round_ = await (await runtime.session()).ask("what can you do?")
        assert library.seen == ["opened"]
        assert {name: [each.name for each in seat.tools] for name, seat in runtime.ground.seats.items()} == {
            "Planner": ["lend"],
            "Echo": ["lend", "burn"],
        }
    assert round_.reply is not None
    assert round_.reply.message == "lend"
    assert library.seen == ["opened", "closed"]


async def test_a_source_that_can_not_be_opened_is_an_error_and_what_was_open_is_closed() -> None:
    first, second = Library("first"), Library("second", problem="it is shut.")
    with pytest.raises(ToolSourceError, match=r"second: it is shut\."):
        async with running(tells_its_tools("Planner", first, second)):
            pytest.fail("it must not open")
    assert first.seen == ["opened", "closed"]


@pytest.mark.parametrize(
    ("names", "told"), [(("read",), "library has no tool 'read'; it has lend, burn"), (("lend",), "two tools named")]
)
async def test_a_role_that_can_not_have_its_tools_is_an_error_and_what_was_open_is_closed(
    names: tuple[str, ...], told: str
) -> None:
    library = Library("library")
    with pytest.raises(ToolDefinitionError, match=told):
        async with running(tells_its_tools("Planner", lend, library.only(*names))):
            pytest.fail("it must not open")
    assert library.seen == ["opened", "closed"]
