"""A question, understood: what `grammar` makes of the words and `codegen` writes as pandas."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Op: TypeAlias = Literal["sum", "mean", "median", "min", "max", "count", "nunique"]
Part: TypeAlias = Literal["", "year", "quarter", "month", "week", "weekday", "day", "period_quarter", "period_month"]
PlotKind: TypeAlias = Literal["auto", "line", "bar", "scatter", "hist"]
Kind: TypeAlias = Literal[
    "aggregate",
    "rows",
    "distinct",
    "describe",
    "columns",
    "types",
    "shape",
    "missing",
    "correlation",
    "histogram",
]
Value: TypeAlias = str | int | float


class Filter(msgspec.Struct, frozen=True):
    """Which rows count.

    Attributes:
        column: Whose values are looked at.
        op: ``==``, ``<``, ``<=``, ``>``, ``>=``, ``between`` (both ends included), ``in`` or ``missing``.
        values: One, or two for ``between``, or any number for ``in``.
        part: The part of the date that is compared; ``date`` is the whole of it, empty the plain value.
        joined: Whether the question joined the values by "and"; then only sums and counts are beyond doubt.
    """

    column: str
    op: Literal["==", "<", "<=", ">", ">=", "between", "in", "missing"]
    values: tuple[Value, ...] = ()
    part: Literal["", "date", "year", "quarter", "month", "weekday"] = ""
    joined: bool = False


class Measure(msgspec.Struct, frozen=True):
    """What is worked out; the column is empty where rows are counted, the part that of its dates."""

    op: Op
    column: str = ""
    part: Part = ""


class Group(msgspec.Struct, frozen=True):
    """For each of what: a column's values, or a part of its dates (``period_month`` is 2024-03, ``month`` is 3)."""

    column: str
    part: Part = ""


class Query(msgspec.Struct, frozen=True):
    """A question about one file.

    Attributes:
        file: Its name.
        kind: What is asked for.
        measures, groups, filters: For whom, of what.
        columns: Which columns are shown, described, correlated or counted for gaps; none is all.
        order: The column that rows are sorted by; empty sorts an aggregate by its value, None leaves the order.
        descending: The direction of `order`.
        limit: How many of them, 0 for all; a negative one counts from the end.
        scalar: Whether the question asks for one number where there could be many (missing values).
        plot: The picture, if one is asked for.
    """

    file: str
    kind: Kind
    measures: tuple[Measure, ...] = ()
    groups: tuple[Group, ...] = ()
    filters: tuple[Filter, ...] = ()
    columns: tuple[str, ...] = ()
    order: str | None = None
    descending: bool = True
    limit: int = 0
    scalar: bool = False
    plot: PlotKind | None = None
