"""What the Claude models differ in, by the beginning of their names; the longest one counts.

Sources: the vendor's model overview and its pages on thinking, effort and tool choice, as of its API of 2026-10-21.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of model. The defaults suit an unknown one, as of a compatible server.

    Attributes:
        thinking: How it is told to think: ``budget`` by a number of tokens, ``adaptive`` by leave to; empty where it
            can not.
        off: How it is told not to think: by leaving thinking away, by a ``type`` of that name, or not at all.
        effort: Whether it takes ``output_config.effort``.
        forced: Whether it can be made to call a tool.
        schema: Whether it can be held to a schema.
        max_output: The bound of an answer, thoughts included, in tokens.
        context_window: In tokens.
    """

    thinking: Literal["", "budget", "adaptive"] = ""
    off: Literal["", "disabled", "between_tools", "never"] = ""
    effort: bool = False
    forced: bool = True
    schema: bool = False
    max_output: int = 8192
    context_window: int | None = None


_WINDOW, _LARGE_WINDOW = 200_000, 1_000_000

_THREE = Family(max_output=4096, context_window=_WINDOW)
_FOUR = Family(thinking="budget", max_output=8192, context_window=_WINDOW)
_FOUR_FIVE = Family(thinking="budget", schema=True, max_output=64_000, context_window=_WINDOW)
_FOUR_SIX = Family(thinking="adaptive", effort=True, schema=True, max_output=128_000, context_window=_WINDOW)
_FIVE = Family(
    thinking="adaptive",
    off="disabled",
    effort=True,
    schema=True,
    max_output=128_000,
    context_window=_LARGE_WINDOW,
)
_ALWAYS = msgspec.structs.replace(_FIVE, off="never")
_UNFORCED = msgspec.structs.replace(_FIVE, off="never", forced=False)

_FAMILIES: tuple[tuple[str, Family], ...] = (
    ("claude-3", _THREE),
    ("claude-3-5", msgspec.structs.replace(_THREE, max_output=8192)),
    ("claude-3-7", _FOUR),
    ("claude-4", _FOUR),
    ("claude-opus-4", _FOUR),
    ("claude-sonnet-4", _FOUR),
    ("claude-opus-4-1", msgspec.structs.replace(_FOUR, schema=True)),
    ("claude-haiku-4-5", _FOUR_FIVE),
    ("claude-sonnet-4-5", _FOUR_FIVE),
    ("claude-opus-4-5", msgspec.structs.replace(_FOUR_FIVE, effort=True)),
    ("claude-sonnet-4-6", _FOUR_SIX),
    ("claude-opus-4-6", _FOUR_SIX),
    ("claude-opus-4-7", _FOUR_SIX),
    ("claude-opus-4-8", _FOUR_SIX),
    ("claude-haiku-5", _FIVE),
    ("claude-sonnet-5", _FIVE),
    ("claude-opus-5", _FIVE),
    ("claude-fable-5", _ALWAYS),
    ("claude-mythos-5", _ALWAYS),
    ("claude-mythos-preview", _ALWAYS),
    ("claude-opus-5-5", _UNFORCED),
    ("claude-fable-5-1", _UNFORCED),
    ("claude-mythos-5-1", _UNFORCED),
    ("claude-fable-5-2", _UNFORCED),
    ("claude-mythos-5-2", _UNFORCED),
    ("claude-sonnet-5-5", msgspec.structs.replace(_FIVE, off="between_tools", forced=False)),
)

_UNKNOWN = Family()


def family_of(model: str) -> Family:
    """The family of a model of that name."""
    found = [(len(prefix), family) for prefix, family in _FAMILIES if model.startswith(prefix)]
    return max(found, key=lambda each: each[0])[1] if found else _UNKNOWN
