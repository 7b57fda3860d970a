"""What the Gemini models differ in, by their names.

Source: the vendor's tables of thinking levels and budgets, as of 2026-10.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

_GENERATION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH")

_FEWER_LEVELS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gemini-3.1-flash-lite-image", ("MINIMAL", "HIGH")),
    ("gemini-3-pro", ("LOW", "HIGH")),
    ("gemini-3.1-pro", ("LOW", "MEDIUM", "HIGH")),
    ("gemini-3.7-flash", ("LOW", "MEDIUM", "HIGH")),
    ("gemini-3.8-flash", ("LOW", "MEDIUM", "HIGH")),
    ("gemini-4", ("LOW", "MEDIUM", "HIGH")),
)

_BUDGETS: Mapping[str, int] = MappingProxyType({"low": 2048, "medium": 8192, "high": 24_576})
_WANTED: Mapping[str, int] = MappingProxyType({"none": 0, "low": 1, "medium": 2, "high": 3})


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of model.

    Attributes:
        thinking: How it is told to think: ``budget`` by a number of tokens, ``level`` by a word; empty where it does
            not.
        levels: The words it knows, the least first.
        least_budget: The least number of tokens it takes.
        signs: Whether it refuses calls of the current turn that come back without the signature of its thoughts.
        tools: Whether it calls tools.
        sampling: Whether temperature and the like may be given.
    """

    thinking: Literal["", "budget", "level"] = "level"
    levels: tuple[str, ...] = _LEVELS
    least_budget: int = 0
    signs: bool = True
    tools: bool = True
    sampling: bool = True

    def thinks(self, effort: str) -> dict[str, str | int | bool] | None:
        """The ``thinkingConfig`` for an effort: the nearest there is, the lesser of two that are as near."""
        if not self.thinking:
            return None
        shown = {"includeThoughts": True} if effort != "none" else {}
        if self.thinking == "budget":
            return {**shown, "thinkingBudget": max(self.least_budget, _BUDGETS.get(effort, 0))}
        wanted = _WANTED[effort]
        level = min(self.levels, key=lambda each: abs(_LEVELS.index(each) - wanted))
        return {**shown, "thinkingLevel": level}


def family_of(model: str) -> Family:
    """The family of a model of that name; one that is unknown is taken for a new one."""
    found = _GENERATION.search(model)
    image = "image" in model
    if "gemma" in model:
        return Family(thinking="", signs=False)
    generation = (int(found[1]), int(found[2] or 0)) if found else (3, 0)
    if generation < (2, 5):
        return Family(thinking="", signs=False)
    if generation < (3, 0):
        least = 128 if "pro" in model else 0
        return Family(thinking="" if image else "budget", least_budget=least, signs=False, tools=not image)
    levels = next((levels for prefix, levels in _FEWER_LEVELS if model.startswith(prefix)), _LEVELS)
    return Family(levels=levels, tools=not image, sampling="hydrogen" not in model)
