"""A real cell knows the place of its span, and nothing else of what the process is told about tracing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from roles_runtime import CodeInterpreter, Planner, ScriptedModel, Team
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.telemetry.tracing import traceparent_of
from telemetry.seeing import Seeing
from telemetry.test_traces import code, planned

pytestmark = pytest.mark.anyio

CODE = """
import json, os
json.dumps({name: value for name, value in os.environ.items() if "TRACE" in name or "OTEL" in name})
"""


async def test_each_cell_is_given_the_place_of_its_own_span(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=planted")
    monkeypatch.setenv("TRACEPARENT", "00-planted")
    seeing = Seeing()
    model = ScriptedModel(
        {
            "Planner": [planned("CodeInterpreter"), planned("CodeInterpreter"), planned("User")],
            "CodeInterpreter": [code(CODE), code(CODE)],
        }
    )
    team = Team(Planner(model=model), [CodeInterpreter(model=model)])
    async with asyncio.timeout(120), Runtime(team, data_dir=tmp_path, telemetry=seeing.telemetry) as runtime:
        ended = await (await runtime.session("s")).ask("hey")
    assert ended.state == "finished", ended.detail
    results = [
        each.content
        for post in ended.post_list
        for each in post.get_attachment("execution_result")
        if "traceparent" in each.content.lower()
    ]
    told = [json.loads(text[text.index("{") : text.rindex("}") + 1]) for text in results]
    places = [traceparent_of(span.get_span_context()) for span in seeing.named("execute_code")]
    assert told == [{"TRACEPARENT": place} for place in places]
    assert len(told) == 2
