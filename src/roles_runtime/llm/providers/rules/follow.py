"""Questions that lean on the one before: "plot them by month", "and the median?", "what about West?"."""

from __future__ import annotations

from typing import cast

import msgspec

from roles_runtime.llm.providers.rules.frame import Frame, sort
from roles_runtime.llm.providers.rules.grammar import NotUnderstood, Understood, frame_of, understand
from roles_runtime.llm.providers.rules.lexicon_en import FOLLOW_UP_EN
from roles_runtime.llm.providers.rules.lexicon_zh import FOLLOW_UP_ZH
from roles_runtime.llm.providers.rules.query import Filter, Measure, Op, Query
from roles_runtime.llm.providers.rules.reduce import letters, only, without
from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.llm.providers.rules.segments import readings
from roles_runtime.llm.providers.rules.sense_check import in_time_order, makes_sense
from roles_runtime.llm.providers.rules.tokens import tokenize

_AMBIGUOUS = NotUnderstood(meanings=2)


def understand_in_turn(questions: tuple[str, ...], schema: Schema) -> Understood | NotUnderstood:
    """What the last question asks for, where each may lean on the one before it."""
    understood: Understood | NotUnderstood = NotUnderstood()
    for question in questions:
        before = understood.query if isinstance(understood, Understood) else None
        understood = _understand_after(question, before, schema)
    return understood


def _understand_after(question: str, before: Query | None, schema: Schema) -> Understood | NotUnderstood:
    alone = understand(question, schema)
    if before is None:
        return alone
    leaning, rest = _without_opening(question)
    if isinstance(alone, Understood) and not leaning:
        return alone
    followed = follow(rest, before, schema)
    if followed is not None:
        return Understood(followed)
    if isinstance(alone, Understood) and (before.filters or before.groups):
        # "and the average price?": of all, or as before? Only a question with clauses of its own is plain.
        return alone if alone.query.filters or alone.query.groups or alone.query.kind != "aggregate" else _AMBIGUOUS
    return alone


def leans(question: str) -> bool:
    """Whether a question begins like one that leans on the one before."""
    return _without_opening(question)[0]


def _without_opening(question: str) -> tuple[bool, str]:
    text = question.strip()
    for opening in (*FOLLOW_UP_EN, *FOLLOW_UP_ZH):
        if text.lower().startswith(opening):
            return True, text[len(opening) :]
    return False, text


def follow(question: str, before: Query, schema: Schema) -> Query | None:
    """The query before, with what this question changes in it; None where it changes nothing plainly."""
    tokens = tokenize(question)
    if not tokens or before.file != schema.file.name:
        return None
    found: list[Query] = []
    price: int | None = None
    for reading in readings(tokens, schema.phrases):
        if price is not None and reading.cost > price:
            break
        frame = frame_of(reading.items, schema)
        query = None if frame is None else _changed(frame, before)
        if query is not None and query != before and makes_sense(schema, query):
            query, price = in_time_order(schema, query), reading.cost
            if query not in found:
                found.append(query)
    return found[0] if len(found) == 1 else None


def _changed(frame: Frame, before: Query) -> Query | None:
    core = without(frame.core, "E")
    match letters(core):
        case "":
            query: Query | None = before
        case "O":
            query = _other_operation(frame, before, cast("Op", core[0].arg))
        case "C":
            query = _other_column(frame, before, core[0].column)
        case "T" | "TN":
            direction = only(core, "T")[0].arg
            number = frame.number()
            if number is None or direction not in ("max", "min") or not before.groups:
                return None
            query = msgspec.structs.replace(before, order="", descending=direction == "max", limit=number)
        case _:
            return None
    return None if query is None else _with_clauses(frame, query)


def _other_operation(frame: Frame, before: Query, op: Op) -> Query | None:
    columns = [measure.column for measure in before.measures]
    fits = bool(columns) and all(column and frame.schema.numeric(column) for column in columns)
    if before.kind != "aggregate" or not fits:
        return None
    measures = tuple(dict.fromkeys(Measure(op, column) for column in columns))
    return msgspec.structs.replace(before, measures=measures)


def _other_column(frame: Frame, before: Query, column: str) -> Query | None:
    if len(before.measures) != 1 or not before.measures[0].column or not frame.schema.numeric(column):
        return None
    return msgspec.structs.replace(before, measures=(Measure(before.measures[0].op, column),))


def _with_clauses(frame: Frame, query: Query) -> Query | None:
    if frame.groups:
        if query.kind != "aggregate":
            return None
        query = msgspec.structs.replace(query, groups=frame.groups)
    if frame.filters:
        query = msgspec.structs.replace(query, filters=_merged(query.filters, frame.filters))
    order, descending = sort(frame)
    if order is not None:
        if frame.sorts[0].measure or (order == "" and not query.groups):
            return None
        query = msgspec.structs.replace(query, order=order, descending=descending)
    if frame.plot is not None:
        query = msgspec.structs.replace(query, plot=frame.plot)
    return query


def _merged(before: tuple[Filter, ...], new: tuple[Filter, ...]) -> tuple[Filter, ...]:
    """A new filter takes the place of the old one of its column."""
    replaced = {each.column for each in new}
    return (*(each for each in before if each.column not in replaced), *new)
