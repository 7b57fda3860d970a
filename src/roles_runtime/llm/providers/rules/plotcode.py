"""The part of a cell that draws: one figure with a title and named axes, saved as a PNG file."""

from __future__ import annotations

import re

from roles_runtime.llm.providers.rules.query import Group, Measure, Query
from roles_runtime.llm.providers.rules.schema import Schema

_OPS = {
    "sum": "total",
    "mean": "average",
    "median": "median",
    "min": "minimum",
    "max": "maximum",
    "count": "number of rows",
    "nunique": "distinct",
}
_FONTS = "['Noto Sans CJK SC', 'Source Han Sans SC', 'WenQuanYi Micro Hei', 'SimHei', 'Microsoft YaHei', 'DejaVu Sans']"


def plot_lines(query: Query, schema: Schema) -> list[str]:
    """The lines after ``result`` is worked out."""
    title, x, y = _captions(query)
    lines = [] if (title + x + y).isascii() else [f"plt.rcParams['font.sans-serif'] = {_FONTS}"]
    lines += ["fig, ax = plt.subplots(figsize=(8, 4.5))", *_draw(query, schema)]
    lines += [f"ax.set_title({title!r})", f"ax.set_xlabel({x!r})", f"ax.set_ylabel({y!r})", "fig.tight_layout()"]
    return [*lines, f"fig.savefig({_file_name(title)!r}, dpi=150)", "plt.close(fig)"]


def _draw(query: Query, schema: Schema) -> list[str]:
    if query.kind == "rows":
        x, y = _axes(query)
        return [f"ax.scatter(result[{x!r}], result[{y!r}], s=12)"]
    if query.kind == "histogram":
        return [f"ax.hist(df[{query.columns[0]!r}].dropna(), bins=10)"]
    kind = "line" if _is_line(query, schema) else "bar"
    shown = "result.unstack()" if len(query.groups) == 2 else "result"
    legend = "" if len(query.groups) == 2 else ", legend=False"
    return [f"{shown}.plot(kind={kind!r}, ax=ax{legend})"]


def _is_line(query: Query, schema: Schema) -> bool:
    if query.plot in ("line", "bar"):
        return query.plot == "line"
    first = query.groups[0]
    over_time = schema.dated(first.column) and first.part not in ("weekday", "week")
    return over_time and query.order is None


def _axes(query: Query) -> tuple[str, str]:
    """A plot of a against b has b below."""
    first, second = query.columns
    return second, first


def _captions(query: Query) -> tuple[str, str, str]:
    if query.kind == "rows":
        x, y = _axes(query)
        return f"{y} against {x}", x, y
    if query.kind == "histogram":
        return f"Distribution of {query.columns[0]}", query.columns[0], "number of rows"
    y = measure_words(query.measures[0])
    x = group_words(query.groups[0])
    return f"{y[:1].upper()}{y[1:]} by {' and '.join(group_words(group) for group in query.groups)}", x, y


def measure_words(measure: Measure) -> str:
    """``total sales``, ``number of rows``."""
    return f"{_OPS[measure.op]} {measure.column}".strip()


def group_words(group: Group) -> str:
    """What stands below an axis: the column, or the part of a date."""
    return {"period_month": "month", "period_quarter": "quarter"}.get(group.part, group.part) or group.column


def _file_name(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    return ("_".join(words)[:60].strip("_") or "plot") + ".png"
