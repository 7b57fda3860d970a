"""What is worked out, for each of what, in which order: the rules for measures, ranks, sorting and groups."""

from __future__ import annotations

from typing import cast

from roles_runtime.llm.providers.rules.query import Group, Measure, Op, Part
from roles_runtime.llm.providers.rules.reduce import Items, Rule, only, rule, without
from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.llm.providers.rules.segments import Item

# -- measures: letter m


def _fits(schema: Schema, op: str, column: str) -> bool:
    return schema.numeric(column) or (op in ("min", "max") and schema.dated(column))


def _operations(schema: Schema, items: Items) -> Items | None:
    """Every operation of every column that is named."""
    ops = [cast("Op", item.arg) for item in only(items, "O")]
    columns = [item.column for item in only(items, "C")]
    if not all(_fits(schema, op, column) for op in ops for column in columns):
        return None
    return (Item("m", measure=tuple(Measure(op, column) for column in columns for op in ops)),)


def _distinct_count(schema: Schema, items: Items) -> Items | None:
    column = only(items, "C")[0].column
    return (Item("m", measure=(Measure("nunique", column),)),)


def _count_of_column(schema: Schema, items: Items) -> Items | None:
    column = only(items, "C")[0].column
    if schema.category(column):
        return (Item("m", measure=(Measure("nunique", column),)),)
    if schema.additive(column):
        return (Item("m", measure=(Measure("sum", column),)),)
    if schema.whole_years(column):
        part: Part = "year" if schema.dated(column) else ""
        return (Item("m", measure=(Measure("nunique", column, part),)),)
    return None


def _count_after_column(schema: Schema, items: Items) -> Items | None:
    """``城市有多少个``: in Chinese the column may stand first."""
    return _count_of_column(schema, items) if items[-1].arg == "zh" and schema.category(items[0].column) else None


def _count_of_parts(schema: Schema, items: Items) -> Items | None:
    """``how many months``: each month of each year once."""
    unit = only(items, "P")[0].arg
    column = schema.time_column(unit)
    if column is None or unit in ("weekday", "week"):
        return None
    part = {"month": "period_month", "quarter": "period_quarter"}.get(unit, unit) if schema.dated(column) else ""
    return (Item("m", measure=(Measure("nunique", column, cast("Part", part)),)),)


def rows_hold(schema: Schema, item: Item) -> bool:
    """Whether that noun may stand for this table's rows."""
    if item.arg == "person":
        return schema.rows_are_people()
    return item.arg in ("row", "thing") or schema.row_span_is(item.arg)


def _count_of_rows(schema: Schema, items: Items) -> Items | None:
    if not all(rows_hold(schema, item) for item in only(items, "R")):
        return None
    return (Item("m", measure=(Measure("count"),)),)


def _amount(schema: Schema, items: Items) -> Items | None:
    column = only(items, "C")[0].column
    return (Item("m", measure=(Measure("sum", column),)),) if schema.additive(column) else None


MEASURE_RULES: tuple[Rule, ...] = (
    rule("U? O (?:&+ O)+ C (?: &+ C)*", _operations),
    rule("U? (?<!O) O C (?: &+ C)* (?![AXI])", _operations),
    rule("U? (?<!O) O C", _operations),
    rule("(?<![BZXO]) C (?: &+ C)* O (?: &+ O)* (?!&*[CO])", _operations),
    rule("(?<!O) C O (?: &+ O)* (?!&*[CO])", _operations),
    rule("H D C | D C H | (?<!B) C H D", _distinct_count),
    rule("H R (?! &? [JI] | R ) | (?<![B&]) R H", _count_of_rows),
    rule("H C (?![OSMIR])", _count_of_column),
    rule("(?<![BO]) C H (?![OSMIR])", _count_after_column),
    rule("H P", _count_of_parts),
    rule("U C", _amount),
    rule("H (?= f* (?:[Bpg@] | $) )", _count_of_rows),
)


# -- ranks, sorting, groups


def _rank(schema: Schema, items: Items) -> Items | None:
    """``top 5 … by …``: letter k; the number of rows in front, then what is ranked, then by what."""
    by, first = items[-1], only(items, "TS")[0]
    if by.letter == "C" and not schema.numeric(by.column) and not schema.dated(by.column):
        return None
    kept = without(items[:-1], "TSB")
    if first.letter == "S" and (":" in first.arg or any(schema.numeric(item.column) for item in only(kept, "C"))):
        return None
    arg = {"most": "max", "least": "min"}.get(first.arg, first.arg)
    return (Item("k", arg=arg), *kept, by)


