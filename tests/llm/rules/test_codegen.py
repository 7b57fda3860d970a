"""The code is run for real, over the example's table, and its answer compared with pandas' own."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.rules.desk import ORDERS, orders, profile_of, query_of
from roles_runtime.llm.providers.rules.codegen import write_code
from roles_runtime.llm.providers.rules.query import Filter, Group, Measure, Query
from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.posts.shared import ColumnProfile, FileProfile

mpl.use("Agg")
Frame = Any


def run(code: str, folder: Path) -> Any:
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    with contextlib.chdir(folder):
        exec(compile(tree, "cell", "exec"), names)
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def asked(question: str, folder: Path = ORDERS.parent) -> Any:
    query = query_of(question)
    assert query is not None, question
    return run(write_code(query, orders()), folder)


def table() -> Frame:
    return pd.read_csv(ORDERS, parse_dates=["date"])


NUMBERS: dict[str, Callable[[Frame], Any]] = {
    "how many orders are there": len,
    "total sales": lambda df: df["sales"].sum(),
    "median unit price of Tea": lambda df: df[df["category"] == "Tea"]["unit_price"].median(),
    "how many products are there": lambda df: df["product"].nunique(),
    "how many months are covered": lambda df: df["date"].dt.strftime("%Y-%m").nunique(),
    "how many orders with sales between 50 and 100": lambda df: ((df["sales"] >= 50) & (df["sales"] <= 100)).sum(),
    "total sales in East or West": lambda df: df[df["region"].isin(["East", "West"])]["sales"].sum(),
    "number of orders before April 2024": lambda df: (df["date"] < "2024-04-01").sum(),
    "number of orders on Mondays": lambda df: (df["date"].dt.day_of_week == 0).sum(),
    "how many missing values in sales": lambda df: df["sales"].isna().sum(),
    "how many missing values are there": lambda df: df.isna().sum().sum(),
    "how many orders have no region": lambda df: df["region"].isna().sum(),
    "correlation between quantity and sales": lambda df: df["quantity"].corr(df["sales"]),
}


@pytest.mark.parametrize("question", NUMBERS)
def test_a_number_is_what_pandas_says(question: str) -> None:
    assert asked(question) == pytest.approx(NUMBERS[question](table()))


TABLES: dict[str, Callable[[Frame], Any]] = {
    "total sales by region": lambda df: df.groupby("region")["sales"].sum(),
    "average sales by region and category": lambda df: df.groupby(["region", "category"])["sales"].mean(),
    "top 3 products by sales": lambda df: df.groupby("product")["sales"].sum().nlargest(3),
    "total sales by region from lowest to highest": lambda df: df.groupby("region")["sales"].sum().sort_values(),
    "number of orders by month": lambda df: df.groupby(df["date"].dt.month).size(),
}


@pytest.mark.parametrize("question", TABLES)
def test_a_table_is_what_pandas_says(question: str) -> None:
    expected = TABLES[question](table())
    pd.testing.assert_series_equal(asked(question), expected, check_names=False, check_index_type=False)


def test_weekdays_stand_in_the_order_of_the_week() -> None:
    days = list(asked("number of orders by weekday").index)
    assert days == ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def test_rows_are_shown_with_what_tells_them_apart() -> None:
    best = asked("which order has the highest sales?")
    assert list(best.columns) == ["order_id", "sales"]
    assert best["sales"].tolist() == [table()["sales"].max()]


def test_several_measures_stand_side_by_side() -> None:
    both = asked("number of orders and total sales by region")
    assert list(both.columns) == ["count", "sum sales"]
    assert both["count"].sum() == table()["region"].notna().sum()


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Total sales by region, and plot them", "total_sales_by_region.png"),
        ("line chart of monthly sales", "total_sales_by_month.png"),
        ("histogram of quantity", "distribution_of_quantity.png"),
        ("scatter plot of quantity vs sales", "quantity_against_sales.png"),
        ("stacked names: bar chart of number of orders by region and category".partition(": ")[2],
         "number_of_rows_by_region_and_category.png"),
    ],
)  # fmt: skip
def test_a_plot_is_a_png_file_and_its_numbers_are_the_answer(question: str, name: str, tmp_path: Path) -> None:
    (tmp_path / ORDERS.name).write_bytes(ORDERS.read_bytes())
    numbers = asked(question, tmp_path)
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert len(numbers) > 0


def test_the_axes_of_a_plot_are_named() -> None:
    query = query_of("bar chart of total sales by region")
    assert query is not None
    code = write_code(query, orders())
    for line in ("set_title('Total sales by region')", "set_xlabel('region')", "set_ylabel('total sales')"):
        assert line in code


HOSTILE = [
    "x'); import os #",
    'a"]; __import__("os").system("true") #',
    "{braces} {0}",
    "new\nline",
    "back\\slash'",
    "f'{1}'",
    "零\u2028行",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_column_name_is_only_a_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame({name: [1, 2, 3], "kind": ["a'b", 'c"d', "a'b"]}).to_csv(path, index=False)
    schema = Schema(profile_of(path))
    query = Query("t.csv", "aggregate", (Measure("sum", name),), (Group("kind"),), (Filter("kind", "==", ("a'b",)),))
    result = run(write_code(query, schema), tmp_path)
    assert result.to_dict() == {"a'b": 4}


@given(name=st.text(min_size=1), value=st.text(), number=st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_stands_in_a_name_or_value_the_code_is_the_same_but_for_constants(
    name: str, value: str, number: float
) -> None:
    def shape(name: str, value: str, number: float) -> str:
        column = ColumnProfile(name, "number", distinct_count=1)
        file = FileProfile("t.csv", 1, "csv", "pd.read_csv('t.csv')", 1, (column, ColumnProfile("k", "text")))
        filters = (Filter("k", "==", (value,)), Filter(name, ">", (number,)))
        query = Query("t.csv", "aggregate", (Measure("sum", name),), (Group("k"),), filters, plot="bar")
        tree = ast.parse(write_code(query, Schema(file)))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                node.value = 0
        return ast.dump(_without_fonts_and_signs(tree))

    assert shape(name, value, abs(number)) == shape("x", "y", 1.0)


def _without_fonts_and_signs(tree: ast.Module) -> ast.Module:
    """Names that are not ASCII bring a line for the fonts, which is the one thing that may differ."""
    tree.body = [node for node in tree.body if not ast.unparse(node).startswith("plt.rcParams")]
    return tree
