"""`@tool`: a typed function becomes a named tool with a JSON Schema, or an error that says why it can not."""

from __future__ import annotations

import math
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Literal, cast

import msgspec
import pytest
from pydantic import BaseModel, Field, ValidationError

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.posts.event import PassingEvent, StatusChanged
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.tool import Tool, tool
from tools.calling import a_caller

pytestmark = pytest.mark.anyio


class Point(BaseModel):
    x: int
    y: int = 0


@tool
async def plot(
    column: str,
    kind: Literal["line", "bar"] = "line",
    *,
    bins: Annotated[int, Field(ge=1)] = 10,
    origin: Point | None = None,
) -> dict[str, object]:
    """Draws a column.

    The file is written to the current folder.

    Args:
        column: Whose values are drawn,
            as the file names it.
        kind (str): How: a line or bars.
        bins: How many.

    Returns:
        Where it is.
    """
    return {"column": column, "kind": kind, "bins": bins, "origin": origin}


def test_name_and_description_come_from_the_function() -> None:
    assert plot.name == "plot"
    assert plot.spec.description == "Draws a column.\n\nThe file is written to the current folder."


def test_the_schema_tells_types_defaults_choices_and_what_the_docstring_says_of_each_argument() -> None:
    schema = plot.spec.parameters
    assert schema["type"] == "object"
    assert schema["required"] == ["column"]
    assert schema["additionalProperties"] is False
    assert "title" not in schema
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert properties["column"] == {"type": "string", "description": "Whose values are drawn, as the file names it."}
    assert properties["kind"] == {
        "type": "string",
        "enum": ["line", "bar"],
        "default": "line",
        "description": "How: a line or bars.",
    }
    assert properties["bins"] == {"type": "integer", "minimum": 1, "default": 10, "description": "How many."}
    assert list(properties) == ["column", "kind", "bins", "origin"]


def test_name_and_description_can_be_given() -> None:
    @tool(name="sum-up", description="Adds.")
    def add(numbers: list[int]) -> int:
        return sum(numbers)

    assert (add.name, add.spec.description) == ("sum-up", "Adds.")


async def test_arguments_reach_the_function_as_typed_values_with_their_defaults() -> None:
    result = await plot.call({"column": "sales", "bins": "5", "origin": {"x": 1}}, a_caller())
    assert result == '{"column":"sales","kind":"line","bins":5,"origin":{"x":1,"y":0}}'


@pytest.mark.parametrize(
    ("value", "text"), [("as it is", "as it is"), (None, "null"), ([1, "é"], '[1,"é"]'), (2.5, "2.5")]
)
async def test_a_result_that_is_no_text_becomes_json(value: object, text: str) -> None:
    @tool
    def give() -> object:
        return value

    assert await give.call({}, a_caller()) == text


async def test_a_plain_function_runs_off_the_event_loop() -> None:
    @tool
    def where() -> str:
        return threading.current_thread().name

    assert await where.call({}, a_caller()) != threading.current_thread().name


async def test_methods_and_awkward_parameter_names_work() -> None:
    class Shop:
        async def find(self, schema: str, _limit: int = 3, copy: bool = False) -> str:
            return f"{schema} {_limit} {copy}"

    found = tool(Shop().find)
    properties = found.spec.parameters["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["schema", "_limit", "copy"]
    assert await found.call({"schema": "s", "_limit": 4}, a_caller()) == "s 4 False"


async def test_an_object_with_an_async_call_is_awaited() -> None:
    class Greeter:
        async def __call__(self, name: str) -> str:
            return f"hello {name}"

    greet = tool(Greeter(), name="greet")
    assert await greet.call({"name": "Ada"}, a_caller()) == "hello Ada"


def positional_only(value: int, /) -> int:
    return value


def starred(*values: int) -> int:
    return len(values)


def double_starred(**values: int) -> int:
    return len(values)


def unannotated(value) -> int:  # type: ignore[no-untyped-def]
    return int(value)


def no_schema(value: Callable[[], int]) -> int:
    return value()


def no_type(value: threading.Lock) -> None: ...


def two_callers(one: Caller, other: Caller) -> None: ...


def double(value: int) -> int:
    return 2 * value


def unresolved(value: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (positional_only, "positional-only"),
        (starred, "variadic positional"),
        (double_starred, "variadic keyword"),
        (unannotated, "'value' needs a type annotation"),
        (no_schema, "no_schema"),
        (no_type, "no_type"),
        (two_callers, "one and other are both the Caller"),
        (unresolved, "Missing"),
        (lambda: 1, "<lambda>"),
        (partial(starred, 1), "partial"),
    ],
)
def test_what_can_not_be_a_tool_is_refused_with_its_reason(function: Callable[..., object], told: str) -> None:
    with pytest.raises(ToolDefinitionError, match=told):
        tool(function)


async def test_a_parameter_of_type_caller_is_filled_in_and_no_model_hears_of_it() -> None:
    @tool
    async def whose(count: int, caller: Caller, *, word: str = "calls") -> str:
        """Tells who calls."""
        return f"{caller.role} {word} {count} by {caller.call_id} in {caller.session_id}/{caller.round_id}"

    assert list(cast("dict[str, object]", whose.spec.parameters["properties"])) == ["count", "word"]
    assert whose.accepts is not None
    with pytest.raises(ValidationError):
        whose.accepts.model_validate({"count": 1, "caller": "me"})
    assert await whose.call({"count": 2}, a_caller("c-7")) == "Tester calls 2 by c-7 in session/round"


async def test_a_plain_function_shows_what_it_is_busy_with_in_the_event_loops_own_thread() -> None:
    shown: list[PassingEvent] = []
    threads: list[str] = []

    def keep(event: PassingEvent) -> None:
        shown.append(event)
        threads.append(threading.current_thread().name)

    @tool
    def work(caller: Caller) -> str:
        caller.status("reading page 1")
        return threading.current_thread().name

    caller = msgspec.structs.replace(a_caller(), emit=keep)
    assert await work.call({}, caller) != threading.current_thread().name
    assert shown == [StatusChanged("round", "Tester", "reading page 1")]
    assert threads == [threading.current_thread().name]


async def test_a_plain_function_round_an_async_one_is_awaited() -> None:
    async def inner(word: str) -> str:
        return word.upper()

    def outer(word: str) -> Awaitable[str]:
        return inner(word)

    assert await tool(outer).call({"word": "ha"}, a_caller()) == "HA"


def test_time_limit_and_exclusiveness_can_be_given() -> None:
    @tool(timeout_s=2.5, exclusive=True)
    def write() -> None: ...

    assert (write.timeout_s, write.exclusive) == (2.5, True)
    assert (plot.timeout_s, plot.exclusive) == (60.0, False)


@pytest.mark.parametrize("timeout_s", [0, -1, math.nan, math.inf])
def test_a_time_limit_that_is_none_is_refused(timeout_s: float) -> None:
    with pytest.raises(ToolDefinitionError, match="seconds above 0"):
        tool(timeout_s=timeout_s)(double)


def test_a_second_tool_of_a_name_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="'plot' already"):
        plot.check_new({"plot"})
    assert isinstance(plot, Tool)
