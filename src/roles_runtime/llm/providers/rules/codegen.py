"""A `Query` written as pandas: plain code that a reader can check, values by ``repr``, the answer last."""

from __future__ import annotations

from roles_runtime.llm.providers.rules.plotcode import plot_lines
from roles_runtime.llm.providers.rules.query import Filter, Group, Measure, Query
from roles_runtime.llm.providers.rules.schema import Schema

_WEEKDAYS = "['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']"
_PARTS = {
    "year": ".dt.year",
    "quarter": ".dt.quarter",
    "month": ".dt.month",
    "week": ".dt.isocalendar().week",
    "weekday": ".dt.day_name()",
    "day": ".dt.normalize()",
    "period_month": ".dt.to_period('M')",
    "period_quarter": ".dt.to_period('Q')",
}


def write_code(query: Query, schema: Schema) -> str:
    """The Python cell that answers the query; its last expression is the answer.

    Columns of dates come as dates from the file's own ``read_call``.
    """
    lines = ["import pandas as pd"]
    if query.plot is not None:
        lines.append("import matplotlib.pyplot as plt")
    lines += ["", f"df = {schema.file.read_call}"]
    lines += [f"df = df[{_condition(each, schema)}]" for each in query.filters]
    lines += _answer(query, schema)
    return "\n".join(lines) + "\n"


def _condition(filter: Filter, schema: Schema) -> str:
    column = f"df[{filter.column!r}]"
    if filter.op == "missing":
        return f"{column}.isna()"
    if filter.part == "date":
        return _date_condition(column, filter)
    if filter.part:
        column += ".dt.day_of_week" if filter.part == "weekday" else _PARTS[filter.part]
    elif schema.columns[filter.column].dtype in ("boolean", "mixed"):
        column += ".astype(str)"
    if filter.op == "in":
        return f"{column}.isin({list(filter.values)!r})"
    if filter.op == "between":
        return f"{column}.between({filter.values[0]!r}, {filter.values[1]!r})"
    return f"{column} {filter.op} {filter.values[0]!r}"


def _date_condition(column: str, filter: Filter) -> str:
    """Whole days: what happens at noon is still of that day."""
    days = f"{column}.dt.normalize()"
    if filter.op == "between":
        return f"{days}.between({filter.values[0]!r}, {filter.values[1]!r})"
    return f"{days} {filter.op} {filter.values[0]!r}"


def _answer(query: Query, schema: Schema) -> list[str]:
    writers = {
        "aggregate": _aggregate,
        "rows": _rows,
        "distinct": _distinct,
        "describe": _describe,
        "columns": lambda query, schema: ["len(df.columns)" if query.scalar else "list(df.columns)"],
        "types": lambda query, schema: ["df.dtypes"],
        "shape": lambda query, schema: ["pd.Series({'rows': len(df), 'columns': len(df.columns)})"],
        "missing": _missing,
        "correlation": _correlation,
        "histogram": _histogram,
    }
    lines = writers[query.kind](query, schema)
    if query.plot is None:
        return lines
    return [*lines[:-1], f"result = {lines[-1]}", *plot_lines(query, schema), "result"]


# -- aggregates


def _aggregate(query: Query, schema: Schema) -> list[str]:
    if not query.groups:
        return [_plain_measures(query.measures)]
    keys = [_key(group) for group in query.groups]
    grouped = f"df.groupby({keys[0] if len(keys) == 1 else '[' + ', '.join(keys) + ']'})"
    lines, value = _grouped(grouped, query.measures)
    if query.order is None and query.groups[0].part == "weekday":
        return [*lines, f"values = {value}", _in_week_order(query)]
    return [*lines, *_ordered(value, query)]


def _plain_measures(measures: tuple[Measure, ...]) -> str:
    if len(measures) == 1:
        return _measure(measures[0])
    pairs = ", ".join(f"{measure_name(measure)!r}: {_measure(measure)}" for measure in measures)
    return f"pd.Series({{{pairs}}})"


def _measure(measure: Measure) -> str:
    if measure.op == "count":
        return "len(df)"
    return f"df[{measure.column!r}]{_PARTS.get(measure.part, '')}.{measure.op}()"


def measure_name(measure: Measure) -> str:
    """``mean price``; ``count`` for rows."""
    return f"{measure.op} {measure.column}".strip()


