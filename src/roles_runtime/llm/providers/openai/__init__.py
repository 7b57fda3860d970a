"""OpenAI's models, and those of every server that speaks its wires. Needs the extra ``[openai]``."""

from __future__ import annotations

from roles_runtime.llm.providers.openai.chat import ChatAdapter
from roles_runtime.llm.providers.openai.client import OpenAIConnection, is_openai
from roles_runtime.llm.providers.openai.model import Wire, WiredModel
from roles_runtime.llm.providers.openai.profile import COMPATIBLE, OPENAI, Profile
from roles_runtime.llm.providers.openai.responses import ResponsesAdapter

__all__ = ["ChatAdapter", "OpenAIConnection", "OpenAIModel", "Profile", "ResponsesAdapter", "WiredModel"]


class OpenAIModel(WiredModel):
    """A model of OpenAI, over the Responses wire; with a `base_url`, one of any compatible server, over the chat wire.

    A compatible server is never sent OpenAI's key: give ``api_key``, or set ``OPENAI_COMPATIBLE_API_KEY``. Without one
    it is asked without.
    """

    profile = OPENAI
    own_wire = "openai-responses"

    @classmethod
    def _served(cls, base_url: str | None) -> tuple[Profile, Wire]:
        if base_url is None or is_openai(base_url):
            return cls.profile, cls.own_wire
        return COMPATIBLE, "openai-chat"
