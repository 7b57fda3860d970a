"""The bars that the rules model must clear, on the questions it was tuned on and on those it was not."""

from __future__ import annotations

from functools import cache

import pytest

from evaluation.score import (
    REFUSED_OUT_OF_SCOPE_AT_LEAST,
    RIGHT_IN_SCOPE_AT_LEAST,
    WRONG_AT_MOST,
    Score,
    SetName,
    score,
)

SETS: tuple[SetName, ...] = ("tuning", "held_out")


@cache
def scored(name: SetName) -> Score:
    result = score(name)
    print(f"\n{result.table()}\n{result.mistakes()}")
    return result


@pytest.mark.parametrize("name", SETS)
def test_hardly_an_answer_is_wrong(name: SetName) -> None:
    assert scored(name).share("wrong") <= WRONG_AT_MOST, scored(name).table()


@pytest.mark.parametrize("name", SETS)
def test_most_questions_in_scope_are_answered_right(name: SetName) -> None:
    assert scored(name).share("right", "in") >= RIGHT_IN_SCOPE_AT_LEAST, scored(name).table()


@pytest.mark.parametrize("name", SETS)
def test_questions_out_of_scope_are_refused(name: SetName) -> None:
    assert scored(name).share("right", "out") >= REFUSED_OUT_OF_SCOPE_AT_LEAST, scored(name).table()
