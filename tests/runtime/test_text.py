"""Text that can be written down, and lines that every error has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import KernelLostError, PostRefusedError
from roles_runtime.runtime.text import can_be_kept, check_question, fault_of, line_of
from runtime.casting import Marked, MuteError


@given(st.text(st.characters(exclude_categories=[])))
def test_a_text_can_be_kept_when_utf_8_can_hold_it(text: str) -> None:
    halves = any("\ud800" <= char <= "\udfff" for char in text)
    assert can_be_kept(text) is not halves
    assert bool(fault_of(text)) is halves


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is None and no text"),
        (b"x", "is of type bytes and no text"),
        (7, "is of type int and no text"),
        (Marked("x"), "is of type Marked and no plain str; make it one with str(...)"),
        ("a\ud800b", "half a surrogate pair"),
        ("\ud83d\ude00", "half a surrogate pair"),
    ],
)
def test_what_can_not_be_kept_is_told_by_its_kind(value: object, words: str) -> None:
    assert words in fault_of(value)


class QuittingError(Exception):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("two\n lines"), "ValueError: two lines"),
        (ValueError(), "ValueError"),
        (KernelLostError("it was idle"), str(KernelLostError("it was idle"))),
        (ValueError("cut \ud83d"), "ValueError: cut \ufffd"),
        (ValueError("whole \ud83d\ude00"), "ValueError: whole \U0001f600"),
        (ValueError(Marked("marked")), "ValueError: marked"),
        (MuteError(), "MuteError: (it can not say what went wrong)"),
        (QuittingError(), "QuittingError: (it can not say what went wrong)"),
    ],
)
def test_every_error_has_a_line_that_can_be_kept(error: BaseException, line: str) -> None:
    assert line_of(error) == line
    assert can_be_kept(line_of(error))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (b"go", "is of type bytes and no text"),
        ("\ud800", "half a surrogate"),
        (" \n", "is empty"),
        ("123456", "6 char"),
    ],
)
def test_a_question_that_can_not_be_asked_is_refused_with_the_reason(query: str, words: str) -> None:
    with pytest.raises(PostRefusedError, match=words):
        check_question(query, 5)


def test_a_question_of_the_longest_length_can_be_asked() -> None:
    check_question("12345", 5)