def _grouped(grouped: str, measures: tuple[Measure, ...]) -> tuple[list[str], str]:
    """The lines before, and the expression: a column of values, or a table with one column a measure."""
    if len(measures) == 1:
        return [], f"{grouped}{_of_group(measures[0])}"
    pairs = ", ".join(f"{measure_name(measure)!r}: groups{_of_group(measure)}" for measure in measures)
    return [f"groups = {grouped}"], f"pd.DataFrame({{{pairs}}})"


def _of_group(measure: Measure) -> str:
    return ".size()" if measure.op == "count" else f"[{measure.column!r}].{measure.op}()"


def _key(group: Group) -> str:
    if not group.part:
        return repr(group.column)
    name = {"period_month": "month", "period_quarter": "quarter"}.get(group.part, group.part)
    return f"df[{group.column!r}]{_PARTS[group.part]}.rename({name!r})"


def _in_week_order(query: Query) -> str:
    level = ", level=0" if len(query.groups) > 1 else ""
    return f"values.reindex([day for day in {_WEEKDAYS} if day in values.index.get_level_values(0)]{level})"


def _ordered(value: str, query: Query) -> list[str]:
    if query.order is None:
        return [value]
    if query.order:
        level = repr(query.order) if len(query.groups) > 1 else ""
        return [f"{value}.sort_index({f'level={level}, ' if level else ''}ascending={not query.descending})"]
    if query.limit:
        largest = "nlargest" if query.descending else "nsmallest"
        return [f"{value}.{largest}({query.limit}, keep='all')"]
    return [f"{value}.sort_values(ascending={not query.descending})"]


# -- rows and values


def _rows(query: Query, schema: Schema) -> list[str]:
    rows = "df"
    lines: list[str] = []
    if query.order is not None:
        rows, lines = _sorted_rows(query, schema)
    elif query.limit:
        rows = f"df.head({query.limit})" if query.limit > 0 else f"df.tail({-query.limit})"
    if len(query.columns) == 1 and query.order is None:
        return [*lines, f"{rows}[{query.columns[0]!r}]"]
    if query.columns:
        rows += f"[{list(query.columns)!r}]"
    return [*lines, rows]


def _sorted_rows(query: Query, schema: Schema) -> tuple[str, list[str]]:
    number = abs(query.limit)
    if number and query.limit > 0 and (schema.numeric(query.order or "") or schema.dated(query.order or "")):
        largest = "nlargest" if query.descending else "nsmallest"
        return f"df.{largest}({number}, {query.order!r}, keep={'all' if number == 1 else 'first'!r})", []
    rows = f"df.sort_values({query.order!r}, ascending={not query.descending}, kind='stable')"
    if query.limit:
        rows += f".head({number})" if query.limit > 0 else f".tail({number})"
    return rows, []


def _distinct(query: Query, schema: Schema) -> list[str]:
    values = f"df[{query.columns[0]!r}].dropna().drop_duplicates()"
    ascending = query.order is None or not query.descending
    return [f"{values}.sort_values({'' if ascending else 'ascending=False'}).tolist()"]


def _describe(query: Query, schema: Schema) -> list[str]:
    if len(query.columns) == 1:
        return [f"df[{query.columns[0]!r}].describe()"]
    columns = f"[{list(query.columns)!r}]" if query.columns else ""
    return [f"df{columns}.describe(include='all')"]


def _missing(query: Query, schema: Schema) -> list[str]:
    if len(query.columns) == 1:
        return [f"int(df[{query.columns[0]!r}].isna().sum())"]
    columns = f"[{list(query.columns)!r}]" if query.columns else ""
    gaps = f"df{columns}.isna().sum()"
    if query.limit:
        return [f"{gaps}.nlargest({query.limit}, keep='all')"]
    return [f"int({gaps}.sum())" if query.scalar else gaps]


def _correlation(query: Query, schema: Schema) -> list[str]:
    if not query.columns:
        return ["df.corr(numeric_only=True)"]
    first, second = query.columns
    return [f"df[{first!r}].corr(df[{second!r}])"]


def _histogram(query: Query, schema: Schema) -> list[str]:
    return [f"pd.cut(df[{query.columns[0]!r}], bins=10).value_counts(sort=False)"]
