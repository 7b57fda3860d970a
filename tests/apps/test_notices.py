from __future__ import annotations

import json

import pytest

from roles_runtime.apps.notices import Notices, tell
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.roles.code_interpreter import CodeInterpreter
from roles_runtime.roles.echo import Echo
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team

CODE = json.dumps({"response": {"thought": "", "reply_type": "python", "reply_content": "1 + 1"}})

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("sandboxed", [True, False])
async def test_code_without_a_sandbox_is_told_once(sandboxed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    team = Team(CodeInterpreter(model=ScriptedModel([CODE] * 3)))
    async with Runtime(team, kernels=ScriptedKernels(sandboxed=sandboxed)) as runtime:
        session = await runtime.session()
        notices = Notices(session)
        await session.ask("one", on_event=notices.take)
        await session.ask("two", on_event=notices.take)

    told = capsys.readouterr().err.splitlines()
    assert len(told) == (0 if sandboxed else 1)
    assert all(line.startswith("WARNING: code runs without a sandbox, with all your rights.") for line in told)


async def test_a_model_that_is_no_llm_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    async with Runtime(Team(CodeInterpreter(model="rules"), [Echo()]), kernels=None) as runtime:
        Notices(await runtime.session()).tell_models()

    told = capsys.readouterr().err
    assert told.startswith("The model rules")
    assert "is no LLM: it answers questions about tables by fixed rules." in told


def test_a_line_on_stderr_is_cleaned(capsys: pytest.CaptureFixture[str]) -> None:
    tell("a\x1b[31m\u202eb", style="2")

    assert capsys.readouterr().err == "ab\n"
