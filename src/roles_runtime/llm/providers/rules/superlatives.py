"""Superlatives and ranks: which one has the most, the highest, the top five."""

from __future__ import annotations

import msgspec

from roles_runtime.llm.providers.rules.frame import Frame, entity_groups
from roles_runtime.llm.providers.rules.query import Group, Measure, Query
from roles_runtime.llm.providers.rules.reduce import only
from roles_runtime.llm.providers.rules.segments import Item


def _direction(item: Item) -> tuple[str, str]:
    """``max`` or ``min``, and of what the word speaks."""
    word, _, hint = item.arg.partition(":")
    return {"most": "max", "least": "min"}.get(word, word), hint


def best_group(frame: Frame) -> Query | None:
    """``which region has the highest average sales``."""
    groups, number = entity_groups(frame), frame.number()
    measures = only(frame.core, "m")[0].measure
    if groups is None or number is None or len(measures) != 1 or frame.groups or frame.sorts:
        return None
    direction, hint = _direction(only(frame.core, "S")[0])
    if hint:
        return None
    return frame.query(
        "aggregate", measures=measures, groups=groups, order="", descending=direction == "max", limit=number
    )


def best_of_groups(frame: Frame) -> Query | None:
    """``the top 3 total sales by region``."""
    direction = only(frame.core, "T")[0].arg
    number = frame.number()
    measures = only(frame.core, "m")[0].measure
    if number is None or direction not in ("max", "min") or not frame.groups or frame.sorts or len(measures) != 1:
        return None
    return frame.query(
        "aggregate", measures=measures, groups=frame.groups, order="", descending=direction == "max", limit=number
    )


def most_rows(frame: Frame) -> Query | None:
    """``which region has the most orders``."""
    sup = only(frame.core, "S")[0]
    if sup.arg not in ("most", "least"):
        return None
    groups, number = entity_groups(frame), frame.number()
    if groups is None or number is None or frame.groups or frame.sorts:
        return None
    return frame.query(
        "aggregate",
        measures=(Measure("count"),),
        groups=groups,
        order="",
        descending=sup.arg == "most",
        limit=number,
    )


def most_values(frame: Frame) -> Query | None:
    """``which continent has the most countries``: the different ones are counted."""
    sup, columns = only(frame.core, "S")[0], frame.columns()
    if sup.arg not in ("most", "least") or len(columns) != 2 or frame.groups or frame.sorts:
        return None
    if not all(map(frame.schema.category, columns)) or not frame.schema.repeats(columns[0]):
        return None
    return frame.query(
        "aggregate",
        measures=(Measure("nunique", columns[1]),),
        groups=(Group(columns[0]),),
        order="",
        descending=sup.arg == "most",
        limit=1,
    )


def bare_extreme(frame: Frame) -> Query | None:
    """``the oldest Latino``: where rows are people, and a filter says which."""
    direction, hint = _direction(only(frame.core, "S")[0])
    number = frame.number()
    target = frame.schema.hinted(hint, direction) if hint == "age" else None
    if target is None or number is None or frame.groups or frame.sorts or not frame.schema.rows_are_people():
        return None
    valued = any(each.op == "==" and not each.part for each in frame.filters)
    shown = tuple(dict.fromkeys((*frame.schema.labels(), target)))
    return _rows_by(frame, shown, target, direction == "max", number) if valued else None


def common(frame: Frame) -> Query | None:
    """``the most common weather``, ``the top 3 most frequent names``."""
    groups, number = entity_groups(frame), frame.number()
    ranks = only(frame.core, "T")
    if groups is None or number is None or frame.groups or frame.sorts or any(item.arg != "max" for item in ranks):
        return None
    descending = only(frame.core, "M")[0].arg == "max"
    return frame.query(
        "aggregate", measures=(Measure("count"),), groups=groups, order="", descending=descending, limit=number
    )


def extreme(frame: Frame) -> Query | None:
    """Superlatives with a column: of a thing (``which car has the highest …``) or of the column alone."""
    if frame.sorts:
        return None
    direction, hint = _direction(only(frame.core, "S")[0])
    columns = frame.columns()
    if hint:
        return _extreme_by_hint(frame, columns, direction, hint)
    numbers = [column for column in columns if frame.schema.numeric(column)]
    if len(columns) == 2 and len(numbers) == 2:
        numbers = numbers[1:] if frame.schema.groupable(columns[0]) and not frame.schema.groupable(columns[1]) else []
    if len(numbers) != 1:
        return None
    others = [column for column in columns if column not in numbers]
    return _extreme_of(frame, numbers[0], others, direction)


def _extreme_by_hint(frame: Frame, columns: tuple[str, ...], direction: str, hint: str) -> Query | None:
    target = frame.schema.hinted(hint, direction)
    measured = [column for column in columns if frame.schema.numeric(column)]
    if measured:
        # "the longest flipper": the column is named, and must be of the kind that the word speaks of
        if len(measured) > 1 or not frame.schema.is_kind(measured[0], hint):
            return None
        target = measured[0]
    if target is None or (hint == "price" and only(frame.core, "R") and frame.schema.per_unit(target)):
        return None
    others = [column for column in columns if column != target]
    if hint == "date" and not others and only(frame.core, "CP"):
        return frame.query("aggregate", measures=(Measure("max" if direction == "max" else "min", target),))
    periods = [item for item in only(frame.core, "P") if item.arg != "day"]
    if (hint == "date" and only(frame.core, "P")) or (periods and not frame.schema.additive(target)):
        # "the hottest month": by its hottest day, or on average?
        return None
    return _extreme_of(frame, target, others, direction)


