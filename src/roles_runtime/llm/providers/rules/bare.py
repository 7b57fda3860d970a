"""Columns without an operation: lookups, "sales by region", lists of values, and plots of columns."""

from __future__ import annotations

import msgspec

from roles_runtime.llm.providers.rules.clauses import plain_group
from roles_runtime.llm.providers.rules.frame import Frame, sort
from roles_runtime.llm.providers.rules.query import Measure, Query
from roles_runtime.llm.providers.rules.reduce import only
from roles_runtime.llm.providers.rules.superlatives import ranked_by_column


def bare_column(frame: Frame) -> Query | None:
    """A column without an operation: ``sales by region``, ``the maximum temperature``, a plot, a list."""
    columns = frame.columns()
    if len(columns) != 1:
        return None
    (column,) = columns
    if frame.plot is not None:
        return _bare_plot(frame, column)
    if frame.groups:
        if frame.sorts:
            return None
        return _bare_by_group(frame, column)
    extreme = frame.schema.extreme_of(column)
    few = frame.schema.numeric(column) and frame.schema.groupable(column) and not frame.schema.additive(column)
    if few and not (extreme or frame.filters or frame.sorts):
        # "which cylinder counts are there": whole numbers of which there are few are listed like names
        return frame.query("distinct", columns=(column,))
    if frame.schema.numeric(column):
        if extreme and not frame.sorts:
            return frame.query("aggregate", measures=(Measure("max" if extreme == "max" else "min", column),))
        return _lookup(frame, column)
    order, descending = sort(frame)
    if order and order != column and frame.schema.category(column) and frame.schema.numeric(order):
        return ranked_by_column(frame, frame.core[-1], order, descending, 0)
    if order not in (None, "", column):
        return None
    return frame.query("distinct", columns=(column,), order=order, descending=descending)


def _lookup(frame: Frame, column: str) -> Query | None:
    """``the price of AAPL in March 2008``: the values in the rows that a value or date picks out, or their sum."""
    compared = any(each.column == column for each in frame.filters)
    if frame.sorts or compared or not frame.filters:
        return None
    if frame.schema.additive(column):
        return frame.query("aggregate", measures=(Measure("sum", column),))
    one_day = any(each.part == "date" and len(set(each.values)) == 1 for each in frame.filters)
    picked = any(each.op == "==" and not each.part for each in frame.filters)
    if not (one_day or picked or frame.schema.one_row(frame.filters)):
        return None
    return frame.query("rows", columns=(column,))


def _bare_by_group(frame: Frame, column: str) -> Query | None:
    if frame.schema.additive(column):
        return frame.query("aggregate", measures=(Measure("sum", column),), groups=frame.groups)
    if frame.over_time and frame.schema.numeric(column):
        return _series(frame, column)
    extreme = frame.schema.extreme_of(column)
    if extreme:
        return frame.query(
            "aggregate", measures=(Measure("max" if extreme == "max" else "min", column),), groups=frame.groups
        )
    return None


def _series(frame: Frame, column: str) -> Query | None:
    """A column over its dates: its values where each date stands once or one thing is picked out."""
    time = frame.groups[0]
    others = frame.groups[1:]
    picked = any(each.op == "==" and not each.part for each in frame.filters)
    if frame.schema.additive(column):
        return frame.query("aggregate", measures=(Measure("sum", column),), groups=frame.groups)
    if time.part or others or picked or not frame.schema.repeats(time.column):
        return frame.query("aggregate", measures=(Measure("mean", column),), groups=frame.groups)
    return None


def _bare_plot(frame: Frame, column: str) -> Query | None:
    schema = frame.schema
    if frame.plot == "hist":
        if frame.groups or frame.sorts:
            return None
        if schema.numeric(column):
            return frame.query("histogram", columns=(column,))
        return frame.query("aggregate", measures=(Measure("count"),), groups=(plain_group(schema, column),))
    if frame.plot == "scatter" or frame.sorts:
        return None
    if frame.groups:
        grouped = _bare_by_group(frame, column)
        return grouped if grouped is not None or len(frame.groups) > 1 else _plotted_over(frame, column)
    if schema.numeric(column):
        time = schema.time_column("year") if frame.plot in ("line", "auto") else None
        if time is None:
            return None
        return _series(msgspec.structs.replace(frame, groups=(plain_group(schema, time),)), column)
    if frame.plot == "line" or not schema.groupable(column):
        return None
    return frame.query("aggregate", measures=(Measure("count"),), groups=(plain_group(schema, column),))


def _plotted_over(frame: Frame, column: str) -> Query | None:
    """``plot price by date`` where each date stands once, or once for what is picked out."""
    group, schema = frame.groups[0], frame.schema
    if not schema.numeric(column) or (group.part and not schema.whole_years(group.column)):
        return None
    timed = schema.dated(group.column) or schema.whole_years(group.column)
    picked = timed and any(each.op == "==" and not each.part for each in frame.filters)
    if schema.repeats(group.column) and not picked:
        return None
    return frame.query("aggregate", measures=(Measure("mean", column),), groups=frame.groups)


def plotted_pair(frame: Frame) -> Query | None:
    """``plot a against b``: points where both are numbers, else the first over the second."""
    columns, schema = frame.columns(), frame.schema
    if len(columns) != 2 or frame.groups or frame.sorts or frame.plot == "hist":
        return None
    first, second = columns
    numbers = schema.numeric(first) and schema.numeric(second)
    if numbers and (frame.plot == "scatter" or (frame.plot == "auto" and not schema.whole_years(second))):
        return frame.query("rows", columns=columns)
    if frame.plot == "scatter" or not only(frame.core, "A") or not schema.numeric(first):
        return None
    over = msgspec.structs.replace(frame, groups=(plain_group(schema, second),), over_time=schema.dated(second))
    return _bare_by_group(over, first)
