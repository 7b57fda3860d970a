"""A role with a tool on each adapter, over a server of six wires that nobody here wrote (aimock, which needs node)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from roles_runtime.llm.connection import Connection, HttpStatusError
from roles_runtime.llm.options import ModelSettings
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.doubao import DoubaoModel
from roles_runtime.llm.providers.gemini import GeminiModel
from roles_runtime.llm.providers.ollama import OllamaModel
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.roles.role import ModelRole
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.tools.tool import Tool, tool

pytestmark = [pytest.mark.anyio, pytest.mark.external("ROLES_AIMOCK")]

QUESTION = "What is the weather in Tokyo and in Paris?"
ANSWER = "In 東京 it is warmer. 🌡️"
CALLS = [{"name": "weather", "arguments": json.dumps({"city": city})} for city in ("東京 🌡️", "Paris")]
USAGE = {"usage": {"input_tokens": 20, "output_tokens": 5}}
FIXTURES = {
    "fixtures": [
        {
            "match": {"userMessage": "weather", "hasToolResult": False},
            "response": {"toolCalls": CALLS, "reasoning": "Two cities. 🤔", "reasoningSignature": "signed", **USAGE},
        },
        {"match": {}, "response": {"content": ANSWER, **USAGE}},
    ]
}
MODELS: dict[str, Callable[[str], ProviderModel]] = {
    "chat": lambda url: OpenAIModel("gpt-4o", base_url=f"{url}/v1", api_key="x"),
    "responses": lambda url: OpenAIModel("gpt-5", base_url=f"{url}/v1", api_key="x", wire="openai-responses"),
    "doubao": lambda url: DoubaoModel("doubao", base_url=f"{url}/api/v3", api_key="x"),
    "anthropic": lambda url: AnthropicModel("claude-opus-4-8", base_url=url, api_key="x"),
    "gemini": lambda url: GeminiModel("gemini-3-pro", base_url=f"{url}/v1beta", api_key="x"),
    "ollama": lambda url: OllamaModel("qwen3", base_url=url),
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server, answering."""
    fixtures: Path = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    fixtures.write_text(json.dumps(FIXTURES), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["node", os.environ["ROLES_AIMOCK"], "-p", str(port), "-f", str(fixtures), "--strict"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert server.poll() is None
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


@pytest.fixture
def asked() -> list[str]:
    """The cities whose weather was asked."""
    return []


@pytest.fixture
def weather(asked: list[str]) -> Tool:
    @tool
    async def weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return f"{city}: warm"

    return weather


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
async def test_two_calls_side_by_side_and_an_answer(
    make: Callable[[str], ProviderModel], address: str, weather: Tool, asked: list[str]
) -> None:
    model = make(address)
    async with Runtime(Team(ModelRole("Guide", model=model, tools=[weather])), kernels=None) as runtime:
        session = await runtime.session()
        done = await session.ask(QUESTION)
    assert done.state == "finished", done.detail
    assert done.reply is not None
    assert done.reply.message == ANSWER
    assert sorted(asked) == ["Paris", "東京 🌡️"]
    assert session.usage.calls == 2
    # This server counts nothing on Ollama's wire.
    counted = 0 if isinstance(model, OllamaModel) else 2
    assert session.usage.input_tokens == 20 * counted
    assert session.usage.output_tokens == 5 * counted


class Overheard:
    """A Connection that remembers what goes through it."""

    def __init__(self, inner: Connection) -> None:
        self._inner = inner
        self.bodies: list[JsonObject] = []

    def open(self, body: JsonObject) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        self.bodies.append(body)
        return self._inner.open(body)

    def key(self) -> SecretStr | None:
        return self._inner.key()

    def ready(self) -> str:
        return self._inner.ready()

    async def aclose(self) -> None:
        await self._inner.aclose()


async def test_a_server_that_insists_on_signed_thoughts_gets_them_within_a_round_and_later(
    address: str, weather: Tool
) -> None:
    settings = ModelSettings(effort="low", max_tokens=8_000)
    inner = AnthropicModel("claude-sonnet-4-5", base_url=address, api_key="x", settings=settings)
    overheard = Overheard(inner.connection)
    model = ProviderModel(inner.adapter, overheard, settings)
    async with Runtime(Team(ModelRole("Guide", model=model, tools=[weather])), kernels=None) as runtime:
        session = await runtime.session()
        for _ in range(2):
            done = await session.ask(QUESTION)
            assert done.state == "finished", done.detail
    assert [count_of_thoughts(each) for each in overheard.bodies] == [0, 1, 1, 2]
    spoiled = without_thoughts(overheard.bodies[-1])
    with pytest.raises(HttpStatusError) as refused:
        async with inner.connection.open(spoiled):
            pass
    await inner.aclose()
    assert refused.value.status == 400
    assert b"thinking" in refused.value.body


def count_of_thoughts(body: Any) -> int:
    assert body["thinking"]["type"] == "enabled"
    thoughts = [block for each in body["messages"] for block in each["content"] if block["type"] == "thinking"]
    assert all(each["signature"] == "signed" for each in thoughts)
    return len(thoughts)


def without_thoughts(body: Any) -> JsonObject:
    kept = [[block for block in each["content"] if block["type"] != "thinking"] for each in body["messages"]]
    messages = [each | {"content": blocks} for each, blocks in zip(body["messages"], kept, strict=True)]
    return {**body, "messages": messages}
