"""One real model, end to end: llama.cpp's server answers a team over three wires."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import anyio
import pytest

from roles_runtime.llm.message import Message, TextMessage
from roles_runtime.llm.options import ModelSettings
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.roles import prompt
from roles_runtime.roles.recalling import Recalled
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.turn import Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.external("ROLES_LLAMA_PYTHON")]

# What it says is the same each time.
MAX_TOKENS = 200
SETTINGS = ModelSettings(max_tokens=MAX_TOKENS, params={"temperature": 0, "seed": 7})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The server, up and loaded."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
    script = str(Path(__file__).with_name("llama_server.py"))
    with subprocess.Popen(
        [os.environ["ROLES_LLAMA_PYTHON"], script, str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"listening\n"
        yield number
        server.kill()


def openai_chat(port: int) -> ProviderModel:
    return OpenAIModel("smollm2", base_url=f"http://127.0.0.1:{port}/v1", settings=SETTINGS)


def openai_responses(port: int) -> ProviderModel:
    address = f"http://127.0.0.1:{port}/v1"
    return OpenAIModel("smollm2", base_url=address, wire="openai-responses", settings=SETTINGS)


def anthropic(port: int) -> ProviderModel:
    return AnthropicModel("smollm2", base_url=f"http://127.0.0.1:{port}", api_key="none", settings=SETTINGS)


class Guide(ModelRole):
    """Asks in so few words that a small model understands them, and keeps its answer short where the server can."""

    def schema(self, turn: Turn) -> JsonObject:
        return prompt.response_schema(self.name, {"message": {"type": "string", "maxLength": 40}}, ["message"])

    def compose(self, turn: Turn, now: datetime, recalled: Recalled) -> tuple[Message, ...]:
        return (TextMessage(content=turn.post.message),)


@pytest.mark.parametrize("make", [openai_chat, openai_responses, anthropic])
async def test_a_round_is_answered_by_a_real_model(make: Callable[[int], ProviderModel], port: int) -> None:
    async with Runtime(Team(Guide("Guide", model=make(port))), kernels=None) as runtime:
        session = await runtime.session()
        with anyio.fail_after(120):
            done = await session.ask("What is the capital of France? Answer in one word.")
    assert done.state == "finished", done.detail
    assert done.reply is not None
    assert "Paris" in done.reply.message
    assert session.usage.input_tokens > 5
    assert 0 < session.usage.output_tokens <= MAX_TOKENS
