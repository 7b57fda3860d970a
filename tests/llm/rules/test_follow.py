from __future__ import annotations

import pytest

from llm.rules.desk import by_user, by_worker, orders, own, planned, short
from roles_runtime.llm.providers.rules.follow import understand_in_turn
from roles_runtime.llm.providers.rules.grammar import Understood
from roles_runtime.llm.providers.rules.instruction import Instruction


def meaning(*questions: str) -> str:
    understood = understand_in_turn(questions, orders())
    return short(understood.query if isinstance(understood, Understood) else None)


FOLLOWED = {
    ("How many rows are there?", "Plot them by month"): "count(); by date.month; plot auto",
    ("total sales by region", "and by category?"): "sum(sales); by category",
    ("average sales by region", "and the median?"): "median(sales); by region",
    ("total sales by category", "what about East?"): "sum(sales); by category; if region == East",
    ("total sales in East", "what about West?"): "sum(sales); if region == West",
    ("total sales by region", "what about the quantity?"): "sum(quantity); by region",
    ("total sales by region", "sort them descending"): "sum(sales); by region; order value desc",
    ("total sales by region", "plot it as a bar chart"): "sum(sales); by region; plot bar",
    ("total sales by region", "and by category?", "plot them"): "sum(sales); by category; plot auto",
    ("total sales", "in 2024?"): "sum(sales); if date.year == 2024",
    ("总销售额", "那东部呢"): "sum(sales); if region == East",
}


@pytest.mark.parametrize(("questions", "expected"), FOLLOWED.items(), ids=[" / ".join(each) for each in FOLLOWED])
def test_a_question_leans_on_the_one_before(questions: tuple[str, ...], expected: str) -> None:
    assert meaning(*questions) == expected


@pytest.mark.parametrize(
    "questions",
    [
        ("Plot them by month",),
        ("list the regions", "and the median?"),
        ("total sales in East", "and the average sales?"),
        ("total sales by region", "and the second highest?"),
        ("total sales", "plot it"),
    ],
)
def test_what_is_not_plain_is_refused(questions: tuple[str, ...]) -> None:
    assert meaning(*questions) == "refused"


def test_a_whole_question_leans_on_nothing() -> None:
    assert meaning("total sales in East", "number of orders by category") == "count(); by category"


def test_the_planner_hands_on_what_the_question_leans_on() -> None:
    done = by_worker("The execution was successful.\nThe result is:\n200")
    first, second = by_user("How many rows are in orders.csv?"), by_user("Plot them by month")
    answer = planned(first, own(), done, own(), second)
    expected = Instruction("orders.csv", "Plot them by month", ("How many rows are in orders.csv?",))
    assert Instruction.from_text(answer["message"]) == expected


def test_the_planner_does_not_lean_on_what_was_not_understood() -> None:
    answer = planned(by_user("total profit"), own(), by_user("Plot them by month"))
    assert answer["stop"] == "Clarification"
