"""Real public tables for the evaluation of the rules model, each written as the file a user would have.

Every table is read from the files inside an installed package, so nothing is downloaded and no package
code runs. The values are the publishers' own, gaps and odd date formats included. Only `weather_zh` is
derived: it is `weather` with Chinese column names and values.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
from collections.abc import Callable
from typing import Final

import pandas as pd

TABLES: Final[tuple[str, ...]] = (
    "cars",
    "penguins",
    "weather",
    "weather_zh",
    "stocks",
    "gapminder",
    "barley",
    "electricity",
    "employment",
    "riots",
    "airports",
)
"""The names that `load_table` and `write_table` know."""

_SOURCES: Final[dict[str, tuple[str, str]]] = {
    "cars": ("vega_datasets", "_data/cars.json"),
    "penguins": ("palmerpenguins", "data/penguins.csv"),
    "weather": ("vega_datasets", "_data/seattle-weather.csv"),
    "weather_zh": ("vega_datasets", "_data/seattle-weather.csv"),
    "stocks": ("vega_datasets", "_data/stocks.csv"),
    "gapminder": ("gapminder", "gapminder.csv"),
    "barley": ("vega_datasets", "_data/barley.json"),
    "electricity": ("vega_datasets", "_data/iowa-electricity.csv"),
    "employment": ("vega_datasets", "_data/us-employment.csv"),
    "riots": ("vega_datasets", "_data/la-riots.csv"),
    "airports": ("vega_datasets", "_data/airports.csv"),
}

_SUFFIXES: Final[dict[str, str]] = {
    "stocks": ".parquet",
    "gapminder": ".xlsx",
    "barley": ".jsonl",
    "electricity": ".tsv",
}
"""Every other table is a csv file."""

_CHINESE_COLUMNS: Final[dict[str, str]] = {
    "date": "日期",
    "precipitation": "降水量",
    "temp_max": "最高气温",
    "temp_min": "最低气温",
    "wind": "风速",
    "weather": "天气",
}

_CHINESE_WEATHER: Final[dict[str, str]] = {
    "sun": "晴",
    "fog": "雾",
    "rain": "雨",
    "drizzle": "毛毛雨",
    "snow": "雪",
}


def _package_file(package: str, path: str) -> pathlib.Path:
    """Find a data file inside an installed package without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"the evaluation tables need the package {package!r}", name=package)
    return pathlib.Path(spec.submodule_search_locations[0]) / path


def load_table(name: str) -> pd.DataFrame:
    """Load one table with the publisher's own columns, values and date formats.

    Args:
        name: one of `TABLES`.

    Returns:
        The table. Dates are text, except in `stocks`, whose file format keeps real dates.

    Raises:
        KeyError: there is no such table.
    """
    source = _package_file(*_SOURCES[name])
    if source.suffix == ".json":
        table = pd.DataFrame(json.loads(source.read_text(encoding="utf-8")))
    else:
        table = pd.read_csv(source, encoding="utf-8")
    if name == "stocks":
        table["date"] = pd.to_datetime(table["date"], format="%b %d %Y")
    elif name == "weather_zh":
        table["weather"] = table["weather"].map(_CHINESE_WEATHER)
        table = table.rename(columns=_CHINESE_COLUMNS)
    return table


def write_table(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Write one table into a folder as the file a user would have.

    Args:
        name: one of `TABLES`.
        folder: an existing folder.

    Returns:
        The file, named after the table: csv, tsv, jsonl, xlsx or parquet.

    Raises:
        KeyError: there is no such table.
    """
    table = load_table(name)
    path = folder / f"{name}{_SUFFIXES.get(name, '.csv')}"
    writers: dict[str, Callable[[], object]] = {
        ".csv": lambda: table.to_csv(path, index=False),
        ".tsv": lambda: table.to_csv(path, index=False, sep="\t"),
        ".jsonl": lambda: table.to_json(path, orient="records", lines=True, force_ascii=False),
        ".xlsx": lambda: table.to_excel(path, index=False),
        ".parquet": lambda: table.to_parquet(path, index=False),
    }
    writers[path.suffix]()
    return path
