"""The roster: the roles that a team file names, made by entry point, each mistake told by its key."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from roles_runtime.apps.config import Config, Key, suggestion
from roles_runtime.apps.sections import ModelNames, RoleSettings
from roles_runtime.apps.servers import handed, make_servers
from roles_runtime.errors import (
    DocumentError,
    ModelError,
    PluginLoadError,
    PluginNotFoundError,
    RolesError,
    TeamError,
)
from roles_runtime.llm.model import Model
from roles_runtime.llm.resolving import resolve_model
from roles_runtime.memory.examples import load_examples
from roles_runtime.plugins import load
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Middleware
from roles_runtime.runtime.team import Team
from roles_runtime.tools.mcp import McpServer
from roles_runtime.tools.tool import Tool

DEFAULT_ROSTER = (RoleSettings(type="planner"), RoleSettings(type="code_interpreter"))
"""Who works where no team file says it."""

_Maker: TypeAlias = Callable[..., object]


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
    middleware = [*outermost, *_middleware(config, ("middleware",), settings.middleware)]
    try:
        return Team(leader, [role for role in roles if role is not leader], middleware)
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
    maker = _plugin(config, (*here, "type"), "role", entry.type)
    if not (isinstance(maker, type) and issubclass(maker, Role)):
        raise config.wrong((*here, "type"), f"{entry.type!r} is installed, but it is no Role.")
    accepted = {name: each for name, each in inspect.signature(maker).parameters.items() if name != "self"}
    given = _common(config, here, entry, models, accepted)
    if entry.mcp:
        if "tools" not in accepted:
            raise config.wrong((*here, "mcp"), f"{entry.type!r} takes no tools.")
        given["tools"] = [*given.get("tools", ()), *handed(config, (*here, "mcp"), entry.mcp, servers)]
    given |= _options(config, here, entry, maker, accepted)
    for name, parameter in accepted.items():
        required = parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        )
        if required and name not in given:
            raise config.wrong(here, f"{entry.type!r} needs a {name!r}.")
    try:
        return maker(**given)
    except (RolesError, TypeError, ValueError) as error:
        raise config.wrong(here, f"it can not be made: {error}") from error


def _common(
    config: Config, here: Key, entry: RoleSettings, models: _Models, accepted: Mapping[str, inspect.Parameter]
) -> dict[str, Any]:
    """The keys of every role, as its constructor takes them."""
    said = {key: value for key in ("name", "intro", "instructions") if (value := getattr(entry, key)) is not None}
    given: dict[str, Any] = dict(said)
    if entry.model is not None:
        given["model"] = models.get(entry.model, (*here, "model"))
    elif "model" in accepted:
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
        if key not in accepted:
            raise config.wrong((*here, key), f"{entry.type!r} takes no {key!r}.")
    return given


def _options(
    config: Config, here: Key, entry: RoleSettings, maker: type[Role], accepted: Mapping[str, inspect.Parameter]
) -> dict[str, Any]:
    """The keys of its type alone, each as what the constructor says that it takes."""
    try:
        hints = typing.get_type_hints(maker.__init__)
    except NameError:
        hints = {}
    options: dict[str, Any] = {}
    for key, value in entry.options.items():
        if key not in accepted:
            raise config.wrong(
                (*here, key), f"{entry.type!r} has no such option; {suggestion(key, ('type', *accepted))}"
            )
        try:
            options[key] = msgspec.convert(value, hints.get(key, Any))
        except msgspec.ValidationError as error:
            raise config.wrong((*here, key), f"{error}.") from error
        except TypeError as error:
            raise config.wrong((*here, key), "a team file can not say this option; make the team in Python.") from error
    return options


def _leader(config: Config, roles: list[Role]) -> Role:
    wanted = config.settings.leader
    if wanted is None:
        return roles[0]
    names = [role.name for role in roles]
    if wanted not in names:
        raise config.wrong(("leader",), f"no role is named {wanted!r}; {suggestion(wanted, names)}")
    return roles[names.index(wanted)]


def _middleware(config: Config, here: Key, names: list[str]) -> list[Middleware]:
    made: list[Middleware] = []
    for index, name in enumerate(names):
        maker = _plugin(config, (*here, index), "middleware", name)
        layer = maker() if callable(maker) else maker
        if not callable(layer):
            raise config.wrong((*here, index), f"{name!r} is installed, but it is no middleware.")
        made.append(cast("Middleware", layer))
    return made


def _tool(config: Config, key: Key, name: str) -> Tool:
    found = _plugin(config, key, "tool", name)
    if not isinstance(found, Tool):
        raise config.wrong(key, f"{name!r} is installed, but it is no Tool.")
    return found


def _plugin(config: Config, key: Key, kind: str, name: str) -> object:
    try:
        return load(kind, name)
    except PluginNotFoundError as error:
        installed = suggestion(name, error.known) if error.known else "none is installed."
        raise config.wrong(key, f"there is no {kind} named {name!r}; {installed}") from error
    except PluginLoadError as error:
        raise config.wrong(key, str(error)) from error
