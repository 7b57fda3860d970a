"""A Toolbox answers every call with a result; nothing that a model writes or a tool does ends the turn."""

from __future__ import annotations

import json

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import ToolDefinitionError, ToolFailedError
from roles_runtime.llm.message import JsonObject, ToolCall, ToolReturn
from roles_runtime.llm.request import ToolSpec
from roles_runtime.tools.tool import Tool, tool
from roles_runtime.tools.toolbox import MAX_RESULT_BYTES, Toolbox

pytestmark = pytest.mark.anyio


@tool
async def add(left: int, right: int = 1) -> int:
    """Adds."""
    return left + right


@tool
async def now() -> str:
    """The time."""
    return "12:00"


def called(name: str, arguments: str) -> ToolCall:
    return ToolCall(call_id="call-1", name=name, arguments=arguments)


def test_the_specs_are_what_a_model_is_told_in_order() -> None:
    assert [spec.name for spec in Toolbox([now, add]).specs()] == ["now", "add"]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="'now' already"):
        Toolbox([now, now])


async def test_a_call_is_answered_under_its_id() -> None:
    assert await Toolbox([add]).call(called("add", '{"left": 2}')) == ToolReturn(
        call_id="call-1", name="add", result="3"
    )


async def test_an_unknown_tool_is_an_error_that_names_those_there_are() -> None:
    result = await Toolbox([add, now]).call(called("subtract", "{}"))
    assert result.is_error
    assert "'subtract'" in result.result
    assert "add, now" in result.result


@pytest.mark.parametrize("arguments", ["", "  \n"])
async def test_no_arguments_are_an_empty_object_and_are_validated(arguments: str) -> None:
    toolbox = Toolbox([add, now])
    assert (await toolbox.call(called("now", arguments))).result == "12:00"
    refused = await toolbox.call(called("add", arguments))
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
    ],
)
async def test_arguments_that_are_no_object_are_told_and_the_tool_is_not_run(arguments: str, told: str) -> None:
    ran = []

    @tool
    async def record(left: int = 0) -> str:
        ran.append(left)
        return "ran"

    result = await Toolbox([record]).call(called("record", arguments))
    assert result.is_error
    assert told in result.result
    assert ran == []


async def test_every_argument_that_does_not_fit_has_a_readable_line() -> None:
    result = await Toolbox([add]).call(called("add", '{"left": "two", "rigth": 3}'))
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

    result = await Toolbox([fail]).call(called("fail", "{}"))
    assert (result.result, result.is_error) == ("The shop is closed.", True)


async def test_any_other_exception_is_an_error_result_without_its_traceback() -> None:
    @tool
    def fail() -> str:
        raise KeyError("price")

    result = await Toolbox([fail]).call(called("fail", "{}"))
    assert result.result == "fail failed: KeyError: 'price'"
    assert result.is_error


async def test_a_result_without_a_json_form_is_an_error_result() -> None:
    @tool
    async def give() -> object:
        return object()

    result = await Toolbox([give]).call(called("give", "{}"))
    assert result.is_error
    assert "PydanticSerializationError" in result.result


async def test_cancellation_passes_through() -> None:
    @tool
    async def wait() -> str:
        await anyio.sleep_forever()
        return "never"

    with anyio.move_on_after(0.01) as scope:
        await Toolbox([wait]).call(called("wait", "{}"))
    assert scope.cancelled_caught


async def test_a_tool_without_a_model_of_its_arguments_gets_the_object() -> None:
    async def echo(arguments: JsonObject) -> str:
        return json.dumps(arguments)

    remote = Tool(ToolSpec("remote__echo", "", {"type": "object"}), echo)
    assert (await Toolbox([remote]).call(called("remote__echo", '{"a": [1]}'))).result == '{"a": [1]}'


async def test_a_long_result_is_cut_with_a_note_between_characters() -> None:
    @tool
    async def long() -> str:
        return "預" * 40_000

    result = (await Toolbox([long]).call(called("long", ""))).result
    text, note = result.split("\n")
    assert set(text) == {"預"}
    assert len(text) == MAX_RESULT_BYTES // 3
    assert "120,000 bytes" in note


async def test_half_a_character_in_a_result_can_be_written_down() -> None:
    @tool
    async def half() -> str:
        return "a\ud83d\ude00b\ud83d"

    result = await Toolbox([half]).call(called("half", ""))
    assert result.result == "a😀b\ufffd"
    assert ToolReturn.model_validate_json(result.model_dump_json()) == result


@given(arguments=st.text(max_size=40) | st.recursive(st.none() | st.integers(), st.lists).map(json.dumps))
def test_whatever_a_model_writes_is_answered(arguments: str) -> None:
    result = anyio.run(Toolbox([add]).call, called("add", arguments))
    assert result.is_error
    assert result.call_id == "call-1"
