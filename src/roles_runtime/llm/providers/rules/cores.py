"""What a question comes down to once its clauses are taken out: a table of cores and the queries they mean."""

from __future__ import annotations

import re

import msgspec

from roles_runtime.llm.providers.rules.bare import bare_column, plotted_pair
from roles_runtime.llm.providers.rules.frame import Builder, Frame, entity_groups, sort
from roles_runtime.llm.providers.rules.query import Filter, Kind, Measure, Query
from roles_runtime.llm.providers.rules.reduce import letters, only
from roles_runtime.llm.providers.rules.superlatives import (
    bare_extreme,
    best_group,
    best_of_groups,
    column_top,
    common,
    extreme,
    most_rows,
    most_values,
    of_the_extreme_row,
    ranked,
    top_entity,
)


def _aggregate(frame: Frame) -> Query | None:
    measures = tuple(dict.fromkeys(each for item in only(frame.core, "m") for each in item.measure))
    if frame.per_period and any(
        each.op in ("mean", "median") and frame.schema.additive(each.column) for each in measures
    ):
        # "average sales per month": of the rows of each month, or of the months' totals?
        return None
    order, descending = sort(frame)
    if order is not None:
        if not frame.groups:
            return None
        grouped = {group.column for group in frame.groups}
        if order and order not in grouped:
            order = "" if order in {measure.column for measure in measures} else None
        if order is None or (order == "" and len(measures) > 1):
            return None
    return frame.query("aggregate", measures=measures, groups=frame.groups, order=order, descending=descending)


def _aggregate_of_sort(frame: Frame) -> Query | None:
    """``regions sorted by total sales``."""
    if len(frame.sorts) != 1 or not frame.sorts[0].measure or frame.groups:
        return None
    groups = entity_groups(frame)
    if groups is None:
        return None
    _, descending = sort(frame)
    return frame.query("aggregate", measures=frame.sorts[0].measure, groups=groups, order="", descending=descending)


def _first_rows(frame: Frame) -> Query | None:
    """``the first 5 rows``, ``the 5 last orders sorted by date``, ``show 10 rows``."""
    ranks = only(frame.core, "T")
    numbered = bool(only(frame.core, "N"))
    number = frame.number() if numbered else 5
    way = ranks[0].arg if ranks else "first"
    rows = only(frame.core, "R")
    if number is None or frame.groups or (not numbered and rows and rows[0].arg != "row"):
        return None
    order, descending = sort(frame, "desc" if way == "max" else "asc")
    if order == "":
        return None
    if order is None and way in ("max", "min") and not (rows and rows[0].arg == "row"):
        return None
    limit = -number if way == "last" or (way == "min" and order is None) else number
    return frame.query("rows", order=order, descending=descending, limit=limit)


def _first_date(frame: Frame) -> Query | None:
    """``the first date``."""
    way, said = only(frame.core, "T")[0].arg, frame.core[-1]
    column = frame.schema.time_column(said.arg) if said.letter == "P" else said.column
    if column is None or way not in ("first", "last") or not frame.schema.dated(column) or frame.sorts:
        return None
    if said.letter == "P" and said.arg != "day":
        return None
    measure = Measure("min" if way == "first" else "max", column)
    return frame.query("aggregate", measures=(measure,), groups=frame.groups)


def _listed(frame: Frame) -> Query | None:
    """Rows that a filter leaves, or all of them in an order; some columns or all."""
    if frame.groups:
        return _counted_rows(frame)
    order, descending = sort(frame)
    if order == "" or (order is None and not frame.filters):
        return None
    columns = frame.columns()
    if (
        len(columns) == 1
        and order is None
        and frame.schema.category(columns[0])
        and not frame.schema.labelled(columns[0])
    ):
        # "which cities have airports in AK": each city once
        return frame.query("distinct", columns=columns)
    return frame.query("rows", columns=columns, order=order, descending=descending)


def _in_order(frame: Frame) -> Query | None:
    """``按销售额降序排列``: nothing is said but the order."""
    return _listed(frame) if frame.sorts and frame.sorts[0].column and not frame.groups else None


def _counted_rows(frame: Frame) -> Query | None:
    """``a bar chart of cars by origin``: the rows are counted."""
    if frame.plot is None or frame.columns() or frame.sorts:
        return None
    return frame.query("aggregate", measures=(Measure("count"),), groups=frame.groups)


def _several_columns(frame: Frame) -> Query | None:
    if not frame.joined:
        return None
    if frame.plot is not None:
        return plotted_pair(frame)
    if frame.groups or not (frame.filters or frame.sorts):
        return None
    return _listed(frame)


