"""From a question to a `Query`: items are reduced to clauses, and what is left must be one known core."""

from __future__ import annotations

import re
from typing import cast

import msgspec

from roles_runtime.llm.providers.rules.clauses import CLAUSE_RULES, MEASURE_RULES, rows_hold
from roles_runtime.llm.providers.rules.cores import core_query
from roles_runtime.llm.providers.rules.filters import FILTER_RULES
from roles_runtime.llm.providers.rules.frame import Frame
from roles_runtime.llm.providers.rules.query import PlotKind, Query
from roles_runtime.llm.providers.rules.reduce import Items, letters, only, reduce_items, without
from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.llm.providers.rules.segments import Item, readings, unknown_words
from roles_runtime.llm.providers.rules.sense_check import in_time_order, makes_sense
from roles_runtime.llm.providers.rules.tokens import Token, tokenize

_MOST_TOKENS = 60
_FAR_FETCHED = 9
"""How much more than the plainest reading another one may cost: less than cutting the question differently."""

_COMPOUND = re.compile(r"O[wo]*CR")
"""``sum of rain days``: a column before the noun of the rows makes another noun of it."""


class Understood(msgspec.Struct, frozen=True):
    """The one plain meaning of a question."""

    query: Query


class NotUnderstood(msgspec.Struct, frozen=True):
    """Why a question is refused.

    Attributes:
        words: Those that mean nothing here.
        meanings: How many meanings it could have, where there are several.
    """

    words: tuple[str, ...] = ()
    meanings: int = 0


def understand(question: str, schema: Schema) -> Understood | NotUnderstood:
    """What a question about this table asks for.

    Every word must be accounted for, and the cheapest reading that parses must be the only one at its price.
    """
    tokens = tokenize(question)
    if question.isupper() and sum(token.kind == "word" for token in tokens) > 2:
        # in capitals throughout, "IN" is no value
        tokens = tokenize(question.lower())
    if not tokens or len(tokens) > _MOST_TOKENS:
        return NotUnderstood()
    unknown = unknown_words(tokens, schema.phrases)
    if unknown:
        return NotUnderstood(words=unknown)
    found = _cheapest(tokens, schema)
    if len(found) == 1:
        return Understood(found[0])
    return NotUnderstood(meanings=len(found))


def _cheapest(tokens: tuple[Token, ...], schema: Schema) -> list[Query]:
    """All different queries of the lowest price at which there are any."""
    found: list[Query] = []
    price: int | None = None
    for reading in readings(tokens, schema.phrases):
        if price is None:
            price = reading.cost + _FAR_FETCHED
        if reading.cost > price:
            break
        query = parse(reading.items, schema)
        if query is not None:
            price = reading.cost
            if query not in found:
                found.append(query)
    return found


def parse(items: Items, schema: Schema) -> Query | None:
    """The query that one reading stands for, or None."""
    frame = frame_of(items, schema)
    query = None if frame is None else core_query(frame)
    if query is None or not makes_sense(schema, query):
        return None
    query = in_time_order(schema, query)
    if only(items, "c") and not query.groups:
        return None
    return None if only(items, "x") and not _is_of_amounts(query) else query


def frame_of(items: Items, schema: Schema) -> Frame | None:
    """The clauses of one reading and the core that is left of it, or None where they do not go together."""
    items = without(items, "_xc")
    if not all(rows_hold(schema, item) for item in only(items, "R")):
        return None
    plots = _plots(items)
    if len(plots) > 1:
        return None
    plot = plots[0] if plots else None
    items = reduce_items(schema, items, FILTER_RULES)
    if _COMPOUND.search(letters(items)):
        return None
    items = without(items, "ow")
    filters = tuple(item.filter for item in items if item.filter is not None)
    items = _tidy(without(items, "fG"))
    if letters(items) == "H" and not filters:
        return None
    items = reduce_items(schema, items, MEASURE_RULES)
    items = reduce_items(schema, items, CLAUSE_RULES)
    joined = "CC" not in letters(items)
    items = without(items, "&")
    groups = tuple(dict.fromkeys(group for item in items for group in item.groups))
    if len(only(items, "s")) > 1:
        return None
    return Frame(
        schema=schema,
        core=without(items, "gs" if plot is None else "gsE"),
        sorts=only(items, "s"),
        groups=groups,
        filters=filters,
        plot=plot,
        over_time=any(item.arg == "time" for item in only(items, "g")),
        per_period=any(item.arg == "per" for item in only(items, "g")),
        joined=joined,
    )


def _is_of_amounts(query: Query) -> bool:
    """What is "sold" is an amount; the number of rows in which it was sold is something else."""
    return query.kind != "aggregate" or all(measure.op not in ("count", "nunique") for measure in query.measures)


def _tidy(items: Items) -> Items:
    """Connectives that join nothing any more are dropped: at the ends, and one beside another."""
    kept: list[Item] = []
    for item in items:
        if item.letter == "&" and (not kept or kept[-1].letter == "&"):
            continue
        kept.append(item)
    while kept and kept[-1].letter == "&":
        kept.pop()
    return tuple(kept)


def _plots(items: Items) -> tuple[PlotKind, ...]:
    """The kinds of picture that are asked for; a plain "plot" gives way to a kind that is named."""
    kinds = tuple(dict.fromkeys(cast("PlotKind", item.arg) for item in only(items, "G")))
    return tuple(kind for kind in kinds if kind != "auto") or kinds
