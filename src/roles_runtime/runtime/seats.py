"""Seats: the roles of a team as a runtime runs them, each with its middleware, model and tools. Made once."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Sequence

import anyio

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.llm.circuit import CircuitState
from roles_runtime.llm.model import Closable, Model
from roles_runtime.llm.reliable import ReliableModel
from roles_runtime.llm.resolving import alternatives, resolve_model
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Answer, GivesTools, Middleware, Respond, Turn, WatchesTools, onion
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.logs import get_logger
from roles_runtime.runtime.team import Team
from roles_runtime.tools.source import sources_of, tools_of
from roles_runtime.tools.tool import Tool

log = get_logger(__name__)

CLOSE_S = 5.0
"""How long a model may take to close."""


class Seat:
    """A role, ready to be asked.

    Attributes:
        name: The role's.
        role: The role itself.
        sources: Where tools of it come from that must be opened first.
        coats: What its turns wear, or None.
        respond: Its turn with the middleware round it.
        model: What it thinks with, in its coat, or None.
        bare_model: The same without a coat.
        tools: What it always has; those of sources from when it was equipped with them.
        given: Names of the tools that its middleware says it will give.
        others: Every exact name that it may write to, itself excepted.
        needs_kernel: Whether its turns are given the session's kernel.
    """

    __slots__ = (
        "bare_model",
        "coats",
        "given",
        "model",
        "name",
        "needs_kernel",
        "others",
        "respond",
        "role",
        "sources",
        "tools",
    )

    def __init__(self, role: Role, team: Team, coats: Coats | None, model: Model | None) -> None:
        self.name = role.name
        self.role = role
        self.coats = coats
        layers = team.layers(role)
        respond = onion(layers, _asked(role, coats))
        self.respond = respond if coats is None else coats.wrap_respond(respond, role.name)
        self.bare_model = model
        self.model: Model | None = model if model is None or coats is None else coats.wrap_model(model, role.name)
        self.sources = sources_of(role.tools)
        self.tools: tuple[Tool, ...] = _distinct(role, [each for each in role.tools if isinstance(each, Tool)])
        # What has no model is given no tools.
        gives = [each for each in layers if isinstance(each, GivesTools)] if model is not None else []
        _check_watched(role, layers if gives else ())
        self.given = tuple(name for each in gives for name in each.gives)
        _check_given(role, self.tools, self.given)
        self.needs_kernel = role.needs_kernel
        self.others = frozenset(team.addresses) - {role.name}

    def equip(self) -> None:
        """Takes the tools of its sources, which are open now.

        Raises:
            ToolDefinitionError: a source lacks a tool that the role was promised, or two of them have one name.
        """
        if self.sources:
            self.tools = _distinct(self.role, tools_of(self.role.tools))
            _check_given(self.role, self.tools, self.given)

    @property
    def circuits(self) -> tuple[CircuitState, ...]:
        """How each of its models fares; empty where it has none that may fail."""
        return self.bare_model.circuits if isinstance(self.bare_model, ReliableModel) else ()


def take_seats(team: Team, coats: Coats | None) -> dict[str, Seat]:
    """The seats of a team by role name.

    Raises:
        PluginNotFoundError: a role's model is of a provider that is not installed.
        ModelError: a role's model can not be made.
        ToolDefinitionError: two tools of a role have one name.
    """
    made: dict[object, Model] = {}
    seats: dict[str, Seat] = {}
    for role in team.roles.values():
        # Roles that think with the same model share what is known of how it fares.
        key = tuple(each if isinstance(each, str) else id(each) for each in alternatives(role.model))
        if role.model is not None and key not in made:
            made[key] = resolve_model(role.model)
        seats[role.name] = Seat(role, team, coats, made.get(key))
    return seats


async def close_models(seats: Iterable[Seat]) -> None:
    """Closes the models that can be closed, side by side. None keeps the others, or whoever closes, for long."""
    models = {id(model): model for seat in seats if (model := seat.bare_model) is not None}
    async with anyio.create_task_group() as group:
        for model in models.values():
            if isinstance(model, Closable):
                group.start_soon(_close, model.name, model)


async def _close(name: str, model: Closable) -> None:
    try:
        with anyio.fail_after(CLOSE_S):
            await model.aclose()
    except Exception as error:  # it may be anybody's; a runtime that closes has nobody to tell but the log
        log.warning("a model did not close", model=name, exc_info=error)


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


def _distinct(role: Role, tools: list[Tool]) -> tuple[Tool, ...]:
    names: set[str] = set()
    for tool in tools:
        if tool.name in names:
            raise ToolDefinitionError(f"Role {role.name} has two tools named {tool.name!r}; rename one of them.")
        names.add(tool.name)
    return tuple(tools)


def _check_watched(role: Role, layers: Sequence[Middleware]) -> None:
    watching: list[WatchesTools] = []
    for layer in layers:
        for name in layer.gives if isinstance(layer, GivesTools) else ():
            unseeing = next((each for each in watching if each.watches(name)), None)
            if unseeing is not None:
                raise ToolDefinitionError(
                    f"Role {role.name}: {type(unseeing).__name__} would not see the tool {name!r}, which "
                    f"{type(layer).__name__} gives after it; register {type(unseeing).__name__} as the last middleware."
                )
        if isinstance(layer, WatchesTools):
            watching.append(layer)


def _check_given(role: Role, tools: Iterable[Tool], given: Iterable[str]) -> None:
    names = {tool.name for tool in tools}
    for name in given:
        if name in names:
            raise ToolDefinitionError(
                f"Role {role.name} has two tools named {name!r}, one of them from its middleware; rename yours, or "
                "take the middleware out (Team(middleware=[]) has none)."
            )
        names.add(name)
