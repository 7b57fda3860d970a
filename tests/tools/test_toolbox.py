"""A Toolbox answers every call with a result; nothing that a model writes or a tool does ends the turn."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import StoreError, ToolDefinitionError, ToolFailedError
from roles_runtime.llm.calls import ToolReturn
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import ToolSpec
from roles_runtime.posts.event import PassingEvent, StatusChanged
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import MAX_RESULT_BYTES
from roles_runtime.tools.tool import Tool, tool
from roles_runtime.tools.toolbox import MAX_ARGUMENTS_BYTES, MAX_SIDE_BY_SIDE, Answered, Toolbox
from tools.calling import a_caller, answer, called, caller_of

pytestmark = pytest.mark.anyio


@tool
async def add(left: int, right: int = 1) -> int:
    """Adds."""
    return left + right


@tool
async def now() -> str:
    """The time."""
    return "12:00"


def test_the_specs_are_what_a_model_is_told_in_order() -> None:
    assert [spec.name for spec in Toolbox([now, add]).specs()] == ["now", "add"]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="'now' already"):
        Toolbox([now, now])


async def test_a_call_is_answered_under_its_id() -> None:
    assert await answer(Toolbox([add]), "add", '{"left": 2}') == ToolReturn(call_id="call-1", name="add", result="3")


async def test_an_unknown_tool_is_an_error_that_names_those_there_are() -> None:
    result = await answer(Toolbox([add, now]), "subtract", "{}")
    assert result.is_error
    assert "'subtract'" in result.result
    assert "add, now" in result.result


@pytest.mark.parametrize("arguments", ["", "  \n"])
async def test_no_arguments_are_an_empty_object_and_are_validated(arguments: str) -> None:
    toolbox = Toolbox([add, now])
    assert (await answer(toolbox, "now", arguments)).result == "12:00"
    refused = await answer(toolbox, "add", arguments)
    assert refused.is_error
    assert "- left: Field required" in refused.result


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"left": 1', "no valid JSON"),
        ('{"left": 1}{"left": 2}', "trailing characters"),
        ("[1]", "a list"),
        ("null", "null"),
        ("true", "a boolean"),
        ("7", "a number"),
        ('"text"', "a text"),
        ("[" * 100_000, "no valid JSON"),
        ('{"left": \ud83d}', "no valid JSON"),
        ('{"left": NaN}', "no valid JSON"),
    ],
)
async def test_arguments_that_are_no_object_are_told_and_the_tool_is_not_run(arguments: str, told: str) -> None:
    ran = []

    @tool
    async def record(left: int = 0) -> str:
        ran.append(left)
        return "ran"

    result = await answer(Toolbox([record]), "record", arguments)
    assert result.is_error
    assert told in result.result
    assert ran == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"text": "two\nlines\t"}', "two\nlines\t"),
        ('{"text": "half \\ud83d"}', "half \ufffd"),
        ('{"text": "half \ud83d"}', "half \ufffd"),
        ('{"text": "whole \\ud83d\\ude00"}', "whole 😀"),
    ],
)
async def test_raw_line_breaks_and_halves_of_characters_are_forgiven(arguments: str, told: str) -> None:
    @tool
    async def say(text: str) -> str:
        """Says it."""
        return text

    assert (await answer(Toolbox([say]), "say", arguments)).result == told


async def test_every_argument_that_does_not_fit_has_a_readable_line() -> None:
    result = await answer(Toolbox([add]), "add", '{"left": "two", "rigth": 3}')
    assert result.is_error
    assert result.result.splitlines() == [
        "add was not called: its arguments do not fit:",
        "- left: Input should be a valid integer, unable to parse string as an integer",
        "- rigth: Extra inputs are not permitted",
    ]


async def test_a_tool_tells_its_failure_in_its_own_words() -> None:
    @tool
    async def fail() -> str:
        raise ToolFailedError("The shop is closed.")

    result = await answer(Toolbox([fail]), "fail", "{}")
    assert (result.result, result.is_error) == ("The shop is closed.", True)


async def test_any_other_exception_is_an_error_result_without_its_traceback() -> None:
    @tool
    def fail() -> str:
        raise KeyError("price")

    result = await answer(Toolbox([fail]), "fail", "{}")
    assert result.result == "fail failed: KeyError: 'price'"
    assert result.is_error


async def test_cancellation_passes_through() -> None:
    @tool
    async def wait() -> str:
        await anyio.sleep_forever()
        return "never"

    with anyio.move_on_after(0.01) as scope:
        await answer(Toolbox([wait]), "wait", "{}")
    assert scope.cancelled_caught


async def test_a_tool_without_a_model_of_its_arguments_gets_the_object() -> None:
    async def echo(arguments: JsonObject, caller: Caller) -> str:
        return json.dumps(arguments)

    remote = Tool(ToolSpec("remote__echo", "", {"type": "object"}), echo)
    assert (await answer(Toolbox([remote]), "remote__echo", '{"a": [1]}')).result == '{"a": [1]}'


async def test_a_long_result_is_cut_with_a_note_between_characters() -> None:
    @tool
    async def long() -> str:
        return "預" * 40_000

    result = (await answer(Toolbox([long]), "long", "")).result
    text, note = result.split("\n")
    assert set(text) == {"預"}
    assert len(text) == MAX_RESULT_BYTES // 3
    assert "120,000 bytes" in note


async def test_half_a_character_in_a_result_can_be_written_down() -> None:
    @tool
    async def half() -> str:
        return "a\ud83d\ude00b\ud83d"

    result = await answer(Toolbox([half]), "half", "")
    assert result.result == "a😀b\ufffd"
    assert ToolReturn.model_validate_json(result.model_dump_json()) == result


@given(arguments=st.text(max_size=40) | st.recursive(st.none() | st.integers(), st.lists).map(json.dumps))
def test_whatever_a_model_writes_is_answered(arguments: str) -> None:
    result = asyncio.run(answer(Toolbox([add]), "add", arguments))
    assert result.is_error
    assert result.call_id == "call-1"


async def test_arguments_of_five_megabytes_are_refused_and_the_tool_is_not_run() -> None:
    ran = []

    @tool
    async def keep(text: str) -> str:
        ran.append(text)
        return "kept"

    result = await answer(Toolbox([keep]), "keep", json.dumps({"text": "x" * (5 << 20)}))
    assert "keep was not called: its arguments have 5,242,8" in result.result
    assert f"{MAX_ARGUMENTS_BYTES:,}" in result.result
    assert ran == []
    assert not (await answer(Toolbox([keep]), "keep", json.dumps({"text": "x" * (1 << 19)}))).is_error


async def test_arguments_with_many_faults_are_told_with_some_of_them() -> None:
    wrong = json.dumps({f"key{n}": n for n in range(1000)})
    lines = (await answer(Toolbox([now]), "now", wrong)).result.splitlines()
    assert lines[0].endswith("do not fit:")
    assert lines[-1] == "- and 980 more"


@pytest.mark.parametrize(
    "error",
    [
        SystemExit("enough"),
        BaseExceptionGroup("two", [SystemExit("enough"), OSError("a")]),
        asyncio.CancelledError("not by us"),
        StopIteration("the end"),
    ],
)
@pytest.mark.parametrize("in_thread", [False, True])
async def test_a_tool_that_exits_or_cancels_itself_is_an_error_result(error: BaseException, in_thread: bool) -> None:
    def leave() -> str:
        raise error

    async def leave_later() -> str:
        await anyio.lowlevel.checkpoint()
        leave()
        return "never"

    result = await answer(Toolbox([tool(leave if in_thread else leave_later, name="leave")]), "leave")
    assert result.is_error
    assert result.result.startswith("leave failed: ")


async def test_an_error_that_can_not_say_what_it_is_is_an_error_result() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("mute")

    @tool
    async def fail() -> str:
        raise MuteError

    assert (await answer(Toolbox([fail]), "fail")).result == "fail failed: MuteError: it can not say what went wrong"


async def test_neither_results_nor_errors_tell_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sk-very-secret")

    @tool
    def fail(key: str) -> str:
        return {"a": 1}[key]  # type: ignore[return-value]

    told = [
        await answer(Toolbox([fail]), name, arguments)
        for name, arguments in [("fail", '{"key": "b"}'), ("fail", "{}"), ("fail", '{"key": "a"}'), ("other", "")]
    ]
    assert all("sk-very-secret" not in each.model_dump_json() for each in told)


@pytest.mark.parametrize("in_thread", [False, True])
async def test_a_call_that_takes_too_long_is_an_error_result_that_says_so(in_thread: bool) -> None:
    leave = threading.Event()

    async def wait_here() -> str:
        await anyio.sleep_forever()
        return "never"

    slow = tool(name="slow", timeout_s=0.05)(in_a_thread(leave) if in_thread else wait_here)
    answered = await Toolbox([slow]).call(called("slow"), a_caller())
    leave.set()
    assert answered.outcome == "timeout"
    assert answered.returned.is_error
    assert answered.returned.result == "slow gave no result within 0.05 s, and is waited for no longer."


def in_a_thread(leave: threading.Event) -> Callable[[], bool]:
    def wait() -> bool:
        return leave.wait(30)

    return wait


async def test_each_call_says_what_it_is_busy_with() -> None:
    shown: list[PassingEvent] = []
    await Toolbox([now]).call(called("now"), a_caller(shown=shown))
    assert shown == [StatusChanged("round", "Tester", "calling now")]


async def test_a_call_that_is_refused_is_told_why_and_not_carried_out() -> None:
    answered = await Toolbox([now]).call(called("now"), a_caller(), "Too many.")
    assert (answered.outcome, answered.returned.result, answered.returned.is_error) == ("rejected", "Too many.", True)


class Floor:
    """Where calls stand: it sees who is there at once, and lets them leave in an order of its own."""

    def __init__(self, delays: dict[str, int] | None = None) -> None:
        self.delays = delays or {}
        self.present: set[str] = set()
        self.met: list[frozenset[str]] = []
        self.order: list[str] = []

    def tools(self) -> list[Tool]:
        async def look(who: str) -> str:
            return await self._stay(who)

        async def write(who: str) -> str:
            return await self._stay(who)

        return [tool(look), tool(exclusive=True)(write)]

    async def _stay(self, who: str) -> str:
        self.present.add(who)
        self.order.append(who)
        self.met.append(frozenset(self.present))
        for _ in range(1 + self.delays.get(who, 0)):
            await anyio.lowlevel.checkpoint()
            self.met.append(frozenset(self.present))
        self.present.remove(who)
        return f"{who} was here"


async def ignored(answered: Answered) -> None:
    """Nobody keeps it."""


async def test_calls_run_side_by_side_and_their_results_stand_in_call_order() -> None:
    floor = Floor({"a": 9, "b": 5, "c": 0})
    told: list[str] = []

    async def tell(answered: Answered) -> None:
        told.append(answered.call.call_id)

    calls = [called("look", json.dumps({"who": who}), who) for who in "abc"]
    returns = await Toolbox(floor.tools()).call_all(calls, caller_of, tell)
    assert frozenset("abc") in floor.met
    assert [each.call_id for each in returns] == told == ["a", "b", "c"]
    assert [each.result for each in returns] == ["a was here", "b was here", "c was here"]


async def test_no_more_than_some_run_at_once() -> None:
    floor = Floor()
    calls = [called("look", json.dumps({"who": str(n)}), str(n)) for n in range(3 * MAX_SIDE_BY_SIDE)]
    await Toolbox(floor.tools()).call_all(calls, caller_of, ignored)
    assert max(map(len, floor.met)) == MAX_SIDE_BY_SIDE
    assert floor.order == [call.call_id for call in calls]


@given(
    plan=st.lists(st.tuples(st.sampled_from(["look", "write", "unknown"]), st.integers(0, 6)), max_size=12),
)
def test_an_exclusive_call_is_alone_and_in_its_place_whatever_stands_around_it(plan: list[tuple[str, int]]) -> None:
    floor = Floor({str(index): delay for index, (_, delay) in enumerate(plan)})
    calls = [called(name, json.dumps({"who": str(n)}), str(n)) for n, (name, _) in enumerate(plan)]
    told: list[str] = []

    async def tell(answered: Answered) -> None:
        told.append(answered.call.call_id)

    async def run() -> tuple[ToolReturn, ...]:
        return await Toolbox(floor.tools()).call_all(calls, caller_of, tell)

    returns = asyncio.run(run())
    assert [each.call_id for each in returns] == told == [call.call_id for call in calls]
    assert [each.is_error for each in returns] == [name == "unknown" for name, _ in plan]
    exclusive = {str(n) for n, (name, _) in enumerate(plan) if name == "write"}
    assert all(len(met) == 1 for met in floor.met if met & exclusive)
    for who in exclusive:
        place = floor.order.index(who)
        assert all(int(other) < int(who) for other in floor.order[:place])
        assert all(int(other) > int(who) for other in floor.order[place + 1 :])


async def test_exclusive_calls_of_one_id_still_run_alone() -> None:
    floor = Floor({"a": 3, "b": 3})
    calls = [called("write", json.dumps({"who": who}), "same") for who in "ab"]
    await Toolbox(floor.tools()).call_all(calls, caller_of, ignored)
    assert all(len(met) == 1 for met in floor.met)


async def test_cancellation_ends_all_calls_and_leaves_nothing_behind() -> None:
    ended: list[str] = []
    begun = anyio.Semaphore(0)

    @tool
    async def wait(who: str) -> str:
        begun.release()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(who)
        return "never"

    calls = [called("wait", json.dumps({"who": who}), who) for who in "abc"]
    before = asyncio.all_tasks()
    async with anyio.create_task_group() as group:
        group.start_soon(Toolbox([wait]).call_all, calls, caller_of, ignored)
        for _ in calls:
            await begun.acquire()
        group.cancel_scope.cancel()
    assert sorted(ended) == ["a", "b", "c"]
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("count", [1, 3])
async def test_a_journal_that_can_not_be_written_ends_all_calls_with_its_own_error(count: int) -> None:
    ended: list[str] = []

    @tool
    async def wait(who: str) -> str:
        try:
            await anyio.sleep(0 if who == "0" else 3600)
        finally:
            ended.append(who)
        return "here"

    async def tell(answered: Answered) -> None:
        raise StoreError("the disk is full")

    calls = [called("wait", json.dumps({"who": str(n)}), str(n)) for n in range(count)]
    with pytest.raises(StoreError, match="the disk is full"):
        await Toolbox([wait]).call_all(calls, caller_of, tell)
    assert len(ended) == count


async def test_a_tool_that_can_not_write_to_the_journal_ends_all_calls_with_its_own_error() -> None:
    @tool
    async def plan() -> str:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        await Toolbox([plan, now]).call_all([called("plan"), called("now")], caller_of, ignored)
