"""Which models are usable: each configured one is asked once, each other provider says what it lacks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from typing import Protocol, TypeAlias, runtime_checkable

import anyio

from roles_runtime.errors import RolesError
from roles_runtime.llm.message import TextMessage
from roles_runtime.llm.model import Model, Provider
from roles_runtime.llm.options import ProviderOptions
from roles_runtime.llm.reliable import ReliableModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.llm.stream import asked
from roles_runtime.plugins import load, names
from roles_runtime.roles.role import Role

PROBE_S = 30.0
"""How long a model may take to answer the probe, in seconds."""

Finding: TypeAlias = tuple[bool, str, str]
"""Whether it is well, what it is about, and what there is or how to mend it."""


@runtime_checkable
class Preparable(Protocol):
    """A model that knows, without asking, whether it could be asked."""

    def ready(self) -> str:
        """What is missing and how to mend it; empty if nothing is."""
        ...


async def model_findings(roles: Iterable[Role]) -> AsyncIterator[Finding]:
    """Asks each model of the roles once, for a word."""
    models = {id(each): each for role in roles for each in _each(role.model)}
    for model in models.values():
        if not model.writes_code:
            yield True, "model", f"{model.name} needs no provider."
            continue
        yield await _probed(model)


def provider_findings(configured: Collection[str]) -> Iterator[Finding]:
    """What each installed provider that no role uses would need; that one can not be used is no fault."""
    for provider in names("provider"):
        if provider not in configured:
            yield True, "provider", f"{provider}: {_lacking(provider) or 'could be asked.'}"


def _each(model: object) -> tuple[Model, ...]:
    if isinstance(model, ReliableModel):
        return tuple(found for each in model.models for found in _each(each))
    return (model,) if isinstance(model, Model) else ()


async def _probed(model: Model) -> Finding:
    lacking = model.ready() if isinstance(model, Preparable) else ""
    if lacking:
        return False, "model", f"{model.name}: {lacking}"
    request = LLMRequest((TextMessage(content="Answer with the single word: ok"),), max_tokens=1024)
    try:
        with anyio.fail_after(PROBE_S):
            async with asked(model, request) as reply:
                async for _ in reply.text():
                    pass
    except RolesError as error:
        return False, "model", str(error)
    except TimeoutError:
        return False, "model", f"{model.name} gave no answer within {PROBE_S:g} s."
    finally:
        await _close(model)
    usage = reply.usage
    return True, "model", f"{model.name} answered ({usage.input_tokens} tokens in, {usage.output_tokens} out)."


async def _close(model: Model) -> None:
    close = getattr(model, "aclose", None)
    if close is not None:
        await close()


def _lacking(provider: str) -> str:
    try:
        maker = load("provider", provider)
        if not isinstance(maker, Provider) or not hasattr(maker, "ready"):
            return ""
        model = maker.from_name("any", ProviderOptions())
        return model.ready() if isinstance(model, Preparable) else ""
    except RolesError as error:
        return str(error)
