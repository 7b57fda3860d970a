from __future__ import annotations

import math
from typing import Any

import pytest

from llm.wires.golden import WIRES, golden
from llm.wires.oracle import oracle_complaint
from roles_runtime.errors import ModelError, WireError
from roles_runtime.llm.validate import MAX_BODY_BYTES, validate_wire
from roles_runtime.llm.wire_rules.written import MAX_DEPTH


def refused(wire: str, body: dict[str, Any]) -> WireError:
    with pytest.raises(WireError) as caught:
        validate_wire("p:gemini-3-pro" if wire == "gemini" else "p:m", wire, body)
    return caught.value


def holder(wire: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """A body, an object of free JSON inside, and where that stands."""
    body = golden(wire)
    match wire:
        case "openai-chat":
            return body, body["tools"][0]["function"]["parameters"], "tools[0].function.parameters"
        case "openai-responses":
            return body, body["tools"][0]["parameters"], "tools[0].parameters"
        case "anthropic":
            return body, body["messages"][2]["content"][3]["input"], "messages[2].content[3].input"
        case "gemini":
            call = body["contents"][1]["parts"][2]["functionCall"]
            return body, call["args"], "contents[1].parts[2].functionCall.args"
    call = body["messages"][2]["tool_calls"][0]["function"]
    return body, call["arguments"], "messages[2].tool_calls[0].function.arguments"


@pytest.mark.parametrize("wire", WIRES)
def test_a_legal_body_passes(wire: str) -> None:
    validate_wire("p:gemini-3-pro", wire, golden(wire))


@pytest.mark.parametrize("wire", WIRES)
def test_what_passes_is_what_the_vendors_types_take(wire: str) -> None:
    assert oracle_complaint(wire, golden(wire)) == ""


@pytest.mark.parametrize("wire", WIRES)
def test_the_vendors_types_refuse_a_strange_key_at_any_depth(wire: str) -> None:
    body = golden(wire)
    told = body["contents"] if wire == "gemini" else body["input"] if wire == "openai-responses" else body["messages"]
    told[1]["strange"] = 1
    assert "strange" in oracle_complaint(wire, body)


@pytest.mark.parametrize("wire", WIRES)
def test_a_body_is_not_changed(wire: str) -> None:
    body = golden(wire)
    validate_wire("p:m", wire, body)
    assert body == golden(wire)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_know_is_refused_where_it_stands(wire: str, number: float) -> None:
    body, inside, path = holder(wire)
    inside["x"] = {"y": [1, number]}
    assert refused(wire, body).path == f"{path}.x.y[1]"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("half", [chr(0xD83D), chr(0xDE00)], ids=["high", "low"])
def test_half_of_a_surrogate_pair_is_refused_where_it_stands(wire: str, half: str) -> None:
    body, inside, path = holder(wire)
    inside["x"] = ["fine 😀", f"not {half} fine"]
    error = refused(wire, body)
    assert error.path == f"{path}.x[1]"
    str(error).encode()
    body, inside, path = holder(wire)
    inside[half] = 1
    assert refused(wire, body).path == path


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("strange", [object(), 1j, range(2)])
def test_what_is_no_json_is_refused(wire: str, strange: object) -> None:
    body, inside, path = holder(wire)
    inside["x"] = strange
    assert refused(wire, body).path == f"{path}.x"


@pytest.mark.parametrize("wire", WIRES)
def test_free_json_has_a_bounded_depth(wire: str) -> None:
    body, inside, path = holder(wire)
    deep: dict[str, Any] = {}
    for _ in range(MAX_DEPTH - 1):
        deep = {"x": deep}
    inside["x"] = deep
    validate_wire("p:m", wire, body)
    inside["x"] = {"x": deep}
    assert refused(wire, body).path == path


@pytest.mark.parametrize("wire", WIRES)
def test_a_body_too_deep_to_be_written_is_refused(wire: str) -> None:
    body, inside, _ = holder(wire)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    inside["x"] = deep
    assert "nested too deeply" in str(refused(wire, body))
    while isinstance(deep, list):
        deep = deep.pop()


@pytest.mark.parametrize("wire", WIRES)
def test_a_body_has_a_bounded_size(wire: str) -> None:
    body, inside, _ = holder(wire)
    inside["x"] = "x" * MAX_BODY_BYTES
    error = refused(wire, body)
    assert error.path == "the body"
    assert "32 MiB" in str(error)


def test_an_error_names_the_model_the_place_and_the_problem_in_one_line() -> None:
    body = golden("openai-chat")
    body["messages"][1]["content"][0]["text"] = ""
    error = refused("openai-chat", body)
    assert isinstance(error, ModelError)
    assert not error.transient
    assert str(error).count("\n") == 0
    assert "p:m" in str(error)
    assert "messages[1].content[0].text: must not be empty" in str(error)


def test_a_wire_without_rules_is_held_to_json_alone() -> None:
    validate_wire("own:model", "own", {"anything": [None, 1, "x"]})
    assert refused("own", {"a": math.nan}).path == "a"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("strange", [None, 1, "x", [], [[]], {}])
def test_whatever_stands_in_place_of_a_value_is_refused_and_never_breaks_the_rules(wire: str, strange: object) -> None:
    """Every value of a legal body, in turn, is replaced; what comes is a WireError or a pass."""
    count = len([*places(golden(wire))])
    outcomes = set()
    for index in range(count):
        body = golden(wire)
        owner, key = [*places(body)][index]
        owner[key] = strange
        try:
            validate_wire("p:gemini-3-pro", wire, body)
            outcomes.add("passed")
        except WireError:
            outcomes.add("refused")
    assert "refused" in outcomes


@pytest.mark.parametrize("wire", WIRES)
def test_what_lacks_a_field_is_refused_or_legal_and_never_breaks_the_rules(wire: str) -> None:
    for index in range(len([*places(golden(wire))])):
        body = golden(wire)
        owner, key = [*places(body)][index]
        del owner[key]
        try:
            validate_wire("p:gemini-3-pro", wire, body)
        except WireError:
            continue
        assert oracle_complaint(wire, body) == "", "the vendor's types miss what the rules let go"


def places(value: Any) -> Any:
    """Every place of a value, as its owner and its key there."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(items):
        yield value, key
        yield from places(each)
