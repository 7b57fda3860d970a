from __future__ import annotations

import pytest

from llm.rules.desk import query_of, refusal_of, short

UNDERSTOOD = {
    # counting
    "How many rows are in orders.csv?": "count()",
    "number of orders": "count()",
    "How many orders were there in March 2024?": "count(); if date.date between 2024-03-01,2024-03-31",
    "how many products are there": "nunique(product)",
    "number of distinct regions": "nunique(region)",
    "how many units were sold in East": "sum(quantity); if region == East",
    "How many months are covered?": "nunique(date.period_month)",
    # one number
    "total sales": "sum(sales)",
    "What's the average unit price?": "mean(unit_price)",
    "median quantity of Coffee orders": "median(quantity); if category == Coffee",
    "largest sales": "max(sales)",
    "min and max sales": "min(sales) max(sales)",
    "total revenue in the North region": "sum(sales); if region == North",
    # groups
    "Total sales by region, and plot them": "sum(sales); by region; plot auto",
    "average sales by region and category": "mean(sales); by region; by category",
    "Break down total sales by category": "sum(sales); by category",
    "number of orders per weekday": "count(); by date.weekday",
    "for every region show the number of orders and the total sales": "count() sum(sales); by region",
    "sales by month in East": "sum(sales); by date.month; if region == East",
    "total sales for each region sorted descending": "sum(sales); by region; order value desc",
    # filters
    "how many orders have a quantity greater than 10?": "count(); if quantity > 10",
    "how many orders with sales between 50 and 100": "count(); if sales between 50,100",
    "orders with at least 15 units": "rows; if quantity >= 15",
    "orders where quantity is 10 or more": "rows; if quantity >= 10",
    "total sales in East or West": "sum(sales); if region in East,West",
    "total sales since June 2024": "sum(sales); if date.date >= 2024-06-01",
    "total sales after 2024-06-01": "sum(sales); if date.date > 2024-06-01",
    "number of orders on Mondays": "count(); if date.weekday == 0",
    "total sales in Q1": "sum(sales); if date.quarter == 1",
    "total sales from March 2024 to May 2024": "sum(sales); if date.date between 2024-03-01,2024-05-31",
    "average sales of Tea in East": "mean(sales); if category == Tea; if region == East",
    # which, top
    "Which region has the highest total sales?": "sum(sales); by region; order value desc; limit 1",
    "which weekday has the most orders": "count(); by date.weekday; order value desc; limit 1",
    "Which order has the highest sales?": "rows order_id sales; order sales desc; limit 1",
    "top 5 products by sales": "sum(sales); by product; order value desc; limit 5",
    "top three orders by quantity": "rows order_id quantity; order quantity desc; limit 3",
    "bottom 3 orders by sales": "rows order_id sales; order sales asc; limit 3",
    "most common product": "count(); by product; order value desc; limit 1",
    # rows and lists
    "show the first 5 rows": "rows; limit 5",
    "last 3 orders": "rows; limit -3",
    "sort orders by sales descending": "rows; order sales desc",
    "list the regions": "distinct region",
    "which products were sold in East?": "distinct product; if region == East",
    "region and product of orders with quantity over 15": "rows region product; if quantity > 15",
    # the table
    "what columns are there": "columns",
    "how many rows and columns": "shape",
    "describe the data": "describe",
    "summary statistics of sales": "describe sales",
    "how many missing values in sales": "missing sales",
    "how many orders have no region": "count(); if region missing",
    "correlation between quantity and sales": "correlation quantity sales",
    # pictures
    "histogram of quantity": "histogram quantity; plot hist",
    "scatter plot of quantity vs sales": "rows quantity sales; plot scatter",
    "line chart of monthly sales": "sum(sales); by date.month; plot line",
    "bar chart of the number of orders by region": "count(); by region; plot bar",
    # Chinese
    "一共有多少行": "count()",
    "各地区的总销售额是多少，并画图": "sum(sales); by region; plot auto",
    "每个产品的平均单价": "mean(unit_price); by product",
    "哪个地区的销售额最高": "sum(sales); by region; order value desc; limit 1",
    "销售额前5的产品": "sum(sales); by product; order value desc; limit 5",
    "有多少个不同的产品": "nunique(product)",
    "有多少缺失值": "missing",
    "销售额大于100的订单有多少个": "count(); if sales > 100",
    "单价在10到20之间的订单有几个": "count(); if unit_price between 10,20",
    "东部地区的总销售额": "sum(sales); if region == East",
    "2024年3月的总销售额": "sum(sales); if date.date between 2024-03-01,2024-03-31",
    "按月统计销售额并画折线图": "sum(sales); by date.month; plot line",
    "数量和销售额的相关系数": "correlation quantity sales",
    "数量的直方图": "histogram quantity; plot hist",
    "周一的订单数": "count(); if date.weekday == 0",
    "按销售额降序排列": "rows; order sales desc",
    "销售额的中位数": "median(sales)",
}


