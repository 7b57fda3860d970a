"""One real model, end to end: llama.cpp's server answers a team over three wires."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

import anyio
import pytest

from roles_runtime.llm.message import TextMessage
from roles_runtime.llm.model import Model
from roles_runtime.llm.options import ModelSettings
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.post import Post
from roles_runtime.roles.role import Role
from roles_runtime.roles.thinking import think
from roles_runtime.roles.turn import Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team

pytestmark = [pytest.mark.anyio, pytest.mark.external("ROLES_LLAMA_PYTHON")]

# What it says is the same each time.
SETTINGS = ModelSettings(max_tokens=32, params={"temperature": 0, "seed": 7})


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


class Greeter(Role):
    """Says what its model says, however it ends: a small model does not always know when to stop."""

    name = "Greeter"

    def __init__(self, model: Model) -> None:
        self.model = model

    async def reply(self, turn: Turn) -> Post:
        async def read(text: AsyncGenerator[str, None]) -> None:
            turn.draft.post.message = "".join([piece async for piece in text])

        thought = await think(turn, LLMRequest((TextMessage(content=turn.post.message),)), read)
        return turn.answer(thought.raw_text)


@pytest.mark.parametrize("make", [openai_chat, openai_responses, anthropic])
async def test_a_round_is_answered_by_a_real_model(make: Callable[[int], ProviderModel], port: int) -> None:
    async with Runtime(Team(Greeter(make(port))), kernels=None) as runtime:
        session = await runtime.session()
        with anyio.fail_after(120):
            done = await session.ask("Say hello.")
    assert done.state == "finished", done.detail
    assert done.reply is not None
    assert done.reply.message.strip()
    assert session.usage.input_tokens > 5
    assert 0 < session.usage.output_tokens <= 32
