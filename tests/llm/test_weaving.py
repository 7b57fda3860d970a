"""Thoughts stand where they were, and nothing of the text or the calls is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.weaving import woven

A, B = (ToolCall(call_id=each, name="t", arguments="{}") for each in "ab")


def thought(chars: int, calls: int = 0, text: str = "") -> Reasoning:
    return Reasoning(text=text, after_chars=chars, after_calls=calls)


def test_text_is_cut_at_thoughts_and_calls_stand_behind_it() -> None:
    first, second, third, last = thought(0), thought(2), thought(4, 1), thought(4, 2)
    assert list(woven("abcd", (A, B), (first, second, third, last))) == [
        *(first, "ab", second, "cd", A, third, B, last),
    ]


def test_text_is_cut_where_it_shall_be_beside() -> None:
    assert list(woven("abcd", (), (), cuts=(1, 1, 9, 0))) == ["a", "bcd"]


def test_a_place_behind_the_end_is_the_end() -> None:
    far = thought(99, 99)
    assert list(woven("ab", (A,), (far,))) == ["ab", A, far]


@given(
    st.text(max_size=12),
    st.lists(st.just(A), max_size=3),
    st.lists(st.builds(thought, st.integers(0, 14), st.integers(0, 4), st.text(max_size=2)), max_size=5),
    st.lists(st.integers(0, 14), max_size=3),
)
def test_nothing_is_lost_and_no_piece_is_empty(
    text: str, calls: list[ToolCall], thoughts: list[Reasoning], cuts: list[int]
) -> None:
    strands = list(woven(text, calls, thoughts, cuts))
    pieces = [each for each in strands if isinstance(each, str)]
    assert "".join(pieces) == text
    assert all(pieces)
    assert [each for each in strands if isinstance(each, ToolCall)] == calls
    kept = [each for each in strands if isinstance(each, Reasoning)]
    assert sorted(map(repr, kept)) == sorted(map(repr, thoughts))