@pytest.mark.parametrize(("question", "meaning"), UNDERSTOOD.items(), ids=list(UNDERSTOOD))
def test_a_question_is_understood(question: str, meaning: str) -> None:
    assert short(query_of(question)) == meaning


UNKNOWN_WORDS = {
    "total sales excluding East": ("excluding",),
    "how many orders are not in East": ("not",),
    "average sales except for East": ("except",),
    "How many orders are there without a region?": ("without",),
    "second highest sales": ("second",),
    "sales growth by month": ("growth",),
    "cumulative sales by month": ("cumulative",),
    "what percentage of orders are in East": ("percentage",),
    "weighted average of sales": ("weighted",),
    "ratio of sales to quantity": ("ratio",),
    "predict sales for next month": ("predict", "next"),
    "why did sales drop in East": ("why", "drop"),
    "total profit": ("profit",),
    "Which region has the highest sales but lowest quantity?": ("but",),
    "total sales by region as a pie chart": ("pie",),
    "import os; os.system('ls')": ("import", "os", "system"),
    "各地区销售额占比": ("占比",),
    "销售额同比增长": ("同比增长",),
    "不含茶的总销售额": ("不含茶",),
}


@pytest.mark.parametrize(("question", "words"), UNKNOWN_WORDS.items(), ids=list(UNKNOWN_WORDS))
def test_a_word_that_is_not_accounted_for_is_named(question: str, words: tuple[str, ...]) -> None:
    assert refusal_of(question).words == words


@pytest.mark.parametrize(
    "question",
    [
        "how many orders have sales above average",
        "average number of orders per month",
        "average sales per order",
        "max of average sales by region",
        "sum of the 3 largest sales",
        "top 3 products by sales in each region",
        "regions with total sales above 1000",
        "how many regions have more than 20 orders",
        "how many products have sales over 1000",
        "average sales in East and West",
        "total sales in East versus West",
        "total sales in East and total quantity in West",
        "sales in the first quarter vs second quarter",
        "average sales of orders in East or with quantity over 10",
        "sort orders by region and sales",
        "correlation between region and sales",
        "sales last month",
        "How many mugs were sold?",
        "what is the average",
        "sales",
        "how many",
        "东部和西部的平均销售额",
        "销售额超过平均值的订单",
    ],
)
def test_known_words_in_an_unknown_order_are_refused(question: str) -> None:
    assert refusal_of(question).words == ()


def test_the_extreme_without_a_direction_is_the_highest_for_a_top_and_a_sort_word_changes_that() -> None:
    assert short(query_of("top 5 orders sorted by quantity")) == "rows; order quantity desc; limit 5"
    assert short(query_of("top 5 orders sorted by quantity ascending")) == "rows; order quantity asc; limit 5"


@pytest.mark.parametrize(
    "question", ["TOTAL SALES BY REGION", "total Sales, by Region.", "please show me the total sales per region"]
)
def test_case_stops_and_courtesy_change_nothing(question: str) -> None:
    assert short(query_of(question)) == "sum(sales); by region"


def test_a_question_of_a_thousand_words_is_refused_at_once() -> None:
    assert refusal_of("total sales by region " * 300).words == ()
