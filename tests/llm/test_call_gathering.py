"""Tool calls come out whole, whichever way a server keys their fragments."""

from __future__ import annotations

import pytest

from roles_runtime.llm.call_gathering import MAX_CALLS, CallGatherer
from roles_runtime.llm.sse import TooLongError


def gathered(*fragments: dict[str, object]) -> list[tuple[str, str, str]]:
    gatherer = CallGatherer()
    for fragment in fragments:
        gatherer.add(**fragment)  # type: ignore[arg-type]
    return [(call.call_id, call.name, call.arguments) for call in gatherer.calls()]


def test_fragments_of_two_calls_may_come_mixed() -> None:
    assert gathered(
        {"index": 0, "call_id": "a", "name": "f"},
        {"index": 1, "call_id": "b", "name": "g"},
        {"index": 0, "arguments": '{"x"'},
        {"index": 1, "arguments": "{}"},
        {"index": 0, "arguments": ": 1}"},
    ) == [("a", "f", '{"x": 1}'), ("b", "g", "{}")]


def test_a_new_id_under_the_same_index_is_another_call() -> None:
    assert gathered(
        {"index": 0, "call_id": "a", "name": "f", "arguments": "{}"},
        {"index": 0, "call_id": "b", "name": "f", "arguments": '{"n":'},
        {"index": 0, "arguments": "2}"},
    ) == [("a", "f", "{}"), ("b", "f", '{"n":2}')]


def test_without_index_and_id_the_last_call_goes_on() -> None:
    assert gathered({"call_id": "a", "name": "f"}, {"arguments": "{"}, {"arguments": "}"}) == [("a", "f", "{}")]


def test_the_first_fragment_may_hold_the_beginning_of_the_arguments() -> None:
    assert gathered(
        {"index": 0, "call_id": "a", "name": "f", "arguments": "{"}, {"index": 0, "arguments": '"a":1}'}
    ) == [("a", "f", '{"a":1}')]


def test_a_name_that_is_repeated_in_every_fragment_is_set_once() -> None:
    fragments = [{"index": 0, "call_id": "a", "name": "add", "arguments": part} for part in ("{", '"a":', "1}")]
    assert gathered(*fragments) == [("a", "add", '{"a":1}')]


def test_an_id_that_comes_late_belongs_to_the_call_of_its_index() -> None:
    assert gathered({"index": 0, "name": "f"}, {"index": 0, "call_id": "a", "arguments": "{}"}) == [("a", "f", "{}")]


def test_another_name_without_an_id_is_another_call() -> None:
    assert [name for _, name, _ in gathered({"name": "f", "arguments": "{}"}, {"name": "g", "arguments": "{}"})] == [
        "f",
        "g",
    ]


def test_calls_without_ids_get_ids_that_nobody_else_has() -> None:
    gatherer = CallGatherer()
    gatherer.add_whole(name="f")
    gatherer.add_whole(call_id="call-0", name="g")
    gatherer.add_whole(name="h")
    ids = [call.call_id for call in gatherer.calls()]
    assert len(set(ids)) == 3
    assert ids[1] == "call-0"


def test_whole_arguments_take_the_place_of_their_fragments() -> None:
    gatherer = CallGatherer()
    gatherer.add(call_id="a", name="f", arguments='{"a"')
    gatherer.replace_arguments('{"a": 1}', call_id="a")
    assert gatherer.calls()[0].arguments == '{"a": 1}'


def test_an_index_may_be_a_text() -> None:
    assert gathered(
        {"index": "0", "call_id": "a", "name": "f"},
        {"index": "1", "call_id": "b", "name": "g"},
        {"index": "0", "arguments": "[0]"},
        {"index": "1", "arguments": "[1]"},
    ) == [("a", "f", "[0]"), ("b", "g", "[1]")]


def test_calls_are_bounded_in_pieces_and_whole() -> None:
    gatherer = CallGatherer()
    for number in range(MAX_CALLS):
        gatherer.add_whole(call_id=f"c{number}", name="f")
    gatherer.add(call_id=f"c{MAX_CALLS - 1}", arguments="{}")
    with pytest.raises(TooLongError, match="tool calls"):
        gatherer.add(call_id="one more", name="f")
    with pytest.raises(TooLongError, match="tool calls"):
        gatherer.add_whole(call_id="one more", name="f")
    assert len(gatherer.calls()) == MAX_CALLS
