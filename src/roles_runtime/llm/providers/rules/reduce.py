"""Rewriting items by rules: a pattern over their letters, and what it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec

from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.llm.providers.rules.segments import Item

Items: TypeAlias = tuple[Item, ...]
Action: TypeAlias = Callable[[Schema, Items], "Items | None"]


class Rule(msgspec.Struct, frozen=True):
    """A pattern over letters, and the items that take the place of those it matches; None declines.

    Attributes:
        pattern, action: The two of them.
        apart: Whether the rule declines where the column of a number follows, which may be what is meant.
    """

    pattern: re.Pattern[str]
    action: Action
    apart: bool = False


def rule(pattern: str, action: Action, *, apart: bool = False) -> Rule:
    """A rule from the text of its pattern; blanks in it are for the reader."""
    return Rule(re.compile(pattern.replace(" ", "")), action, apart)


def letters(items: Items) -> str:
    """One letter an item."""
    return "".join(item.letter for item in items)


def only(items: Items, kinds: str) -> Items:
    """The items of these letters."""
    return tuple(item for item in items if item.letter in kinds)


def without(items: Items, kinds: str) -> Items:
    """The items of all other letters."""
    return tuple(item for item in items if item.letter not in kinds)


def reduce_items(schema: Schema, items: Items, rules: Iterable[Rule]) -> Items:
    """Applies the rules one after the other, each from left to right until it finds nothing more."""
    for each in rules:
        start = 0
        while match := each.pattern.search(letters(items), start):
            blocked = each.apart and _number_follows(schema, items[match.end() :])
            replaced = None if blocked else each.action(schema, items[match.start() : match.end()])
            if replaced is None:
                start = match.start() + 1
            else:
                items = items[: match.start()] + replaced + items[match.end() :]
                start = match.start() + (0 if len(replaced) < match.end() - match.start() else len(replaced))
    return items


def _number_follows(schema: Schema, rest: Items) -> bool:
    following = next((item for item in rest if item.letter != "o"), None)
    return following is not None and following.letter == "C" and schema.numeric(following.column)
