"""Seats: the roles of a team as a runtime runs them, each with its middleware, model and tools. Made once."""

from __future__ import annotations

from collections.abc import Coroutine

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.llm.model import Model, resolve_model
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Answer, Respond, Turn, onion
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.team import Team
from roles_runtime.tools.tool import Tool


class Seat:
    """A role, ready to be asked.

    Attributes:
        name: The role's.
        role: The role itself.
        coats: What its turns wear, or None.
        respond: Its turn with the middleware round it.
        model: What it thinks with, or None.
        tools: What it always has.
        others: Every exact name that it may write to, itself excepted.
        needs_kernel: Whether its turns are given the session's kernel.
    """

    __slots__ = ("coats", "model", "name", "needs_kernel", "others", "respond", "role", "tools")

    def __init__(self, role: Role, team: Team, coats: Coats | None) -> None:
        self.name = role.name
        self.role = role
        self.coats = coats
        self.respond = onion((*team.middleware, *role.middleware), _asked(role, coats))
        model = None if role.model is None else resolve_model(role.model)
        self.model: Model | None = model if model is None or coats is None else coats.wrap_model(model, role.name)
        self.tools: tuple[Tool, ...] = _distinct(role)
        self.needs_kernel = role.needs_kernel
        self.others = frozenset(team.addresses) - {role.name}


def take_seats(team: Team, coats: Coats | None) -> dict[str, Seat]:
    """The seats of a team by role name.

    Raises:
        PluginNotFoundError: a role's model is of a provider that is not installed.
        ModelError: a role's model can not be made.
        ToolDefinitionError: two tools of a role have one name.
    """
    return {role.name: Seat(role, team, coats) for role in team.roles.values()}


def _asked(role: Role, coats: Coats | None) -> Respond:
    def reply(turn: Turn) -> Coroutine[object, None, Answer]:
        scope = turn.scope
        # A middleware may ask twice: each time the role begins with an empty draft.
        if scope.drafted is not None:
            scope.drafted.withdraw()
        return role.reply(turn)

    def reply_in_coat(turn: Turn) -> Coroutine[object, None, Answer]:
        # Innermost, so that tools which a middleware gave the turn wear one too.
        return reply(turn.replace(tools=coats.wrap_tools(turn.tools, role.name)) if coats and turn.tools else turn)

    return reply if coats is None else reply_in_coat


def _distinct(role: Role) -> tuple[Tool, ...]:
    names: set[str] = set()
    for tool in role.tools:
        if tool.name in names:
            raise ToolDefinitionError(f"Role {role.name} has two tools named {tool.name!r}; rename one of them.")
        names.add(tool.name)
    return tuple(role.tools)
