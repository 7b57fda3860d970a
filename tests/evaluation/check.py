"""Compares what a cell returned with the answer that a question of the evaluation set expects."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import numbers
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

_DATE: Final = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_LOOSE_DATE: Final = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?:[T ].*)?")
_NAMED_DATE_FORMATS: Final = ("%b %d %Y", "%B %d %Y", "%b %Y", "%B %Y")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CHINESE_WEEKDAYS: Final = "一二三四五六日"
_PLOTS: Final = {"hist": "histogram", "barh": "bar", "column": "bar"}
_MOST_SPARE_ROWS: Final = 500

Row = tuple[object, ...]


def matches(expect: Mapping[str, object], result: object) -> bool:
    """Tell whether a result answers a question as expected.

    Args:
        expect: the `expect` object of a question.
        result: a scalar, list, dict, Series or DataFrame; for a plot its kind as text, or a mapping with
            `plot` and perhaps `x` and `y`; for a refusal None or "refuse"; for a description also
            "describe".

    Returns:
        True if the result says what is expected. Row labels and columns beyond the expected ones are fine,
        values beyond the expected ones are not.

    Raises:
        ValueError: `expect` has a kind that is not known.
    """
    kind = expect["kind"]
    refused = result is None or (isinstance(result, str) and result in ("refuse", "refused"))
    if kind == "refuse":
        return refused
    if refused:
        return False
    if kind == "scalar":
        return any(_same(expect["value"], value) for value in _single(result))
    if kind == "list":
        return _matches_list(_sequence(expect["values"]), result, ordered=bool(expect.get("ordered")))
    if kind == "table":
        return _matches_table(expect, result)
    if kind == "contains":
        return _matches_contains(expect, result)
    if kind == "plot":
        return _matches_plot(expect, result)
    if kind == "describe":
        return _is_description(result)
    raise ValueError(f"unknown kind of expectation: {kind!r}")


def _sequence(value: object) -> list[object]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(f"expected a list, found {type(value).__name__}")
    return list(value)


def _is_null(value: object) -> bool:
    return value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _plain(value: object) -> object:
    """Turn numpy's and other wrapped scalars into Python's own."""
    if isinstance(value, (pd.Timestamp, pd.Period)):
        return value
    if type(value).__module__ == "numpy":
        if type(value).__name__ == "datetime64":
            return pd.Timestamp(value)
        item = getattr(value, "item", None)
        return item() if callable(item) and getattr(value, "ndim", 0) == 0 else value
    return value


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value.replace(",", ""))
        except ValueError:
            return None
    return None


def _iso(value: object) -> str:
    """Write a date as far as it is known: 2012, 2012-03 or 2012-03-04."""
    if isinstance(value, pd.Period):
        return str(value)
    if isinstance(value, (dt.datetime, dt.date)):
        return value.isoformat()[:10]
    number = None if isinstance(value, str) else _number(value)
    if number is not None:
        return str(int(number)) if number.is_integer() else str(number)
    text = str(value).strip()
    found = _LOOSE_DATE.fullmatch(text)
    if found:
        return "-".join(part.zfill(2) for part in found.groups() if part)
    for pattern in _NAMED_DATE_FORMATS:
        try:
            day = dt.datetime.strptime(text.replace(",", ""), pattern).replace(tzinfo=dt.UTC)
        except ValueError:
            continue
        return day.strftime("%Y-%m-%d" if "%d" in pattern else "%Y-%m")
    return text


def _part(value: object, unit: object) -> object:
    """Reduce a key to its number of month (1-12) or weekday (Monday is 0); other keys stay."""
    names = _MONTHS if unit == "month" else _WEEKDAYS
    if isinstance(value, str):
        text = value.strip().lower()
        if text[:3] in names:
            return names.index(text[:3]) + (1 if unit == "month" else 0)
        if unit == "weekday" and text[:1] in ("周", "星"):
            return _CHINESE_WEEKDAYS.find(text[-1].replace("天", "日"))
        if unit == "month" and text.endswith("月"):
            text = text.removesuffix("月").rpartition("年")[2]
        if text.isdigit():
            return int(text)
    if _number(value) is not None:
        return value
    iso = _iso(value)
    if unit == "month" and re.fullmatch(r"\d{4}-\d{2}(-\d{2})?", iso):
        return int(iso[5:7])
    if unit == "weekday" and re.fullmatch(r"\d{4}-\d{2}-\d{2}", iso):
        return dt.date.fromisoformat(iso).weekday()
    return value


def _same(expected: object, actual: object, unit: object = None) -> bool:
    actual = _plain(actual)
    if _is_null(actual):
        return False
    if unit is not None:
        expected, actual = _part(expected, unit), _part(actual, unit)
    if isinstance(expected, str):
        if _DATE.fullmatch(expected):
            iso = _iso(actual)
            return iso == expected or iso.startswith(f"{expected}-")
        return str(actual).strip().casefold() == expected.strip().casefold()
    wanted, found = _number(expected), _number(actual)
    if wanted is None or found is None:
        return False
    rounded = round(wanted, 2)
    near = math.isclose(wanted, found, rel_tol=1e-6, abs_tol=1e-12)
    return near or ((rounded != 0 or wanted == 0) and math.isclose(rounded, found, rel_tol=1e-12, abs_tol=1e-12))


def _labels(index: Any) -> Any:
    """Give row labels that say something; a plain count from 0 does not."""
    return None if isinstance(index, pd.RangeIndex) else index


def _as_tuple(value: object) -> Row:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _listed(result: object) -> list[object] | None:
    """Give the elements of a list, tuple, set, array or index, and None for anything else."""
    if isinstance(result, (list, tuple, set, frozenset)):
        return list(result)
    tolist = getattr(result, "tolist", None)
    if callable(tolist) and not isinstance(result, (pd.Series, pd.DataFrame)):
        elements = tolist()
        return elements if isinstance(elements, list) else None
    return None


def _single(result: object) -> Iterator[object]:
    """Yield every value that a one-value result could mean; nothing for a longer one."""
    if isinstance(result, pd.DataFrame):
        if len(result) == 1:
            for row in _frame_rows(result):
                yield from row
        elif _is_correlation(result):
            yield result.iloc[0, 1]
    elif isinstance(result, pd.Series):
        if len(result) == 1:
            yield from _series_rows(result)[0]
    elif isinstance(result, Mapping):
        if len(result) == 1:
            yield from itertools.chain(result.values(), result)
    elif (elements := _listed(result)) is not None:
        if len(elements) == 1:
            yield from _single(elements[0])
    else:
        yield result


def _is_correlation(frame: Any) -> bool:
    """Tell a two by two correlation matrix."""
    if frame.shape != (2, 2) or list(frame.index) != list(frame.columns):
        return False
    return all(_same(1, frame.iloc[place, place]) for place in (0, 1)) and _same(
        _plain(frame.iloc[0, 1]), frame.iloc[1, 0]
    )


def _frame_rows(frame: Any) -> list[Row]:
    labels = _labels(frame.index)
    heads = [()] * len(frame) if labels is None else [_as_tuple(label) for label in labels]
    cells = frame.itertuples(index=False, name=None)
    return [(*head, *row) for head, row in zip(heads, cells, strict=True)]


def _series_rows(series: Any) -> list[Row]:
    labels = _labels(series.index)
    heads = [()] * len(series) if labels is None else [_as_tuple(label) for label in labels]
    return [(*head, value) for head, value in zip(heads, list(series), strict=True)]


def _wide_rows(frame: Any) -> list[Row]:
    """Read a table with one key down and one key across as rows of two keys and a value."""
    if _labels(frame.index) is None and len(frame.columns) > 1:
        frame = frame.set_index(frame.columns[0])
    rows: list[Row] = []
    for head, cells in zip(frame.index, frame.itertuples(index=False, name=None), strict=True):
        for column, value in zip(frame.columns, cells, strict=True):
            across = _as_tuple(column)[-1]
            if not _is_null(_plain(value)):
                rows.append((*_as_tuple(head), across, value))
    return rows


def _readings(result: object) -> Iterator[list[Row]]:
    """Yield the ways in which a result can be read as rows."""
    if isinstance(result, pd.DataFrame):
        yield _frame_rows(result)
        wide = _wide_rows(result)
        yield wide
        yield [row for row in wide if not _same(0, row[-1])]
    elif isinstance(result, pd.Series):
        yield _series_rows(result)
    elif isinstance(result, Mapping):
        values = list(result.values())
        if values and all(isinstance(value, Mapping) or _listed(value) is not None for value in values):
            frame = pd.DataFrame(dict(result))
            yield from _readings(frame)
            yield from _readings(frame.T)
        else:
            yield [(*_as_tuple(key), value) for key, value in result.items()]
    elif (elements := _listed(result)) is not None:
        if elements and all(isinstance(element, Mapping) for element in elements):
            yield from _readings(pd.DataFrame(elements))
        else:
            yield [_as_tuple(element) for element in elements]
    else:
        yield [(result,)]


def _matches_table(expect: Mapping[str, object], result: object) -> bool:
    rows = [tuple(_sequence(row)) for row in _sequence(expect["rows"])]
    ordered, prefix = bool(expect.get("ordered")), bool(expect.get("prefix"))
    return any(
        _rows_agree(rows, reading, ordered=ordered, prefix=prefix, unit=expect.get("keys"))
        for reading in _readings(result)
    )


def _rows_agree(rows: list[Row], found: list[Row], *, ordered: bool, prefix: bool, unit: object) -> bool:
    if prefix:
        found = found[: len(rows)]
    if len(found) < len(rows) or len(found) > len(rows) + _MOST_SPARE_ROWS or not rows:
        return False
    width = len(found[0])
    if any(len(row) != width for row in found):
        return False
    units = [unit] + [None] * (len(rows[0]) - 1)
    choices = [
        [
            column
            for column in range(width)
            if all(any(_same(row[place], line[column], units[place]) for line in found) for row in rows)
        ]
        for place in range(len(rows[0]))
    ]
    for columns in itertools.product(*choices):
        if len(set(columns)) < len(columns):
            continue
        lines = [tuple(line[column] for column in columns) for line in found]
        lines = [line for line in lines if not any(_is_null(_plain(cell)) for cell in line)]
        if len(lines) == len(rows) and _lines_agree(rows, lines, units, ordered=ordered):
            return True
    return False


def _lines_agree(rows: list[Row], lines: list[Row], units: list[object], *, ordered: bool) -> bool:
    def agree(row: Row, line: Row) -> bool:
        return all(_same(want, cell, unit) for want, cell, unit in zip(row, line, units, strict=True))

    if ordered:
        return all(agree(row, line) for row, line in zip(rows, lines, strict=True))
    left = list(lines)
    for row in rows:
        place = next((number for number, line in enumerate(left) if agree(row, line)), None)
        if place is None:
            return False
        del left[place]
    return True


def _matches_list(values: list[object], result: object, *, ordered: bool) -> bool:
    rows: list[Row] = [(value,) for value in values]
    candidates: list[Iterable[object]] = []
    if isinstance(result, pd.DataFrame):
        candidates.append(result.index)
        candidates.extend(list(result.iloc[:, place]) for place in range(result.shape[1]))
        if len(result) == 1:
            candidates.append(list(result.iloc[0]))
        if len(result) == 0:
            candidates.append(list(result.columns))
    elif isinstance(result, pd.Series):
        candidates += [result.index, list(result)]
    elif isinstance(result, Mapping):
        candidates += [result, result.values()]
    elif (elements := _listed(result)) is not None:
        candidates.append(elements)
        if elements and all(len(_as_tuple(element)) == 1 for element in elements):
            candidates.append([_as_tuple(element)[0] for element in elements])
    else:
        candidates.append([result])
    for candidate in candidates:
        found: list[Row] = [(value,) for value in candidate if not _is_null(_plain(value))]
        if len(found) == len(rows) and _lines_agree(rows, found, [None], ordered=ordered):
            return True
    return False


def _flat(result: object) -> Iterator[object]:
    if isinstance(result, pd.DataFrame):
        yield from itertools.chain.from_iterable(_frame_rows(result))
    elif isinstance(result, pd.Series):
        yield from itertools.chain.from_iterable(_series_rows(result))
    elif isinstance(result, Mapping):
        for key, value in result.items():
            yield from _as_tuple(key)
            yield from _flat(value)
    elif (elements := _listed(result)) is not None:
        for element in elements:
            yield from _flat(element)
    else:
        yield result


def _is_record(values: Iterable[object]) -> bool:
    """Tell one row, whose values are of several types, from a list of like values."""
    plain = [_plain(value) for value in values]
    kinds = {isinstance(value, numbers.Number) for value in plain if not _is_null(value)}
    return len(kinds) > 1


def _row_counts(result: object) -> set[int]:
    """Give the numbers of rows that a result can be said to have."""
    if isinstance(result, pd.DataFrame):
        return {len(result)}
    if isinstance(result, (pd.Series, Mapping)):
        values = list(result.values()) if isinstance(result, Mapping) else list(result)
        return {len(values), 1} if _is_record(values) else {len(values)}
    if (elements := _listed(result)) is not None:
        return {len(elements), 1} if _is_record(elements) else {len(elements)}
    return {1}


def _matches_contains(expect: Mapping[str, object], result: object) -> bool:
    if "count" in expect and expect["count"] not in _row_counts(result):
        return False
    found = list(_flat(result))
    return all(any(_same(value, cell) for cell in found) for value in _sequence(expect["values"]))


def _matches_plot(expect: Mapping[str, object], result: object) -> bool:
    drawn: Mapping[object, object] = result if isinstance(result, Mapping) else {"plot": result}
    kind = drawn.get("plot")
    if not isinstance(kind, str) or _PLOTS.get(kind, kind) != expect["plot"]:
        return False
    axes = (drawn.get("x"), drawn.get("y"))
    if "columns" in expect and None not in axes and set(axes) != set(_sequence(expect["columns"])):
        return False
    return all(
        axis not in expect or told is None or told == expect[axis] for axis, told in zip("xy", axes, strict=True)
    )


def _is_description(result: object) -> bool:
    if isinstance(result, str):
        return result == "describe"
    if isinstance(result, pd.DataFrame):
        names = {str(name) for name in (*result.index, *result.columns)}
    elif isinstance(result, pd.Series):
        names = {str(name) for name in result.index}
    elif isinstance(result, Mapping):
        names = {str(name) for name in result}
    else:
        return False
    return "count" in names and bool(names & {"mean", "unique"})
