"""Models of an Ollama server, over its own chat API. Needs the extra ``[ollama]``."""

from __future__ import annotations

from typing import Self

from pydantic import SecretStr

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.http_connection import HttpConnection
from roles_runtime.llm.keys import in_header, secret
from roles_runtime.llm.options import ModelSettings, ProviderOptions
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.ollama.adapter import OllamaAdapter

__all__ = ["BASE_URL", "OllamaAdapter", "OllamaModel"]

BASE_URL = "http://127.0.0.1:11434"


class OllamaModel(ProviderModel):
    """A model of an Ollama server.

    Args:
        model: Ollama's name of it, as ``qwen3`` or ``gemma3:4b``; the server must have pulled it.
        base_url: Where the server is.
        api_key: For a server behind a gate; one on this machine has none.
        settings: What it is asked with wherever a request leaves it open.
        capabilities: What it takes, where its name does not tell. Its ``context_window`` is asked of the server, too.
        label: What stands before the colon of its name, if not ``ollama``.
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
        adapter = OllamaAdapter(model, capabilities, label=label or "ollama", context_window=context_window)

        key = secret(api_key)

        def headers() -> dict[str, str]:
            return {} if key is None else {"authorization": f"Bearer {in_header(adapter.name, key)}"}

        url = f"{(base_url or BASE_URL).rstrip('/')}/api/chat"
        super().__init__(adapter, HttpConnection(adapter.name, "ollama", url, headers), settings)

    @classmethod
    def from_name(cls, model: str, options: ProviderOptions | None = None) -> Self:
        """The model that stands behind the colon of ``ollama:model``. See `Provider.from_name`."""
        given = options or ProviderOptions()
        return cls(
            model,
            base_url=given.base_url,
            api_key=given.api_key,
            settings=given.settings,
            label=given.label,
            context_window=given.context_window,
        )
