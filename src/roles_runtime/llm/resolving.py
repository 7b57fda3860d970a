"""What a user gives as a role's model becomes one Model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import cast

from roles_runtime.errors import ModelError
from roles_runtime.llm.model import Model, Provider
from roles_runtime.llm.options import ProviderOptions
from roles_runtime.llm.reliable import ReliableModel
from roles_runtime.plugins import load

NO_OPTIONS: Mapping[str, ProviderOptions] = MappingProxyType({})


def resolve_model(
    model: Model | str | Sequence[Model | str], options: Mapping[str, ProviderOptions] = NO_OPTIONS
) -> Model:
    """One Model for what a user gave: a Model, its name as ``provider:model``, or several of these to fall back on.

    All but a single deterministic model are made a `ReliableModel`; one that is reliable already is kept as it is.

    Args:
        model: What the user gave.
        options: How providers are reached, by the name that stands before the colon.

    Raises:
        PluginNotFoundError: no such provider is installed.
        ModelError: the provider has no such model, or lacks what it needs; or what was given is no Model.
    """
    made = [_made(each, options) for each in alternatives(model)]
    if not made:
        raise ModelError("[]", "the list of models is empty; name at least one, as provider:model.")
    if len(made) == 1 and (isinstance(made[0], ReliableModel) or not made[0].writes_code):
        return made[0]
    return ReliableModel(made)


def _named(model: str, options: Mapping[str, ProviderOptions]) -> Model:
    label, _, name = model.partition(":")
    given = options.get(label)
    provider = given.provider if given is not None and given.provider else label
    maker = load("provider", provider)
    if not isinstance(maker, Provider):
        raise ModelError(model, f"the provider {provider!r} has no from_name(model) that makes its models.")
    return maker.from_name(name) if given is None else maker.from_name(name, given)


def alternatives(model: object) -> tuple[object, ...]:
    """What a user gave as a role's model, one by one, in the order in which they are asked."""
    # A name is a sequence, and a Model may well be one.
    if isinstance(model, str | Model) or not isinstance(model, Sequence):
        return (model,)
    return tuple(model)


def _made(model: object, options: Mapping[str, ProviderOptions]) -> Model:
    if isinstance(model, str):
        return _made(_named(model, options), options)
    lacking = [each for each in ("name", "writes_code", "stream") if not hasattr(model, each)]
    if lacking:
        raise ModelError(
            type(model).__name__,
            f"it is no Model, for it lacks {', '.join(lacking)}. A Model has a name, says by writes_code whether code "
            "that it writes is an LLM's, and has a stream(request) that yields chunks, Finish last.",
        )
    return cast("Model", model)
