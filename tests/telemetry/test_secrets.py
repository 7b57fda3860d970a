"""A planted key reaches no span and no metric with content off, and is masked with content on."""

from __future__ import annotations

import json

import pytest

from roles_runtime import CodeInterpreter, Planner, ScriptedModel, Team
from roles_runtime.errors import ModelError, ToolFailedError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.stores.local import LocalStore
from roles_runtime.telemetry.redaction import MASK
from roles_runtime.tools.tool import tool
from runtime.test_tasks import calls
from telemetry.seeing import Seeing
from telemetry.test_traces import code, planned

pytestmark = pytest.mark.anyio

KEY = "sk-planted-0123456789abcdef"
# Of no form that anybody knows.
WORD = "xyzzy-plugh"


@tool
async def look_up(key: str) -> str:
    """Looks something up."""
    if key == "fail":
        raise ToolFailedError(f"{KEY} {WORD} was refused")
    return f"found {KEY} {WORD}"


async def told(seeing: Seeing) -> str:
    """All that spans and metrics hold of a round in which keys stand everywhere."""
    planner = ScriptedModel(
        [
            calls(("look_up", {"key": f"{KEY} {WORD}"}), ("look_up", {"key": "fail"})),
            planned("CodeInterpreter", f"use {KEY} {WORD}"),
            planned("User", f"used {KEY} {WORD}"),
            ModelError("scripted", f"{KEY} {WORD} is no key"),
        ],
        sequential=True,
    )
    cells = ScriptedKernels(
        [
            Execution("", "", error=f"ValueError: {KEY} {WORD}", outcome="error"),
            Execution("", "", True, output=f"{KEY} {WORD}"),
        ]
    )
    cell = code(f"print('{KEY} {WORD}')")
    interpreter = ScriptedModel([cell, cell], sequential=True)
    team = Team(Planner(model=planner, tools=[look_up]), [CodeInterpreter(model=interpreter)])
    async with Runtime(team, store=LocalStore(), kernels=cells, telemetry=seeing.telemetry) as runtime:
        session = await runtime.session("s")
        assert (await session.ask(f"my key is {KEY} {WORD}")).state == "finished"
        assert (await session.ask("and now?")).state == "failed"
    return json.dumps([span.to_json() for span in seeing.spans]) + json.dumps(seeing.metrics(), default=str)


async def test_with_content_off_no_word_is_told() -> None:
    everything = await told(Seeing(content=False))
    assert KEY not in everything
    assert WORD not in everything


async def test_with_content_on_the_words_are_told_and_the_key_is_masked() -> None:
    everything = await told(Seeing(content=True))
    assert KEY not in everything
    assert everything.count(MASK) > 8
    assert f"use {MASK} {WORD}" in everything


async def test_content_is_off_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", raising=False)
    assert WORD not in await told(Seeing())
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_only")
    everything = await told(Seeing())
    assert WORD in everything
    assert KEY not in everything
