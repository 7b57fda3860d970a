"""A turn's allowance: so many calls, so many at once, and not one and the same for ever."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.llm.calls import ToolCall
from roles_runtime.tools.allowance import MAX_CALLS_A_TURN, MAX_CALLS_AN_ANSWER, MAX_REPEATS, Allowance
from tools.calling import called

ids = st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=6)


def different(count: int, start: int = 0) -> list[ToolCall]:
    return [called("look", f'{{"n": {n}}}', str(n)) for n in range(start, start + count)]


@given(answers=st.lists(ids, max_size=5))
def test_no_two_calls_of_a_turn_have_one_id_and_the_first_keeps_its_own(answers: list[list[str]]) -> None:
    allowance = Allowance()
    seen: set[str] = set()
    for given_ids in answers:
        calls = [called("look", "", each) for each in given_ids]
        for before, after in zip(calls, allowance.with_unique_ids(calls), strict=True):
            assert after.call_id
            assert after.call_id not in seen
            assert (after is before) == (bool(before.call_id) and before.call_id not in seen)
            seen.add(after.call_id)


def test_an_answer_may_make_so_many_calls_at_once() -> None:
    refusals = Allowance().refusals(different(MAX_CALLS_AN_ANSWER + 2))
    assert refusals[:MAX_CALLS_AN_ANSWER] == [""] * MAX_CALLS_AN_ANSWER
    assert all("make fewer at a time" in each for each in refusals[MAX_CALLS_AN_ANSWER:])


def test_a_turn_may_make_so_many_calls_in_all() -> None:
    allowance = Allowance()
    for start in range(0, MAX_CALLS_A_TURN, MAX_CALLS_AN_ANSWER):
        assert allowance.refusals(different(MAX_CALLS_AN_ANSWER, start)) == [""] * MAX_CALLS_AN_ANSWER
    assert "answer now" in allowance.refusals(different(1, 1000))[0]


def test_one_and_the_same_call_is_carried_out_some_times_in_a_row_and_then_refused() -> None:
    allowance = Allowance()
    same = [called("look", '{"n": 1}')]
    assert [allowance.refusals(same)[0] for _ in range(MAX_REPEATS)] == [""] * MAX_REPEATS
    assert f"{MAX_REPEATS + 1} times in a row" in allowance.refusals(same)[0]
    assert allowance.refusals([called("look", '{"n": 2}')]) == [""]
    assert allowance.refusals(same) == [""]
