"""The roster: the roles that a team file names, made by entry point, each mistake told by its key."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from roles_runtime.apps.config import Config, Key, suggestion
from roles_runtime.apps.making import Accepted, accepted, make, plugin, read_options
from roles_runtime.apps.sections import MiddlewareSettings, ModelNames, RoleSettings
from roles_runtime.apps.servers import handed, make_servers
from roles_runtime.errors import (
    DocumentError,
    ModelError,
    PluginLoadError,
    PluginNotFoundError,
    TeamError,
)
from roles_runtime.llm.model import Model
from roles_runtime.llm.resolving import resolve_model
from roles_runtime.memory.examples import load_examples
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Middleware
from roles_runtime.runtime.team import Team
from roles_runtime.tools.mcp import McpServer
from roles_runtime.tools.tool import Tool

DEFAULT_ROSTER = (RoleSettings(type="planner"), RoleSettings(type="code_interpreter"))
"""Who works where no team file says it."""


def make_team(config: Config, *outermost: Middleware) -> Team:
    """The team that the configuration describes.

    Args:
        config: What the user said.
        outermost: Middleware round all others.

    Raises:
        ConfigError: it can not be made; the error names the key.
    """
    settings = config.settings
    models, servers = _Models(config), make_servers(config)
    roles: list[Role] = []
    for index, entry in enumerate(settings.role or DEFAULT_ROSTER):
        role = _make_role(config, index, entry, models, servers)
        if any(role.name.casefold() == other.name.casefold() for other in roles):
            raise config.wrong(("role", index, "name"), f"two roles are named {role.name!r}; give each its own name.")
        roles.append(role)
    leader = _leader(config, roles)
    workers = [role for role in roles if role is not leader]
    # Left out is not empty: the Team knows what is on by default.
    given = settings.middleware
    middleware = None if given is None else _middleware(config, ("middleware",), given)
    try:
        return Team(leader, workers, middleware, settings.language).within(*outermost)
    except TeamError as error:
        raise config.wrong(("role",), str(error)) from error


class _Models:
    """Each model once, by what the user calls it."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._options = {name: each.options(name) for name, each in config.settings.provider.items()}
        self._made: dict[str | tuple[str, ...], Model] = {}

    def get(self, given: ModelNames, key: Key) -> Model:
        name = given if isinstance(given, str) else tuple(given)
        if name not in self._made:
            self._check_keys((name,) if isinstance(name, str) else name)
            try:
                self._made[name] = resolve_model(name, self._options)
            except PluginNotFoundError as error:
                problem = f"there is no model provider {error.name!r}; {suggestion(error.name, error.known)}"
                raise self._config.wrong(key, problem) from error
            except (PluginLoadError, ModelError) as error:
                raise self._config.wrong(key, str(error)) from error
        return self._made[name]

    def _check_keys(self, names: Iterable[str]) -> None:
        """Nobody is asked with another key than the one that was named for him."""
        for label in (each.partition(":")[0] for each in names):
            section = self._config.settings.provider.get(label)
            if section is not None and section.lacks_key:
                # What stands there may be a key by mistake, so that it is not said.
                problem = "the environment has no such variable, or nothing in it; name the one that holds the key."
                raise self._config.wrong(("provider", label, "api_key_env"), problem)


def _make_role(
    config: Config, index: int, entry: RoleSettings, models: _Models, servers: Mapping[str, McpServer]
) -> Role:
    here: Key = ("role", index)
    maker = plugin(config, (*here, "type"), "role", entry.type)
    if not (isinstance(maker, type) and issubclass(maker, Role)):
        raise config.wrong((*here, "type"), f"{entry.type!r} is installed, but it is no Role.")
    takes = accepted(maker)
    given = _common(config, here, entry, models, takes)
    if entry.mcp:
        if "tools" not in takes:
            raise config.wrong((*here, "mcp"), f"{entry.type!r} takes no tools.")
        given["tools"] = [*given.get("tools", ()), *handed(config, (*here, "mcp"), entry.mcp, servers)]
    given |= read_options(config, here, entry.type, entry.options, maker, takes)
    return cast("Role", make(config, here, entry.type, maker, given, takes))


def _common(config: Config, here: Key, entry: RoleSettings, models: _Models, takes: Accepted) -> dict[str, Any]:
    """The keys of every role, as its constructor takes them."""
    said = {key: value for key in ("name", "intro", "instructions") if (value := getattr(entry, key)) is not None}
    given: dict[str, Any] = dict(said)
    if entry.model is not None:
        given["model"] = models.get(entry.model, (*here, "model"))
    elif "model" in takes:
        given["model"] = models.get(config.settings.model, ("model",))
    if entry.tools:
        given["tools"] = [_tool(config, (*here, "tools", at), name) for at, name in enumerate(entry.tools)]
    if entry.middleware:
        given["middleware"] = _middleware(config, (*here, "middleware"), entry.middleware)
    if entry.examples is not None:
        try:
            given["examples"] = load_examples(entry.examples)
        except DocumentError as error:
            raise config.wrong((*here, "examples"), str(error)) from error
    for key in given:
        if key not in takes:
            raise config.wrong((*here, key), f"{entry.type!r} takes no {key!r}.")
    return given


def _leader(config: Config, roles: list[Role]) -> Role:
    wanted = config.settings.leader
    if wanted is None:
        return roles[0]
    names = [role.name for role in roles]
    if wanted not in names:
        raise config.wrong(("leader",), f"no role is named {wanted!r}; {suggestion(wanted, names)}")
    return roles[names.index(wanted)]


def _middleware(config: Config, here: Key, entries: Sequence[MiddlewareSettings]) -> list[Middleware]:
    return [_make_layer(config, (*here, index), entry) for index, entry in enumerate(entries)]


def _make_layer(config: Config, here: Key, entry: MiddlewareSettings) -> Middleware:
    layer = plugin(config, here, "middleware", entry.type)
    if callable(layer) and not _is_layer(layer):
        takes = accepted(layer)
        given = read_options(config, here, entry.type, entry.options, layer, takes)
        layer = make(config, here, entry.type, layer, given, takes)
    elif entry.options:
        raise config.wrong((*here, next(iter(entry.options))), f"{entry.type!r} takes no options.")
    if not callable(layer):
        raise config.wrong(here, f"{entry.type!r} is installed, but it is no middleware.")
    return cast("Middleware", layer)


def _is_layer(found: object) -> bool:
    """Whether it is a middleware itself, and not what makes one."""
    if isinstance(found, type):
        return False
    return inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(type(found).__call__)


def _tool(config: Config, key: Key, name: str) -> Tool:
    found = plugin(config, key, "tool", name)
    if not isinstance(found, Tool):
        raise config.wrong(key, f"{name!r} is installed, but it is no Tool.")
    return found
