"""The doctor asks each configured model once, and a model that fails says how to mend it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from roles_runtime.apps.probing import Finding, model_findings, provider_findings
from roles_runtime.errors import ModelUnavailableError
from roles_runtime.llm.model import Chunk, Finish, TextChunk, Usage
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.reliable import ReliableModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.roles.role import ModelRole

pytestmark = pytest.mark.anyio


class Voice:
    """A model that answers, or does not."""

    writes_code = True

    def __init__(self, name: str, problem: str = "", lacking: str = "") -> None:
        self.name, self._problem, self._lacking, self.asked = name, problem, lacking, 0

    def ready(self) -> str:
        return self._lacking

    async def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        self.asked += 1
        if self._problem:
            raise ModelUnavailableError(self.name, self._problem)
        yield TextChunk("ok")
        yield Finish("stop", Usage(3, 1))


async def found(*roles: ModelRole) -> list[Finding]:
    return [finding async for finding in model_findings(roles)]


async def test_a_model_that_answers_is_well_and_is_asked_once_for_all_its_roles() -> None:
    voice = Voice("v:1")
    assert await found(ModelRole("A", model=voice), ModelRole("B", model=voice)) == [
        (True, "model", "v:1 answered (3 tokens in, 1 out).")
    ]
    assert voice.asked == 1


async def test_each_model_of_a_list_is_asked_and_one_that_fails_is_told() -> None:
    both = ReliableModel([Voice("v:1", "it is down."), Voice("v:2")])
    lines = await found(ModelRole("A", model=both))
    assert [(well, text) for well, _, text in lines] == [
        (False, "Model v:1: it is down."),
        (True, "v:2 answered (3 tokens in, 1 out)."),
    ]


async def test_a_model_that_lacks_something_is_not_asked() -> None:
    voice = Voice("v:1", lacking="it has no key: set V_KEY in the environment.")
    assert await found(ModelRole("A", model=voice)) == [
        (False, "model", "v:1: it has no key: set V_KEY in the environment.")
    ]
    assert voice.asked == 0


async def test_a_model_that_writes_no_code_of_an_llm_needs_no_provider() -> None:
    lines = await found(ModelRole("A", model=ScriptedModel([], name="scripted")))
    assert lines == [(True, "model", "scripted needs no provider.")]


def test_other_providers_say_what_they_need_and_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    lines = list(provider_findings({"openai"}))
    assert all(well for well, _, _ in lines)
    told = {text.partition(":")[0]: text for _, _, text in lines}
    assert "openai" not in told
    assert "ANTHROPIC_API_KEY" in told["anthropic"]
    assert told["ollama"] == "ollama: could be asked."
