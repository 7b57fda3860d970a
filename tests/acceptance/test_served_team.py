"""A role with a tool on each adapter, over a server of six wires that nobody here wrote (aimock, which needs node)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.doubao import DoubaoModel
from roles_runtime.llm.providers.gemini import GeminiModel
from roles_runtime.llm.providers.ollama import OllamaModel
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.roles.role import ModelRole
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.tools.tool import tool

pytestmark = [pytest.mark.anyio, pytest.mark.external("ROLES_AIMOCK")]

CALLS = [{"name": "weather", "arguments": json.dumps({"city": city})} for city in ("東京 🌡️", "Paris")]
FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "weather", "hasToolResult": False}, "response": {"toolCalls": CALLS}},
        {"match": {}, "response": {"content": "In 東京 it is warmer. 🌡️"}},
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
    command = ["node", os.environ["ROLES_AIMOCK"], "-p", str(port), "-f", str(fixtures)]
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


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
async def test_two_calls_side_by_side_and_an_answer(make: Callable[[str], ProviderModel], address: str) -> None:
    asked: list[str] = []

    @tool
    async def weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return f"{city}: warm"

    async with Runtime(Team(ModelRole("Guide", model=make(address), tools=[weather])), kernels=None) as runtime:
        session = await runtime.session()
        done = await session.ask("What is the weather in Tokyo and in Paris?")
    assert done.state == "finished", done.detail
    assert done.reply is not None
    assert done.reply.message == "In 東京 it is warmer. 🌡️"
    assert sorted(asked) == ["Paris", "東京 🌡️"]
    assert session.usage.calls == 2