def _sorted_by(schema: Schema, items: Items) -> Items | None:
    """``sort … by … descending``: letter s, with the column or the measure."""
    directions = {item.arg for item in only(items, "zZ") if item.arg}
    if len(directions) > 1:
        return None
    measure = [each for item in only(items, "m") for each in item.measure]
    column = "".join(item.column for item in only(items, "C")[-1:]) if not measure else ""
    kept = tuple(item for item in items if item.letter == "R")
    return (*kept, Item("s", arg="".join(directions), column=column, measure=tuple(measure)))


def _sorted_by_amount(schema: Schema, items: Items) -> Items | None:
    """``按销售额降序``: only an amount or a date is sorted by in these words; anything else is a group."""
    named = only(items, "C")
    if any(not schema.numeric(item.column) and not schema.dated(item.column) for item in named):
        return None
    return _sorted_by(schema, items)


def _sort_entity(schema: Schema, items: Items) -> Items | None:
    """``sort the regions by total sales``: the regions stay, as what is told apart."""
    entity, by = items[1], only(items, "mC")[-1]
    if by.letter == "C" and (
        entity.letter != "C" or not schema.category(entity.column) or not schema.numeric(by.column)
    ):
        return None
    reduced = _sorted_by(schema, items[:1] + items[2:])
    return None if reduced is None else (items[1], *reduced)


def group_by_part(schema: Schema, column: str, unit: str) -> Group:
    """A group by a part of a date; a month or quarter of several years keeps its year where rows are periods."""
    if not schema.dated(column):
        return Group(column)
    return Group(column, cast("Part", unit))


def plain_group(schema: Schema, column: str) -> Group:
    """A group by a column's values; a year kept as a date is told apart by its year."""
    if schema.dated(column) and schema.whole_years(column):
        return Group(column, "year")
    return Group(column)


def _groups(schema: Schema, items: Items) -> Items | None:
    groups: list[Group] = []
    named = only(items, "C")
    unit = only(items, "Pp")
    dated = [item.column for item in named if schema.dated(item.column)] if unit and len(named) == 1 else []
    if unit:
        column = dated[0] if dated else schema.time_column(unit[0].arg)
        if column is None:
            return None
        groups.append(group_by_part(schema, column, unit[0].arg))
    for item in named:
        if item.column in dated:
            continue
        if not schema.groupable(item.column):
            return None
        groups.append(plain_group(schema, item.column))
    if items[-1].letter in "Pp" and len(groups) > 1:
        groups.append(groups.pop(0))
    per = bool(unit) and any(item.arg == "per" for item in only(items, "B"))
    return (Item("g", arg="per" if per else "", groups=tuple(groups)),)


def _over_time(schema: Schema, items: Items) -> Items | None:
    column = schema.time_column("year")
    return None if column is None else (Item("g", arg="time", groups=(plain_group(schema, column),)),)


CLAUSE_RULES: tuple[Rule, ...] = (
    rule("T N? [CPR] B [mC]", _rank),
    rule("T N? B [mC]", _rank),
    rule("N? S N? [CPR] B [mC]", _rank),
    rule("B J", lambda schema, items: (items[1],)),
    rule("Z [CP] (?: B? m | B C ) (?: &? z )?", _sort_entity),
    rule("Z R? B? [mC] (?: &? z | (?!&+[CmO]) )", _sorted_by),
    rule("(?<!m) B [mC] &? z Z? | (?<!m) B [mC] Z", _sorted_by_amount),
    rule("Z E? &? z Z? | z Z? | Z E?", _sorted_by),
    rule("(?:B? p | B P) C? (?: &+ B? C)*", _groups),
    rule("(?:B? p | B P)", _groups),
    rule("B C (?: &+ B? C)* &+ B? P", _groups),
    rule("B C (?: &+ B? C)+ (?!&*[OS])", _groups),
    rule("B C", _groups),
    rule("@", _over_time),
)
"""Applied after the measures; ranks and sorting go first, for "by" serves all three."""
