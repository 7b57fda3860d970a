"""Marks inside a message: what stands between temporal ones is shown in the round under way only."""

from __future__ import annotations

from typing import TypeAlias

Delimiter: TypeAlias = tuple[str, str]
"""The mark that opens a part, and the one that closes it."""

DELIMITER_TEMPORAL: Delimiter = ("{{DELIMITER_START_TEMPORAL}}", "{{DELIMITER_END_TEMPORAL}}")
"""Round what only the present round needs: a long execution result, as a rule."""


def all_delimiters() -> tuple[Delimiter, ...]:
    """Every pair that stands in this module under a name ``DELIMITER_…``: a new one needs no registration."""
    return tuple([value for name, value in globals().items() if name.startswith("DELIMITER_")])


def wrap_text_with_delimiter(text: str, delimiter: Delimiter = DELIMITER_TEMPORAL) -> str:
    """Puts the text between the two marks."""
    return f"{delimiter[0]}{text}{delimiter[1]}"


def remove_parts(text: str, delimiter: Delimiter = DELIMITER_TEMPORAL) -> str:
    """Cuts each part, its marks included: from an opening mark to the first closing one after it.

    A mark without its partner stays as it is.
    """
    opening, closing = delimiter
    kept, position = [], 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + len(closing)
    return "".join(kept) + text[position:] if kept else text


def remove_delimiter(text: str, delimiter: Delimiter = DELIMITER_TEMPORAL) -> str:
    """Takes the two marks off, and leaves what stands between them."""
    return text.replace(delimiter[0], "").replace(delimiter[1], "")


def remove_all_delimiters(text: str) -> str:
    """Takes the marks of every pair off."""
    for delimiter in all_delimiters():
        text = remove_delimiter(text, delimiter)
    return text
