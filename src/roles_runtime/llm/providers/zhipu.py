"""Zhipu's GLM models, over OpenAI's chat wire. Needs the extra ``[openai]``."""

from __future__ import annotations

import re

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.providers.openai.model import WiredModel
from roles_runtime.llm.providers.openai.names import PICTURES
from roles_runtime.llm.providers.openai.profile import Profile

_SEES = re.compile(r"glm-\d+(\.\d+)?v", re.IGNORECASE)
_THINKS = re.compile(r"glm-(4\.[5-9]|4\.1v|z1|[5-9])", re.IGNORECASE)


def zhipu_capabilities(model: str) -> Capabilities:
    """What a GLM takes, by its name: a V behind the number sees."""
    media = PICTURES | {"video/mp4"} if _SEES.match(model) else frozenset()
    return Capabilities(media=media, reasoning=_THINKS.match(model) is not None)


ZHIPU = Profile(
    provider="zhipu",
    base_url="https://open.bigmodel.cn/api/paas/v4",
    key_variables=("ZHIPUAI_API_KEY", "ZAI_API_KEY"),
    capabilities=zhipu_capabilities,
    # The usage comes unasked.
    usage_option=False,
    auto_only=True,
    # Both bounds are open.
    sampling_range=(0.01, 0.99),
    thoughts_back="own",
    thinking_switch=True,
    efforts={},
    raw_base64=True,
    schema="json_object",
)


class ZhipuModel(WiredModel):
    """A GLM of Zhipu; with ``base_url="https://api.z.ai/api/paas/v4"`` the one for the rest of the world."""

    profile = ZHIPU
