from __future__ import annotations

import pytest

from llm.rules.desk import query_of
from roles_runtime.llm.providers.rules.lexicon import language
from roles_runtime.llm.providers.rules.wording import answer

CAPTIONS = {
    "total sales by region": "Total sales by region",
    "which region has the highest total sales": "The region with the highest total sales",
    "top 3 products by sales": "The 3 highest total sales by product",
    "top 3 orders by sales": "The 3 rows with the highest sales",
    "show the first 5 rows": "The first 5 rows",
    "orders with quantity over 15 in East": "The rows where quantity is above 15 and region is East",
    "average sales of Tea between March 2024 and May 2024": (
        "Average sales where category is Tea and date is between 2024-03-01 and 2024-05-31"
    ),
    "list the regions": "The values of region",
    "哪个地区的销售额最高": "sales的总和最高的region",
    "销售额前3的产品": "sales的总和最高的3个product",
    "各地区的平均数量": "按region分组，quantity的平均值",
    "东部地区的总销售额": "sales的总和（region为East）",
}


@pytest.mark.parametrize(("question", "caption"), CAPTIONS.items(), ids=list(CAPTIONS))
def test_a_result_says_what_it_is(question: str, caption: str) -> None:
    query = query_of(question)
    assert query is not None
    said = answer(query, "a  1\nb  2", (), language(question))
    assert said.startswith((f"{caption}:", f"{caption}："))


def test_figures_in_a_table_keep_their_columns() -> None:
    query = query_of("average sales by region")
    assert query is not None
    said = answer(query, "region\nEast    1.23456\nWest   12.00000\nName: sales, dtype: float64", (), "en")
    assert "East       1.23\nWest      12.00\n```" in said


@pytest.mark.parametrize("value", ["nan", "[]", "Empty DataFrame\nColumns: []", "Series([], dtype: float64)"])
def test_an_empty_result_is_said_to_be_empty(value: str) -> None:
    query = query_of("average sales by region")
    assert query is not None
    assert "nothing fits" in answer(query, value, (), "en")
