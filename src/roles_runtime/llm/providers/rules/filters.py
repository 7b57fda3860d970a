"""Which rows count: the rules that turn dates, values and comparisons into filters (letter ``f``)."""

from __future__ import annotations

import calendar
from typing import Literal, cast

from roles_runtime.llm.providers.rules.query import Filter, Value
from roles_runtime.llm.providers.rules.reduce import Items, Rule, only, rule
from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.llm.providers.rules.segments import Item

_Comparison = Literal["==", "<", "<=", ">", ">="]
_TimePart = Literal["year", "quarter", "month", "weekday"]


def _kept(filters: Filter | None) -> Items | None:
    return None if filters is None else (Item("f", filter=filters),)


# -- dates


def _dated(schema: Schema, items: Items) -> Items | None:
    """``March 15, 2015`` and its like, in any order."""
    months = [item for item in items if item.letter == "#"]
    year = next(item.date for item in items if item.letter == "Y")
    day = [item.number for item in items if item.letter == "N"]
    kind, number = months[0].arg.split()
    if kind != "month" or len(year) != 1:
        return None
    if day and not (isinstance(day[0], int) and 1 <= day[0] <= 31):
        return None
    return (Item("Y", date=(*year, int(number), *(int(each) for each in day))),)


def _year_word(schema: Schema, items: Items) -> Items | None:
    year = only(items, "Y")[0]
    word = only(items, "P")[0]
    return (year,) if word.arg == "year" and len(year.date) == 1 else None


def _time_target(schema: Schema, items: Items, part: str) -> str | None:
    named = only(items, "C")
    if named:
        column = named[0].column
        fits = schema.dated(column) or (part == "year" and schema.whole_years(column))
        return column if fits else None
    return schema.time_column(part)


def _bounds(date: tuple[int, ...]) -> tuple[str, str]:
    """The first and the last day of a year, a month or a day."""
    year, month, day = (*date, 0, 0)[:3]
    first = f"{year:04}-{month or 1:02}-{day or 1:02}"
    last_month = month or 12
    return first, f"{year:04}-{last_month:02}-{day or calendar.monthrange(year, last_month)[1]:02}"


def _when(schema: Schema, column: str, op: _Comparison, date: tuple[int, ...]) -> Filter:
    if not schema.dated(column):
        return Filter(column, op, (date[0],))
    if len(date) == 1:
        return Filter(column, op, (date[0],), "year")
    first, last = _bounds(date)
    if op == "==":
        return Filter(column, "between", (first, last), "date")
    return Filter(column, op, (first if op in ("<", ">=") else last,), "date")


def _time_is(schema: Schema, items: Items) -> Items | None:
    if any(item.arg != "==" for item in only(items, "K")):
        return None
    date = only(items, "Y")[0].date
    column = _time_target(schema, items, "year" if len(date) == 1 else "day")
    return None if column is None else _kept(_when(schema, column, "==", date))


def _time_compared(schema: Schema, items: Items) -> Items | None:
    date = only(items, "Y")[0].date
    op, _, kind = only(items, "K~")[0].arg.partition(" ")
    column = _time_target(schema, items, "year" if len(date) == 1 else "day")
    if column is None or ":" in op or not (kind or only(items, "C")):
        return None
    return _kept(_when(schema, column, cast("_Comparison", op), date))


def _time_between(schema: Schema, items: Items) -> Items | None:
    first, last = (item.date for item in only(items, "Y"))
    if len(first) != len(last) or first > last:
        return None
    column = _time_target(schema, items, "year" if len(first) == 1 else "day")
    if column is None:
        return None
    if len(first) == 1:
        return _kept(Filter(column, "between", (first[0], last[0]), "year" if schema.dated(column) else ""))
    return _kept(Filter(column, "between", (_bounds(first)[0], _bounds(last)[1]), "date"))