def _distinct(frame: Frame) -> Query | None:
    columns = frame.columns()
    if frame.groups or frame.plot is not None or len(columns) != 1:
        return None
    order, descending = sort(frame)
    if order not in (None, "", columns[0]):
        return None
    return frame.query("distinct", columns=columns, order=order, descending=descending)


def _correlation(frame: Frame) -> Query | None:
    columns = frame.columns()
    matrix = any(item.arg == "matrix" for item in only(frame.core, "X"))
    if frame.groups or frame.sorts or frame.plot is not None or len(columns) != (0 if matrix else 2):
        return None
    if not all(frame.schema.numeric(column) for column in columns):
        return None
    return frame.query("correlation", columns=columns)


def _missing(frame: Frame) -> Query | None:
    if frame.groups or frame.sorts or frame.plot is not None:
        return None
    counted = bool(only(frame.core, "HO"))
    columns = frame.columns()
    if any(item.arg not in ("sum",) for item in only(frame.core, "O")):
        return None
    if columns or not only(frame.core, "J"):
        return frame.query("missing", columns=columns, scalar=counted or len(columns) == 1)
    return frame.query("missing", columns=())


def _most_missing(frame: Frame) -> Query | None:
    sup = only(frame.core, "S")[0]
    if sup.arg not in ("most", "max") or frame.groups or frame.sorts or frame.plot is not None:
        return None
    return frame.query("missing", order="", limit=1)


def _rows_with_gaps(frame: Frame) -> Query | None:
    columns = frame.columns()
    if len(columns) != 1 or frame.groups or frame.sorts or frame.plot is not None:
        return None
    gaps = (*frame.filters, Filter(columns[0], "missing"))
    query = frame.query("aggregate", measures=(Measure("count"),)) if only(frame.core, "Hm") else frame.query("rows")
    return msgspec.structs.replace(query, filters=gaps)


def _about(kind: Kind) -> Builder:
    def build(frame: Frame) -> Query | None:
        if frame.groups or frame.sorts or frame.plot is not None:
            return None
        if frame.filters and kind != "describe":
            return None
        return frame.query(kind, columns=frame.columns(), scalar=bool(only(frame.core, "H")))

    return build


CORES: tuple[tuple[str, Builder], ...] = (
    ("R* m+ R*", _aggregate),
    ("[CP]", _aggregate_of_sort),
    ("C", bare_column),
    ("N? [CP] N? S N? m | N? S [CP] m | [CP] m S N? | m S N? [CP] | S N? m N? [CP]", best_group),
    ("T N? [CP] m | m T N? [CP]", top_entity),
    ("T N? m", best_of_groups),
    ("N? [CP] N? S [RH] | R S N? [CP] | [CP] R S | S R [CP]", most_rows),
    ("N? M [CP] | [CP] N? M | T N? M [CP] | M N? [CP]", common),
    ("N? [CPR] N? S N? C | N? S C [CPR] | C S N? [CPR] | [CPR] C S | S C | C S | S P", extreme),
    ("N S C | S N C | N? S [CPR] | S N [CPR] | [CPR] S | T N? [CPR] S C | T N? S [CPR]", extreme),
    ("C S T N [CPR]", extreme),
    ("m S T N [CP]", best_group),
    ("C T N? [CR]", column_top),
    ("C S C", most_values),
    ("N? S", bare_extreme),
    ("C R S C | C S R C", of_the_extreme_row),
    ("k N? [CPR]? [mC]", ranked),
    ("T [CP]", _first_date),
    ("T N C", column_top),
    ("T N? R? | N R | R T N", _first_rows),
    ("R", _listed),
    ("", _in_order),
    ("C+ R | R C+", _listed),
    ("C A? C+", _several_columns),
    ("D C | C D", _distinct),
    ("X C C | C X C | C C X | X", _correlation),
    ("H? R? I | I H | O I | H? I J | J I | I J | H? I C | C H? I | C I H | O I C | J H? I", _missing),
    ("J S I | S I J | J I S", _most_missing),
    ("m I C | I C m | H R I C | R I C | R C I | C I R | m C I | C I m | H R C I", _rows_with_gaps),
    ("Q C* | C Q | Q R | R Q", _about("describe")),
    ("J | H J | J H", _about("columns")),
    ("j | J j | j J", _about("types")),
    ("h | h R | m J | H R J | H J R | J m | m H J | H J m", _about("shape")),
)
"""Each core, letter by letter, and who makes its query; the first that does not decline wins."""

_PATTERNS = tuple((re.compile(core.replace(" ", "")), builder) for core, builder in CORES)


def core_query(frame: Frame) -> Query | None:
    """The query of a frame, or None where its core is none that is known."""
    text = letters(frame.core)
    for pattern, builder in _PATTERNS:
        if pattern.fullmatch(text):
            query = builder(frame)
            if query is not None:
                return query
    return None
