"""Traces keep what a turn thought and called, whole groups of it, within their bounds."""

from __future__ import annotations

from roles_runtime.memory import traces
from roles_runtime.memory.traces import MAX_TURN_BYTES, Traces
from roles_runtime.posts.event import ModelReplied, ToolReturned


def replied(post: str, message: str = "{}", *, role: str = "Planner", traced: bool = True) -> ModelReplied:
    return ModelReplied("r1", role, f"r1/{post}/{role}", "m:1", message, "tool_calls", 1, 1, 0, traced=traced)


def returned(post: str, result: str = "{}", *, role: str = "Planner") -> ToolReturned:
    return ToolReturned("r1", role, f"r1/{post}/{role}", "c1", "add", result, 0)


def test_steps_come_back_to_the_role_that_took_them_and_to_no_other() -> None:
    kept = Traces()
    steps = [replied("p1"), returned("p1"), replied("p1", '{"last": 1}')]
    for step in (*steps, replied("p1", role="Reviewer")):
        kept.take(step)
    trace = kept.of("Planner", "p1")
    assert trace is not None
    assert list(trace.steps) == steps
    assert kept.of("Planner", "p2") is None
    assert kept.of("Echo", "p1") is None


def test_an_answer_without_thoughts_or_calls_leaves_nothing() -> None:
    kept = Traces()
    kept.take(replied("p1", traced=False))
    kept.take(returned("p1"))
    assert kept.of("Planner", "p1") is None


def test_what_is_beyond_the_bound_of_a_turn_goes_by_whole_groups_oldest_first() -> None:
    kept = Traces()
    half = "x" * (MAX_TURN_BYTES // 2 - 10)
    for number in range(3):
        kept.take(replied("p1", f"{number}"))
        kept.take(returned("p1", half))
    trace = kept.of("Planner", "p1")
    assert trace is not None
    assert [step.message for step in trace.steps if isinstance(step, ModelReplied)] == ["1", "2"]
    assert trace.dropped == 2
    assert trace.size_bytes <= MAX_TURN_BYTES


def test_a_group_that_is_larger_than_the_bound_goes_itself() -> None:
    kept = Traces()
    kept.take(replied("p1"))
    kept.take(returned("p1", "x" * (MAX_TURN_BYTES + 1)))
    trace = kept.of("Planner", "p1")
    assert trace is not None
    assert list(trace.steps) == []
    assert trace.dropped == 2
    kept.take(returned("p1"))
    assert list(trace.steps) == []


def test_the_oldest_turns_go_where_a_session_holds_too_much() -> None:
    kept = Traces()
    count = traces.MAX_SESSION_BYTES // MAX_TURN_BYTES + 4
    for number in range(count):
        kept.take(replied(f"p{number}", "x" * (MAX_TURN_BYTES - 1)))
    assert kept.of("Planner", "p0") is None
    assert kept.of("Planner", f"p{count - 1}") is not None
