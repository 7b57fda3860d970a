"""Makes what a team file names by its type: a role, a middleware, each with the options that its maker takes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeAlias

import msgspec

from roles_runtime.apps.config import Config, Key, suggestion
from roles_runtime.errors import ConfigError, PluginLoadError, PluginNotFoundError, RolesError
from roles_runtime.plugins import load

Maker: TypeAlias = Callable[..., object]
Accepted: TypeAlias = Mapping[str, inspect.Parameter]


def plugin(config: Config, key: Key, kind: str, name: str, *others: str) -> object:
    """What is installed under that name.

    Args:
        config: What the user said.
        key: Where he said it.
        kind: One of `roles_runtime.plugins.GROUPS`.
        name: As he said it.
        others: What else he may say there.

    Raises:
        ConfigError: nothing is, or it can not be loaded.
    """
    try:
        return load(kind, name)
    except PluginNotFoundError as error:
        known = (*error.known, *others)
        installed = suggestion(name, known) if known else "none is installed."
        raise config.wrong(key, f"there is no {kind} named {name!r}; {installed}") from error
    except PluginLoadError as error:
        raise config.wrong(key, str(error)) from error


def accepted(maker: Maker) -> Accepted:
    """What a maker takes, by name."""
    return inspect.signature(maker).parameters


def read_options(
    config: Config, here: Key, type_: str, options: Mapping[str, object], maker: Maker, takes: Accepted
) -> dict[str, Any]:
    """The options of a type, each as what its maker says that it takes; ``*names`` are a list.

    Raises:
        ConfigError: there is no such option, or it is of another type; the error names its key.
    """
    hints = _hints(maker)
    read: dict[str, Any] = {}
    for key, value in options.items():
        if key not in takes:
            raise config.wrong((*here, key), f"{type_!r} has no such option; {suggestion(key, ('type', *takes))}")
        wanted = _said(hints.get(key, Any))
        if takes[key].kind is inspect.Parameter.VAR_POSITIONAL:
            wanted = GenericAlias(list, (wanted,))
        try:
            read[key] = msgspec.convert(value, wanted, dec_hook=_path)
        except msgspec.ValidationError as error:
            raise config.wrong((*here, key), f"{error}.") from error
        except (TypeError, NotImplementedError) as error:
            raise config.wrong((*here, key), "a team file can not say this option; make the team in Python.") from error
    return read


def make(config: Config, here: Key, type_: str, maker: Maker, given: Mapping[str, Any], takes: Accepted) -> object:
    """Calls a maker.

    Args:
        config: What the user said.
        here: Where.
        type_: As the user calls what is made.
        maker: What makes it.
        given: What it is given, by name.
        takes: See `accepted`.

    Raises:
        ConfigError: something is missing, or the maker refuses what it is given.
    """
    for name, parameter in takes.items():
        required = parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        )
        if required and name not in given:
            raise config.wrong(here, f"{type_!r} needs a {name!r}.")
    bound = inspect.signature(maker).bind_partial()
    bound.arguments.update(given)
    try:
        return maker(*bound.args, **bound.kwargs)
    except ConfigError as error:
        if error.key not in given:
            raise config.wrong(here, f"it can not be made: {error}") from error
        raise config.wrong((*here, error.key), error.problem) from error
    except (RolesError, TypeError, ValueError) as error:
        raise config.wrong(here, f"it can not be made: {error}") from error


def _hints(maker: Any) -> dict[str, Any]:
    constructor: Any = maker.__init__
    try:
        return typing.get_type_hints(constructor if isinstance(maker, type) else maker)
    except (NameError, TypeError):
        return {}


def _said(hint: Any) -> Any:
    """What a team file says of it: where a text or a path is taken, a text."""
    choices = typing.get_args(hint)
    if str in choices and Path in choices:
        return reduce(or_, (each for each in choices if each is not Path))
    return hint


def _path(wanted: type, value: object) -> object:
    if wanted is not Path:
        # How a hook of msgspec says that it does not know a type.
        raise NotImplementedError(wanted)
    if not isinstance(value, str):
        raise TypeError("Expected `str`")
    return Path(value)
