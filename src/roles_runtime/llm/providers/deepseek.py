"""DeepSeek's models, over OpenAI's chat wire. Needs the extra ``[openai]``."""

from __future__ import annotations

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.providers.openai.model import WiredModel
from roles_runtime.llm.providers.openai.profile import Profile


def deepseek_capabilities(model: str) -> Capabilities:
    """What a DeepSeek takes: all see nothing, and think unless they are told not to."""
    del model
    return Capabilities(reasoning=True)


DEEPSEEK = Profile(
    provider="deepseek",
    base_url="https://api.deepseek.com",
    key_variables=("DEEPSEEK_API_KEY",),
    capabilities=deepseek_capabilities,
    # Where a tool was called it refuses every message of the model without the field, and elsewhere it ignores it.
    thoughts_back="always",
    thinking_switch=True,
    efforts={"low": "low", "medium": "high", "high": "high"},
    schema="json_object",
)


class DeepSeekModel(WiredModel):
    """A model of DeepSeek."""

    profile = DEEPSEEK
