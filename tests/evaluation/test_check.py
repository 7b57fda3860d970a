"""Tests of the comparison, and of the evaluation set's own form."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from evaluation.check import matches
from evaluation.tables import TABLES, load_table, write_table

FOLDER = pathlib.Path(__file__).parent
BY_ORIGIN = {"kind": "table", "rows": [["Europe", 81.0], ["Japan", 79.835443038]], "ordered": False}


def questions(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return loaded


def answer(expect: Mapping[str, Any]) -> object:
    """Give the plainest result that says what is expected."""
    kind = expect["kind"]
    if kind == "scalar":
        return expect["value"]
    if kind in ("list", "contains"):
        return pd.Series(expect["values"]) if len(expect["values"]) > 1 else expect["values"][0]
    if kind == "table":
        return pd.DataFrame(expect["rows"])
    return expect["plot"] if kind == "plot" else kind


def test_a_scalar_is_matched_by_one_value_in_any_wrapping() -> None:
    expect = {"kind": "scalar", "value": 406}
    for result in (406, 406.0, "406", [406], {"n": 406}, pd.Series([406]), pd.DataFrame({"n": [406]})):
        assert matches(expect, result), result
    for wrong in (407, None, "refuse", "many", [406, 1], pd.Series([406, 406]), True, float("nan")):
        assert not matches(expect, wrong), wrong


def test_a_number_may_be_rounded_to_two_decimals_but_no_further() -> None:
    expect = {"kind": "scalar", "value": 79.835443038}
    assert matches(expect, 79.83544303797468)
    assert matches(expect, 79.84)
    assert not matches(expect, 79.8)
    assert not matches(expect, 79.85)
    assert not matches({"kind": "scalar", "value": 0.001}, 0)


def test_a_correlation_may_be_shown_as_its_matrix() -> None:
    matrix = pd.DataFrame([[1.0, -0.7], [-0.7, 1.0]], index=["a", "b"], columns=["a", "b"])
    assert matches({"kind": "scalar", "value": -0.7}, matrix)
    assert not matches({"kind": "scalar", "value": 1}, matrix)


def test_a_table_is_compared_by_key_whatever_the_order_and_extra_columns() -> None:
    series = pd.Series({"Japan": 79.835443038, "Europe": 81.0})
    frame = pd.DataFrame({"n": [79, 73], "Origin": ["Japan", "Europe"], "hp": [79.84, 81]})
    assert matches(BY_ORIGIN, series)
    assert matches(BY_ORIGIN, dict(series))
    assert matches(BY_ORIGIN, frame)
    assert matches(BY_ORIGIN, frame.to_dict("records"))
    assert not matches(BY_ORIGIN, pd.Series({"Japan": 81.0, "Europe": 79.835443038}))
    assert not matches(BY_ORIGIN, pd.Series({"Japan": 79.835443038}))
    assert not matches(BY_ORIGIN, pd.Series({"Japan": 79.835443038, "Europe": 81.0, "USA": 119.9}))


def test_a_group_of_rows_without_a_key_is_not_counted() -> None:
    frame = pd.DataFrame({"Origin": ["Europe", "Japan", None], "hp": [81.0, 79.835443038, 1.0]})
    assert matches(BY_ORIGIN, frame)


def test_an_ordered_table_needs_its_order() -> None:
    expect = {"kind": "table", "rows": [["a", 3], ["b", 2]], "ordered": True}
    assert matches(expect, pd.DataFrame({"k": ["a", "b"], "v": [3, 2]}))
    assert not matches(expect, pd.DataFrame({"k": ["b", "a"], "v": [2, 3]}))


def test_a_prefix_lets_more_rows_follow() -> None:
    longer = pd.DataFrame({"k": ["a", "b", "c"], "v": [3, 2, 1]})
    expect = {"kind": "table", "rows": [["a", 3], ["b", 2]], "ordered": True}
    assert matches({**expect, "prefix": True}, longer)
    assert not matches(expect, longer)
    assert not matches({**expect, "prefix": True}, longer[::-1])


def test_two_keys_may_be_rows_or_rows_and_columns() -> None:
    expect = {"kind": "table", "rows": [["a", "2012", 1], ["a", "2013", 2], ["b", "2012", 3]], "ordered": False}
    long = pd.DataFrame({"k": ["a", "a", "b"], "year": [2012, 2013, 2012], "v": [1, 2, 3]})
    grouped = long.groupby(["k", "year"])["v"].sum()
    assert matches(expect, long)
    assert matches(expect, grouped)
    assert matches(expect, grouped.unstack())
    assert matches(expect, grouped.unstack(fill_value=0))
    assert not matches(expect, grouped.unstack().rename(index={"a": "b", "b": "a"}))


def test_dates_are_compared_as_far_as_they_are_expected() -> None:
    expect = {"kind": "contains", "values": ["2014-08-11"], "count": 1}
    for result in (pd.Timestamp("2014-08-11"), "2014/08/11", "2014/8/11", "Aug 11 2014", "2014-08-11T00:00:00"):
        assert matches(expect, result), result
    assert not matches(expect, pd.Timestamp("2014-08-12"))
    years = {"kind": "table", "rows": [["2012", 5], ["2013", 6]], "ordered": False}
    assert matches(years, pd.Series([5, 6], index=[2012, 2013]))
    assert matches(years, pd.Series([5, 6], index=pd.to_datetime(["2012-01-01", "2013-01-01"])))
    assert not matches(years, pd.Series([5, 6], index=[2013, 2012]))


def test_months_and_weekdays_have_many_names() -> None:
    months = {"kind": "table", "rows": [["2013-01", 5], ["2013-02", 6]], "ordered": False, "keys": "month"}
    for keys in ([1, 2], ["January", "February"], ["2013-01", "2013-02"], ["1月", "2月"]):
        assert matches(months, pd.Series([5, 6], index=keys)), keys
    assert matches(months, pd.Series([5, 6], index=pd.period_range("2013-01", periods=2, freq="M")))
    assert not matches(months, pd.Series([6, 5], index=[1, 2]))
    days = {"kind": "table", "rows": [["Monday", 5], ["Sunday", 6]], "ordered": False, "keys": "weekday"}
    for keys in ([0, 6], ["Monday", "Sunday"], ["Mon", "Sun"], ["星期一", "星期日"], ["周一", "周日"]):
        assert matches(days, pd.Series([5, 6], index=keys)), keys


def test_a_list_is_matched_by_values_or_row_labels() -> None:
    expect = {"kind": "list", "values": ["USA", "Japan"], "ordered": False}
    for result in (["Japan", "USA"], {"USA", "Japan"}, pd.Series(["USA", "Japan"]).unique()):
        assert matches(expect, result), result
    assert matches(expect, pd.Series({"USA": 254, "Japan": 79}))
    assert matches(expect, pd.DataFrame({"Origin": ["USA", "Japan"]}))
    assert not matches(expect, ["USA", "Japan", "Europe"])
    assert not matches({**expect, "ordered": True}, ["Japan", "USA"])


def test_a_record_may_carry_more_than_the_expected_value() -> None:
    expect = {"kind": "contains", "values": ["pontiac"], "count": 1}
    frame = pd.DataFrame({"Name": ["pontiac", "ford"], "hp": [230, 85]})
    assert matches(expect, "pontiac")
    assert matches(expect, frame.head(1))
    assert matches(expect, frame.iloc[0])
    assert matches(expect, {"Name": "pontiac", "hp": 230})
    assert not matches(expect, frame)
    assert not matches(expect, frame.set_index("Name")["hp"])


def test_a_plot_is_matched_by_its_kind_and_by_the_axes_that_are_told() -> None:
    expect = {"kind": "plot", "plot": "line", "x": "date", "y": "price"}
    assert matches(expect, "line")
    assert matches(expect, {"plot": "line", "x": "date"})
    assert not matches(expect, {"plot": "line", "x": "price", "y": "date"})
    assert not matches(expect, "bar")
    assert not matches(expect, None)
    assert matches({"kind": "plot", "plot": "histogram"}, "hist")
    scatter = {"kind": "plot", "plot": "scatter", "columns": ["a", "b"]}
    assert matches(scatter, {"plot": "scatter", "x": "b", "y": "a"})
    assert not matches(scatter, {"plot": "scatter", "x": "b", "y": "c"})


def test_a_description_is_a_table_of_statistics() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3]})
    assert matches({"kind": "describe"}, frame.describe())
    assert matches({"kind": "describe"}, frame.describe().T)
    assert not matches({"kind": "describe"}, frame)


def test_only_a_refusal_is_a_refusal() -> None:
    for refusal in (None, "refuse", "refused"):
        assert matches({"kind": "refuse"}, refusal)
    for given in (0, "", [0], pd.DataFrame()):
        assert not matches({"kind": "refuse"}, given)


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown kind"):
        matches({"kind": "essay"}, "text")


@pytest.mark.parametrize("name", ["held_out.json", "tuning.json"])
def test_every_question_is_well_formed_and_is_matched_by_its_own_answer(name: str) -> None:
    for question in questions(name):
        assert question["table"] in TABLES
        assert question["language"] in ("en", "zh")
        assert (question["scope"] == "out") == (question["expect"]["kind"] == "refuse")
        result = answer(question["expect"])
        assert matches(question["expect"], result), question["id"]
        if question["scope"] == "in":
            assert not matches(question["expect"], None)
            assert not matches({"kind": "refuse"}, result)


def test_the_two_halves_share_no_question() -> None:
    every = questions("held_out.json") + questions("tuning.json")
    assert len({question["id"] for question in every}) == len(every)
    assert len({(question["table"], question["question"]) for question in every}) == len(every)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_written_as_a_file_that_reads_back_with_all_its_rows(name: str, tmp_path: pathlib.Path) -> None:
    path = write_table(name, tmp_path)
    table = load_table(name)
    if path.suffix == ".jsonl":
        back = pd.DataFrame([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
    elif path.suffix == ".xlsx":
        back = pd.read_excel(path)
    elif path.suffix == ".parquet":
        back = pd.read_parquet(path)
    else:
        back = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")
    assert list(back.columns) == list(table.columns)
    assert len(back) == len(table)
