"""Metrics: what is counted and measured, under which labels."""

from __future__ import annotations

import json

import pytest

from roles_runtime import CodeInterpreter, Planner, ScriptedModel
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.llm.model import Finish, TextChunk, Usage
from roles_runtime.posts.post import USER, Post
from roles_runtime.roles.turn import Turn
from roles_runtime.runtime.limits import Limits
from runtime.casting import cast, echo, running
from telemetry.seeing import Seeing
from telemetry.test_traces import code, planned

pytestmark = pytest.mark.anyio


async def test_a_round_is_counted_and_measured() -> None:
    seeing = Seeing()
    said = [TextChunk(planned(USER)), Finish("stop", Usage(input_tokens=30, output_tokens=7))]
    planner = Planner(model=ScriptedModel(["{", planned("CodeInterpreter"), said], name="house:m", sequential=True))
    interpreter = CodeInterpreter(model=ScriptedModel([code("1")], name="house:m", sequential=True))
    kernels = ScriptedKernels([Execution("", "", True, output="1")])
    async with running(planner, interpreter, kernels=kernels, coats=seeing.telemetry) as runtime:
        await (await runtime.session("s")).ask("hey")
    found = seeing.metrics()
    assert {(each["roles.role"], each["roles.outcome"]): each["="] for each in found["roles.turns"]} == {
        ("Planner", "self_correction"): 1,
        ("Planner", "ok"): 2,
        ("CodeInterpreter", "ok"): 1,
    }
    assert {each["roles.post.kind"]: each["="] for each in found["roles.posts"]} == {"user": 1, "self": 1, "role": 3}
    assert {each["roles.role"]: each["="] for each in found["roles.mailbox.depth"]} == {
        "Planner": 0,
        "CodeInterpreter": 0,
    }
    (asked,) = found["gen_ai.client.operation.duration"]
    assert asked == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "house",
        "gen_ai.request.model": "m",
        "=": 4,
    }
    assert {each["gen_ai.token.type"]: each["="] for each in found["gen_ai.client.token.usage"]} == {
        "input": 1,
        "output": 1,
    }
    for name in ("roles.round.duration", "roles.code.duration"):
        assert found[name] == [{"roles.outcome": "ok", "=": 1}]
    assert sum(each["="] for each in found["roles.turn.duration"]) == 4
    assert sum(each["="] for each in found["roles.mailbox.wait"]) == 4


async def test_no_label_is_an_id() -> None:
    seeing = Seeing()
    async with running(Planner(model=ScriptedModel(["{"] * 9, sequential=True)), coats=seeing.telemetry) as runtime:
        await (await runtime.session("the-session")).ask("hey")
    found = seeing.metrics()
    labels = {label for points in found.values() for point in points for label in point}
    assert labels <= {
        "=",
        "roles.role",
        "roles.outcome",
        "roles.post.kind",
        "error.type",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.token.type",
    }
    assert "the-session" not in json.dumps(found, default=str)
    assert [each["error.type"] for each in found["roles.errors"]] == ["InvalidResponseError"]


async def test_what_nobody_will_answer_waits_no_more() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> list[Post]:
        return [turn.answer("a", "Left"), turn.answer("b", "Right")]

    seeing = Seeing()
    limits = Limits(max_internal_chat_round_num=2)
    async with running(planner, echo("Left"), echo("Right"), limits=limits, coats=seeing.telemetry) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert round_.reason == "limit"
    assert {each["="] for each in seeing.metrics()["roles.mailbox.depth"]} == {0}
