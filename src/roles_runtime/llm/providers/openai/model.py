"""A model on one of OpenAI's wires, whoever serves it."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import msgspec
from pydantic import SecretStr

from roles_runtime.errors import ModelError
from roles_runtime.llm.adapter import Adapter, Capabilities
from roles_runtime.llm.http_connection import CONNECT_TIMEOUT_S, SILENCE_TIMEOUT_S
from roles_runtime.llm.options import ModelSettings, ProviderOptions
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.openai.chat import ChatAdapter
from roles_runtime.llm.providers.openai.client import OpenAIConnection
from roles_runtime.llm.providers.openai.profile import Profile
from roles_runtime.llm.providers.openai.responses import ResponsesAdapter

Wire = Literal["openai-chat", "openai-responses"]

_PATHS = {"openai-chat": "/chat/completions", "openai-responses": "/responses"}


class WiredModel(ProviderModel):
    """What OpenAI's model and those of compatible providers have in common.

    Args:
        model: The provider's name of it.
        base_url: Where the API is, with its version; the provider's own place where it is left out.
        api_key: The key; the provider's environment variable where it is left out, read at the first call.
        wire: Which of the two wires; the one that suits where it is left out.
        settings: What it is asked with wherever a request leaves it open.
        capabilities: What it takes, where its name does not tell.
        label: What stands before the colon of its name, if not the provider's own name.
        context_window: In tokens, where nobody else knows it.
        connect_timeout_s: How long a connection may take to be made.
        silence_timeout_s: How long the server may say nothing at all.

    Raises:
        ModelError: it has no name, or the address is none.
    """

    profile: ClassVar[Profile]
    own_wire: ClassVar[Wire] = "openai-chat"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: SecretStr | str | None = None,
        wire: Wire | None = None,
        settings: ModelSettings | None = None,
        capabilities: Capabilities | None = None,
        label: str = "",
        context_window: int | None = None,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
    ) -> None:
        profile, own_wire = self._served(base_url)
        wire = wire or own_wire
        name = f"{label or profile.provider}:{model}"
        if not model:
            raise ModelError(name, f"say which model, as {label or profile.provider}:NAME.")
        taken = capabilities or profile.capabilities(model)
        if context_window is not None:
            taken = msgspec.structs.replace(taken, context_window=context_window)
        connection = OpenAIConnection(
            name,
            _PATHS[wire],
            base_url or profile.base_url,
            SecretStr(api_key) if isinstance(api_key, str) else api_key,
            key_variables=profile.key_variables,
            needs_key=profile.needs_key,
            connect_timeout_s=connect_timeout_s,
            silence_timeout_s=silence_timeout_s,
        )
        super().__init__(_adapter(wire, name, model, taken, profile), connection, settings)

    @classmethod
    def from_name(cls, model: str, options: ProviderOptions | None = None) -> Self:
        """The model that stands behind the colon of ``provider:model``.

        Raises:
            ModelError: there is nothing behind the colon, or the address is none.
        """
        said = options or ProviderOptions()
        return cls(
            model,
            base_url=said.base_url,
            api_key=said.api_key,
            settings=said.settings,
            label=said.label,
            context_window=said.context_window,
        )

    @classmethod
    def _served(cls, base_url: str | None) -> tuple[Profile, Wire]:
        """Whose ways the server at that address has, and which wire suits it."""
        return cls.profile, cls.own_wire


def _adapter(wire: Wire, name: str, model: str, taken: Capabilities, profile: Profile) -> Adapter:
    if wire == "openai-chat":
        return ChatAdapter(name, model, taken, profile)
    return ResponsesAdapter(name, model, responses_capabilities(taken), f"{profile.provider}-responses")


def responses_capabilities(taken: Capabilities) -> Capabilities:
    """What the Responses wire adds: instructions apart, and pictures in tools' results."""
    # It has no sounds.
    media = frozenset(each for each in taken.media if not each.startswith(("audio/", "video/")))
    return msgspec.structs.replace(taken, media=media, tool_media=media, system_param=True, system_inside=True)