def _years_or(schema: Schema, items: Items) -> Items | None:
    dates = [item.date for item in only(items, "Y")]
    column = _time_target(schema, items, "year")
    if column is None or any(len(date) != 1 for date in dates):
        return None
    years = tuple(date[0] for date in dates)
    return _kept(Filter(column, "in", years, "year" if schema.dated(column) else "", joined=bool(only(items, "&"))))


def _recurring(schema: Schema, items: Items) -> Items | None:
    """``in May``, ``on Mondays``, ``in Q1``, also several of a kind."""
    column = _time_target(schema, items, "month")
    said = [item.arg.split() for item in only(items, "#")]
    if column is None or not schema.dated(column) or len({kind for kind, _ in said}) != 1:
        return None
    values = tuple(int(number) for _, number in said)
    part = cast("_TimePart", said[0][0])
    if len(values) == 1:
        return _kept(Filter(column, "==", values, part))
    if only(items, "tF"):
        return _kept(Filter(column, "between", values, part)) if values[0] < values[1] else None
    return _kept(Filter(column, "in", values, part, joined=bool(only(items, "&"))))


# -- values


def _values(schema: Schema, items: Items) -> Items | None:
    values = only(items, "V")
    named = {item.column for item in only(items, "C")}
    columns = {item.column for item in values} | named
    if len(columns) != 1 or any(item.arg != "==" for item in only(items, "K")):
        return None
    column = columns.pop()
    said = tuple(dict.fromkeys(item.value for item in values))
    if len(said) == 1:
        return _kept(Filter(column, "==", said))
    if not only(items, "&|"):
        return None
    return _kept(Filter(column, "in", said, joined=bool(only(items, "&")) and not only(items, "|")))


def _quoted(schema: Schema, items: Items) -> Items | None:
    column, text = only(items, "C")[0].column, only(items, "'")[0].value
    if not schema.category(column) or any(item.arg != "==" for item in only(items, "K")):
        return None
    known = [value for value in schema.columns[column].distinct if value.lower() == text.lower()]
    return _kept(Filter(column, "==", (known[0] if len(known) == 1 else text,)))


# -- numbers


def _numeric_target(schema: Schema, items: Items, hint: str) -> str | None:
    named = only(items, "C")
    if named:
        column = named[0].column
        return column if schema.numeric(column) else None
    if hint or any(item.arg == "age" for item in only(items, "u")):
        return schema.hinted(hint or "age", "max")
    person = any(item.letter == "R" and item.arg == "person" for item in items)
    return schema.hinted("age", "max") if person and schema.rows_are_people() else None


def _units_fit(schema: Schema, items: Items, column: str) -> bool:
    return all(schema.unit_fits(column, item.arg) for item in only(items, "u"))


def _compared(schema: Schema, items: Items) -> Items | None:
    op, _, hint = only(items, "K~")[0].arg.partition(":")
    number = only(items, "N")[0].number
    column = _numeric_target(schema, items, hint)
    if column is None or " " in op or not _units_fit(schema, items, column):
        return None
    kept = Item("f", filter=Filter(column, cast("_Comparison", op), (number,)))
    return (*only(items, "Rf"), kept)


def _compared_by_hint(schema: Schema, items: Items) -> Items | None:
    """``older than 35``: the word itself says of what."""
    hinted = any(":" in item.arg for item in only(items, "K~")) or any(item.arg == "age" for item in only(items, "u"))
    return _compared(schema, items) if hinted else None


def _compared_again(schema: Schema, items: Items) -> Items | None:
    """``above 10 and below 20``: the second bound is of the same column."""
    before = items[0].filter
    op, _, hint = only(items, "K")[0].arg.partition(":")
    if before is None or before.op not in ("<", "<=", ">", ">=") or before.part or " " in op or hint:
        return None
    return (items[0], Item("f", filter=Filter(before.column, cast("_Comparison", op), (only(items, "N")[0].number,))))