def _extreme_of(frame: Frame, target: str, others: list[str], direction: str) -> Query | None:
    """The extreme of a column: a number, a row, or the group that holds it."""
    entity = only(frame.core, "RP")
    most = only(frame.core, "S")[0].arg in ("most", "least")
    descending, number = direction == "max", frame.number()
    if number is None or len(entity) + len(others) > 1:
        return None
    if not entity and not others:
        if only(frame.core, "N"):
            return _rows_by(frame, (target,), target, descending, number)
        if most:
            return None
        return frame.query(
            "aggregate", measures=(Measure("max" if descending else "min", target),), groups=frame.groups
        )
    if frame.groups:
        return None
    if entity and entity[0].letter == "R":
        return _rows_by(frame, _shown(frame, target, entity[0]), target, descending, number)
    if others and not frame.schema.repeats(others[0]):
        return _rows_by(frame, (others[0], target), target, descending, number)
    return _group_with_extreme(frame, target, descending, number, most)


def _group_with_extreme(frame: Frame, target: str, descending: bool, number: int, most: bool) -> Query | None:
    groups = _entity_groups_without(frame, target)
    if groups is None:
        return None
    if frame.schema.additive(target):
        measure = Measure("sum", target)
    elif most:
        return None
    else:
        measure = Measure("max" if descending else "min", target)
    return frame.query("aggregate", measures=(measure,), groups=groups, order="", descending=descending, limit=number)


def _entity_groups_without(frame: Frame, target: str) -> tuple[Group, ...] | None:
    rest = tuple(item for item in frame.core if item.column != target)
    return entity_groups(msgspec.structs.replace(frame, core=rest))


def _shown(frame: Frame, target: str, entity: Item) -> tuple[str, ...]:
    """What is shown of a row: what tells it apart and what it is chosen for; a whole row where that is asked."""
    if entity.arg == "row":
        return ()
    return tuple(dict.fromkeys((*frame.schema.labels(), target)))


def _rows_by(frame: Frame, shown: tuple[str, ...], order: str, descending: bool, number: int) -> Query | None:
    return frame.query("rows", columns=shown, order=order, descending=descending, limit=number)


def of_the_extreme_row(frame: Frame) -> Query | None:
    """``the price of the car with the highest horsepower``."""
    items = frame.core
    shown, order = items[0].column, items[-1].column
    if items[1].letter == "S":
        shown, order = order, shown
    direction, hint = _direction(only(items, "S")[0])
    if frame.groups or frame.sorts or not frame.schema.numeric(order) or shown == order:
        return None
    if hint and not frame.schema.is_kind(order, hint):
        return None
    return _rows_by(frame, (shown, order), order, direction == "max", 1)


def ranked(frame: Frame) -> Query | None:
    """``top 5 … by …``."""
    direction, by = only(frame.core, "k")[0].arg, frame.core[-1]
    number, entity = frame.number(), frame.core[-2]
    if number is None or frame.groups or frame.sorts or direction not in ("max", "min"):
        return None
    descending = direction == "max"
    if by.letter == "m":
        if len(by.measure) != 1 or entity.letter not in "CP":
            return None
        groups = entity_groups(msgspec.structs.replace(frame, core=(entity,)))
        if groups is None:
            return None
        return frame.query(
            "aggregate", measures=by.measure, groups=groups, order="", descending=descending, limit=number
        )
    return ranked_by_column(frame, entity, by.column, descending, number)


def ranked_by_column(frame: Frame, entity: Item, by: str, descending: bool, number: int) -> Query | None:
    """The first things of a kind: rows where each thing has one, groups where their sum is plainly meant."""
    if entity.letter == "R":
        return _rows_by(frame, _shown(frame, by, entity), by, descending, number)
    if entity.letter in "kN":
        return _rows_by(frame, (), by, descending, number)
    if entity.letter == "P" or frame.schema.repeats(entity.column):
        if not frame.schema.additive(by):
            dated = any(each.part or frame.schema.whole_years(each.column) for each in frame.filters)
            picked = dated and entity.letter == "C"
            return _rows_by(frame, (entity.column, by), by, descending, number) if picked else None
        groups = entity_groups(msgspec.structs.replace(frame, core=(entity,)))
        if groups is None:
            return None
        return frame.query(
            "aggregate",
            measures=(Measure("sum", by),),
            groups=groups,
            order="",
            descending=descending,
            limit=number,
        )
    return _rows_by(frame, tuple(dict.fromkeys((entity.column, by))), by, descending, number)


def top_entity(frame: Frame) -> Query | None:
    """``top 3 products in total sales``."""
    groups, number = entity_groups(frame), frame.number()
    direction, measures = only(frame.core, "T")[0].arg, only(frame.core, "m")[0].measure
    if groups is None or number is None or direction not in ("max", "min") or len(measures) != 1:
        return None
    if frame.groups or frame.sorts:
        return None
    return frame.query(
        "aggregate", measures=measures, groups=groups, order="", descending=direction == "max", limit=number
    )


def column_top(frame: Frame) -> Query | None:
    """``马力前5的车``: the column stands first; ``the top 5 prices``: it stands alone."""
    by = only(frame.core, "C")[0].column
    entity, direction = frame.core[-1], only(frame.core, "T")[0].arg
    number = frame.number()
    if number is None or direction not in ("max", "min") or frame.groups or frame.sorts:
        return None
    if not frame.schema.numeric(by):
        return None
    if entity.column == by:
        return _rows_by(frame, (by,), by, direction == "max", number)
    return ranked_by_column(frame, entity, by, direction == "max", number)
