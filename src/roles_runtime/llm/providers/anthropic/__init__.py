"""Anthropic's models, over its Messages API. Needs the extra ``[anthropic]``."""

from __future__ import annotations

from typing import Self

from pydantic import SecretStr

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.keys import secret
from roles_runtime.llm.options import ModelSettings, ProviderOptions
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic.adapter import AnthropicAdapter
from roles_runtime.llm.providers.anthropic.client import AnthropicConnection

__all__ = ["AnthropicAdapter", "AnthropicConnection", "AnthropicModel"]


class AnthropicModel(ProviderModel):
    """A Claude model, or another one whose server speaks as Anthropic's.

    Args:
        model: The provider's name of it, as ``claude-opus-4-8``.
        base_url: Where the API is, without ``/v1``.
        api_key: The key; ``ANTHROPIC_API_KEY`` where it is left out, read at the first call.
        settings: What it is asked with wherever a request leaves it open.
        capabilities: What it takes, where its name does not tell.
        label: What stands before the colon of its name, if not ``anthropic``.
        context_window: In tokens, where nobody else knows it.

    Raises:
        ModelError: it has no name.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: SecretStr | str | None = None,
        settings: ModelSettings | None = None,
        capabilities: Capabilities | None = None,
        label: str = "",
        context_window: int | None = None,
    ) -> None:
        adapter = AnthropicAdapter(model, capabilities, label=label or "anthropic", context_window=context_window)
        super().__init__(adapter, AnthropicConnection(adapter.name, secret(api_key), base_url), settings)

    @classmethod
    def from_name(cls, model: str, options: ProviderOptions | None = None) -> Self:
        """The model that stands behind the colon of ``anthropic:model``. See `Provider.from_name`."""
        given = options or ProviderOptions()
        return cls(
            model,
            base_url=given.base_url,
            api_key=given.api_key,
            settings=given.settings,
            label=given.label,
            context_window=given.context_window,
        )
