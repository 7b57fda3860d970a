"""What a user may say of a model beside its name."""

from __future__ import annotations

import msgspec
from pydantic import SecretStr

from roles_runtime.errors import ModelError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import Effort, LLMRequest


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked with wherever a request leaves it open.

    Attributes:
        temperature, top_p, max_tokens, effort: See `LLMRequest`.
        params: Fields of the provider's own, put into the body as they are.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    effort: Effort | None = None
    params: JsonObject = {}

    def applied(self, request: LLMRequest) -> LLMRequest:
        """The request, with these where it leaves it open."""
        open_fields = {
            name: getattr(self, name)
            for name in ("temperature", "top_p", "max_tokens", "effort")
            if getattr(request, name) is None and getattr(self, name) is not None
        }
        return msgspec.structs.replace(request, **open_fields) if open_fields else request


class ProviderOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a provider is reached, and what its models are asked with.

    Attributes:
        provider: The installed provider; empty for the one that the name before a model's colon says.
        base_url: Where it is, if not at its usual place.
        api_key: The key; the provider's usual environment variable where it is left out.
        label: What stands before the colon of its models' names, if not the provider's own name.
        context_window: Of its models, in tokens, where nobody else knows it.
        settings: What its models are asked with.
    """

    provider: str = ""
    base_url: str | None = None
    api_key: SecretStr | None = None
    label: str = ""
    context_window: int | None = None
    settings: ModelSettings = ModelSettings()


def take_none(provider: str, options: ProviderOptions | None) -> None:
    """For a provider without options.

    Raises:
        ModelError: there are some.
    """
    if options is not None:
        raise ModelError(provider, "this provider takes no options; leave its section out.")
