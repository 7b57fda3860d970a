"""Doubao and the other models of Volcano Engine's Ark, over OpenAI's chat wire. Needs the extra ``[openai]``."""

from __future__ import annotations

import re

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.providers.openai.model import WiredModel
from roles_runtime.llm.providers.openai.names import PICTURES
from roles_runtime.llm.providers.openai.profile import Profile

_SEES = re.compile(r"vision|doubao-seed-[1-9]", re.IGNORECASE)
_THINKS = re.compile(r"doubao-seed|thinking|deepseek", re.IGNORECASE)


def doubao_capabilities(model: str) -> Capabilities:
    """What a model of Ark takes, by its name; of an endpoint's id (``ep-…``) nothing is known."""
    media = PICTURES | {"video/mp4"} if _SEES.search(model) else frozenset()
    return Capabilities(media=media, reasoning=_THINKS.search(model) is not None, schema=not model.startswith("ep-"))


DOUBAO = Profile(
    provider="doubao",
    base_url="https://ark.cn-beijing.volces.com/api/v3",
    key_variables=("ARK_API_KEY",),
    capabilities=doubao_capabilities,
    thinking_switch=True,
    efforts={},
)


class DoubaoModel(WiredModel):
    """A model of Ark, by its name or by an endpoint's id."""

    profile = DOUBAO
