"""What a model takes, by its name: the providers themselves do not tell."""

from __future__ import annotations

import re

from roles_runtime.llm.adapter import Capabilities

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
PDF = "application/pdf"
SOUNDS = frozenset({"audio/wav", "audio/x-wav", "audio/mpeg"})

_BLIND = re.compile(r"gpt-3\.5|gpt-4(-\d{4}|-32k.*)?$|o1-mini|o1-preview|o3-mini")
_HEARS = re.compile(r"audio")
_REASONS = re.compile(r"o\d|gpt-([5-9]|\d\d)(?!.*-chat)|codex|gpt-oss")
_SEES = re.compile(
    r"vision|[-_]?vl\b|[-_]vl[-_]|\dv\b|llava|pixtral|gpt-4o|gpt-4\.1|gpt-[5-9]|gemma-?3|gemini|claude|omni|llama-4",
    re.IGNORECASE,
)


def openai_capabilities(model: str) -> Capabilities:
    """What a model of OpenAI's own takes; unknown names are taken for new ones, which see and reason."""
    reasons = _REASONS.match(model) is not None
    media: frozenset[str] = frozenset()
    if _HEARS.search(model):
        media = SOUNDS
    elif not _BLIND.match(model):
        media = PICTURES | {PDF}
    return Capabilities(
        media=media, system_inside=True, sampling=not reasons, reasoning=reasons, schema_with_tools=True
    )


def compatible_capabilities(model: str) -> Capabilities:
    """What a model on a server that nobody knows is taken to take: little, and pictures if its name speaks of them."""
    return Capabilities(media=PICTURES if _SEES.search(model) else frozenset())


def least_effort(model: str) -> str:
    """What a model of OpenAI's own is told that shall not think: not each can leave it."""
    if re.match(r"o\d", model):
        return "low"
    if re.match(r"gpt-5(-(mini|nano|codex).*|-\d{4}.*)?$", model):
        return "minimal"
    return "none"
