"""The last look at a query: what can be written as code but would not be what was meant is refused."""

from __future__ import annotations

import msgspec

from roles_runtime.llm.providers.rules.query import Filter, Group, Part, Query
from roles_runtime.llm.providers.rules.schema import Schema

_UNION_SAFE = ("sum", "count", "nunique")


def makes_sense(schema: Schema, query: Query) -> bool:
    """Whether the query means one thing, and can be worked out over this table."""
    checks = (_filters_agree, _unions_are_plain, _things_are_plain, _groups_differ, _order_can_be, _plot_can_be)
    return all(check(schema, query) for check in checks)


_PERIODS: dict[str, Part] = {"month": "period_month", "quarter": "period_quarter"}


def in_time_order(schema: Schema, query: Query) -> Query:
    """A picture by month goes on from year to year; a table by month is one of January to December."""
    if query.plot not in ("line", "auto") or not query.groups:
        return query
    first = query.groups[0]
    part = _PERIODS.get(first.part)
    one_year = schema.one_year(first.column) or any(each.part == "year" and each.op == "==" for each in query.filters)
    if part is None or one_year:
        return query
    return msgspec.structs.replace(query, groups=(Group(first.column, part), *query.groups[1:]))


def _filters_agree(schema: Schema, query: Query) -> bool:
    """No two filters that want one column to be two things at once: "in May and in 2012" yes, "East … West" no."""
    fixed = [(each.column, each.part) for each in query.filters if each.op in ("==", "in")]
    return len(fixed) == len(set(fixed))


def _unions_are_plain(schema: Schema, query: Query) -> bool:
    """ "The average of East and West" may be one number or two; a sum or a count of both together is plain."""
    joined = [each for each in query.filters if each.joined]
    if not joined:
        return True
    grouped = {group.column for group in query.groups}
    if query.kind == "aggregate":
        safe = all(measure.op in _UNION_SAFE for measure in query.measures)
        return all(each.column in grouped or (safe and not _covers(schema, each)) for each in joined)
    return query.kind in ("rows", "distinct")


def _covers(schema: Schema, filter: Filter) -> bool:
    """Whether the values are all that the column has: then each was meant for itself."""
    return len(filter.values) >= schema.columns[filter.column].distinct_count > 0 and not filter.part


def _things_are_plain(schema: Schema, query: Query) -> bool:
    """ "Products with sales over 1000" may be of one order or of all of theirs together."""
    counted = [measure.column for measure in query.measures if measure.op == "nunique" and not measure.part]
    things = [*counted, *(query.columns if query.kind == "distinct" else ())]
    compared = [each.column for each in query.filters if each.op in ("<", "<=", ">", ">=", "between") and not each.part]
    return not any(schema.repeats(thing) for thing in things) or not any(map(schema.additive, compared))


def _groups_differ(schema: Schema, query: Query) -> bool:
    columns = [(group.column, group.part) for group in query.groups]
    plain = {group.column for group in query.groups if not group.part}
    measured = {measure.column for measure in query.measures if measure.column}
    return len(columns) == len(set(columns)) and len(columns) <= 2 and not plain & measured


def _order_can_be(schema: Schema, query: Query) -> bool:
    if not query.order:
        return True
    return query.order in schema.columns and query.kind in ("rows", "aggregate", "distinct")


def _plot_can_be(schema: Schema, query: Query) -> bool:
    if query.plot is None:
        return True
    if query.kind == "histogram":
        return query.plot in ("hist", "auto", "bar")
    if query.kind == "rows":
        return query.plot in ("scatter", "auto") and len(query.columns) == 2 and query.order is None
    if query.kind != "aggregate" or not query.groups or len(query.measures) != 1:
        return False
    if query.plot == "hist":
        return query.measures[0].op == "count" and not schema.numeric(query.groups[0].column)
    return query.plot != "scatter"