def _between(schema: Schema, items: Items) -> Items | None:
    hints = [item.arg.partition(":")[2] for item in only(items, "K") if item.arg.startswith("==:")]
    if len(hints) != len(only(items, "K")):
        return None
    column = _numeric_target(schema, items, hints[0] if hints else "")
    low, high = (item.number for item in only(items, "N"))
    if column is None or not _units_fit(schema, items, column) or not _ordered(low, high):
        return None
    return (*only(items, "R"), Item("f", filter=Filter(column, "between", (low, high))))


def _ordered(low: Value, high: Value) -> bool:
    return not isinstance(low, str) and not isinstance(high, str) and low <= high


def _equals(schema: Schema, items: Items) -> Items | None:
    """``8 cylinders`` and ``cylinders 8``, for columns of whole numbers."""
    column, number = only(items, "C")[0].column, only(items, "N")[0].number
    whole = schema.columns[column].dtype == "integer" and isinstance(number, int)
    if not (whole and schema.numeric(column)) or not _units_fit(schema, items, column):
        return None
    return _kept(Filter(column, "==", (number,)))


def _equals_either(schema: Schema, items: Items) -> Items | None:
    """``4 or 6 cylinders``."""
    column, numbers = only(items, "C")[0].column, tuple(item.number for item in only(items, "N"))
    if schema.columns[column].dtype != "integer" or not all(isinstance(number, int) for number in numbers):
        return None
    return _kept(Filter(column, "in", numbers))


_C = "(?: (?<![BTZSO]) C [wo]* )"
FILTER_RULES: tuple[Rule, ...] = (
    rule("C J | J C", lambda schema, items: only(items, "C")),
    rule("(?<!B) P [wo]* Y | Y P", _year_word),
    rule("\\# N [&o]? Y | N o? \\# [&o]? Y | Y o? \\# N", _dated),
    rule("\\# [&ow]? Y | Y o? \\#", _dated),
    rule(f"{_C} [w]? F? w? Y [t&] Y", _time_between),
    rule("w? F w? Y [t&] Y | w? Y t Y", _time_between),
    rule(f"{_C} w? K w? Y", _time_compared),
    rule("w? K w? Y | w? Y o? ~", _time_compared),
    rule("w? Y (?: [&|]+ Y )+", _years_or),
    rule(f"{_C} K? Y", _time_is),
    rule("w? Y", _time_is),
    rule(f"{_C} \\# (?: [&|t]+ \\# )*", _recurring),
    rule("F? \\# (?: [&|t]+ \\# )*", _recurring),
    rule(f"{_C} K? V (?: [&|]+ V )*", _values),
    rule("V (?: [&|]+ V )* o? C(?![K~])", _values),
    rule("V (?: [&|]+ V )*", _values),
    rule("V", _values),
    rule("C w? K? '", _quoted),
    rule("C [wo]* F N u? [&t] N u?", _between),
    rule("C [wo]* N u? [t] N u?", _between),
    rule("(?<![Co]) F N u? [&t] N u? o? C", _between),
    rule("K F N u? [&t] N u?", _between),
    rule("(?<![Co]) [RK] w? F? N u? [&t] N u? (?!o?C)", _between),
    rule("C [wo]* (?:f [wo]*)? K o? N u?", _compared, apart=True),
    rule("C [wo]* N u? ~", _compared, apart=True),
    rule("(?<!C)(?<!Co) K o? N u? o? C", _compared),
    rule("K C o? N u?", _compared),
    rule("(?<!C)(?<!Co) N u? ~ o? C", _compared),
    rule("K N u? | N u? ~", _compared_by_hint),
    rule("R w? K N u?", _compared, apart=True),
    rule("f &? K N u?", _compared_again, apart=True),
    rule("(?<![TSNM&|]) N [|] N o? C", _equals_either),
    rule("(?<![TSB]) C N [|] N", _equals_either),
    rule("(?<![TSNM|]) N u? o? C (?![N~K])", _equals),
    rule("(?<![TSB]) C [wo]* N u? (?![|N~])", _equals),
)
"""In this order; what a clause names by its column comes before what leaves the column open."""
