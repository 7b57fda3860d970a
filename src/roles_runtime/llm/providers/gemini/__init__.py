"""Google's Gemini models, over generateContent. Needs the extra ``[gemini]``.

The way there is plain HTTP with the key in a header. Google's SDK has no public way to the bytes of a stream: it
decodes each response and encodes it again, and its auth for the Gemini API is that one header.
"""

from __future__ import annotations

from typing import Self
from urllib.parse import quote

from pydantic import SecretStr

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.http_connection import HttpConnection
from roles_runtime.llm.keys import find_key, in_header, missing_key, needed_key, secret
from roles_runtime.llm.options import ModelSettings, ProviderOptions
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.gemini.adapter import GeminiAdapter

__all__ = ["BASE_URL", "KEY_VARIABLES", "GeminiAdapter", "GeminiModel"]

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")


class GeminiModel(ProviderModel):
    """A Gemini model.

    Args:
        model: The provider's name of it, as ``gemini-3-pro``.
        base_url: Where the API is, with its version.
        api_key: The key; ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY`` where it is left out, read at the first call.
        settings: What it is asked with wherever a request leaves it open.
        capabilities: What it takes, where its name does not tell.
        label: What stands before the colon of its name, if not ``gemini``.
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
        adapter = GeminiAdapter(model, capabilities, label=label or "gemini", context_window=context_window)

        key = secret(api_key)

        def headers() -> dict[str, str]:
            return {"x-goog-api-key": in_header(adapter.name, needed_key(adapter.name, key, *KEY_VARIABLES))}

        def lacks() -> str:
            return "" if key or find_key(*KEY_VARIABLES) else missing_key(*KEY_VARIABLES)

        super().__init__(
            adapter, HttpConnection(adapter.name, "gemini", _url(base_url, model), headers, lacks), settings
        )

    @classmethod
    def from_name(cls, model: str, options: ProviderOptions | None = None) -> Self:
        """The model that stands behind the colon of ``gemini:model``. See `Provider.from_name`."""
        given = options or ProviderOptions()
        return cls(
            model,
            base_url=given.base_url,
            api_key=given.api_key,
            settings=given.settings,
            label=given.label,
            context_window=given.context_window,
        )


def _url(base_url: str | None, model: str) -> str:
    # A tuned model has a kind of its own before its name.
    path = quote(model if "/" in model else f"models/{model}")
    return f"{(base_url or BASE_URL).rstrip('/')}/{path}:streamGenerateContent?alt=sse"
