"""The team itself on every adapter: a picture, a tool, a plan, a cell and an answer, streamed over real HTTP.

Four wires are played by a server that nobody here wrote (llmock); Ollama's and Zhipu's manners by a small one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import pytest
from pydantic import SecretStr

from llm.providers.played import Answer, playing
from llm.wires.oracle import oracle_complaint
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.deepseek import DeepSeekModel
from roles_runtime.llm.providers.doubao import DoubaoModel
from roles_runtime.llm.providers.gemini import GeminiModel
from roles_runtime.llm.providers.ollama import OllamaModel
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.llm.providers.zhipu import ZhipuModel
from roles_runtime.posts.event import Event, MessageGrew, ModelReplied, ToolReturned
from roles_runtime.posts.shared import FileProfile, FileProfiles
from roles_runtime.roles.code_interpreter import CodeInterpreter
from roles_runtime.roles.planner import Planner
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.stores.local import LocalStore
from roles_runtime.tools.tool import tool
from runtime.casting import entries_of

if TYPE_CHECKING:
    from llmock.pytest_plugin import LLMock

pytestmark = pytest.mark.anyio

KEY = SecretStr("key-of-nobody")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PLACE = "東京 🗼"
ANSWER = "The picture shows 東京 🗼, where 42 rows were counted."


class Call(msgspec.Struct, frozen=True):
    """A tool call that the server makes."""

    name: str
    arguments: Mapping[str, str]


def planned(message: str, *, to: str, stop: str) -> str:
    steps = {
        "plan_reasoning": "One step.",
        "init_plan": "1. count",
        "plan": "1. count",
        "current_plan_step": "1. count",
    }
    return json.dumps({"response": {**steps, "stop": stop, "send_to": to, "message": message}}, ensure_ascii=False)


SCRIPT: tuple[str | Call, ...] = (
    Call("locate", {"place": PLACE}),
    planned("Count the rows.", to="CodeInterpreter", stop="InProcess"),
    json.dumps({"response": {"thought": "Count.", "reply_type": "python", "reply_content": "len(df)"}}),
    planned(ANSWER, to="User", stop="Completed"),
)
Bodies: TypeAlias = Sequence[dict[str, Any]]
Serve: TypeAlias = Callable[["LLMock"], AbstractAsyncContextManager[tuple[str, Callable[[], Bodies]]]]


class House(msgspec.Struct, frozen=True):
    """A provider.

    Attributes:
        make: Its model at an address.
        serve: Plays the script to it; tells the address, and what was asked.
        sees: Whether the model takes pictures.
    """

    make: Callable[[str], ProviderModel]
    serve: Serve
    sees: bool = True


def llmock_of(provider: str, below: str = "") -> Serve:
    """The server that others made, by the wire of that provider."""

    @asynccontextmanager
    async def serve(llmock: LLMock) -> AsyncIterator[tuple[str, Callable[[], Bodies]]]:
        for each in SCRIPT:
            if isinstance(each, Call):
                llmock.call_tool(each.name, dict(each.arguments))
            else:
                llmock.reply(each)
        yield llmock.base_url(provider) + below, lambda: [each.body for each in llmock.requests]

    return serve


def played(stream: Callable[[str | Call], list[bytes]], kind: str) -> Serve:
    """A small server for what the other does not play."""

    @asynccontextmanager
    async def serve(llmock: LLMock) -> AsyncIterator[tuple[str, Callable[[], Bodies]]]:
        async with playing(*(Answer(tuple(stream(each)), kind=kind) for each in SCRIPT)) as served:
            yield served.url, lambda: [each.body for each in served.asked]

    return serve


def pieces_of(text: str) -> list[str]:
    return [text[start : start + 8] for start in range(0, len(text), 8)]


def written(line: object) -> str:
    return json.dumps(line, ensure_ascii=False)


def ollama_stream(said: str | Call) -> list[bytes]:
    if isinstance(said, Call):
        messages: list[dict[str, Any]] = [
            {"content": "", "tool_calls": [{"function": {"name": said.name, "arguments": dict(said.arguments)}}]}
        ]
    else:
        messages = [{"content": piece} for piece in pieces_of(said)]
    lines = [{"message": {"role": "assistant", **each}, "done": False} for each in messages]
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": len(lines)}
    return [f"{written(line)}\n".encode() for line in (*lines, end)]


def zhipu_stream(said: str | Call) -> list[bytes]:
    """Its usage stands in the last chunk, unasked."""
    if isinstance(said, Call):
        function = {"name": said.name, "arguments": written(said.arguments)}
        deltas: list[dict[str, Any]] = [
            {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
        ]
    else:
        deltas = [{"content": piece} for piece in pieces_of(said)]
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", **each}}]} for each in deltas
    ]
    reason = "tool_calls" if isinstance(said, Call) else "stop"
    usage = {"prompt_tokens": 20, "completion_tokens": len(chunks), "total_tokens": 20 + len(chunks)}
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage})
    return [*(f"data: {written(each)}\n\n".encode() for each in chunks), b"data: [DONE]\n\n"]


HOUSES = {
    "openai-chat": House(lambda url: OpenAIModel("gpt-4o", base_url=url, api_key=KEY), llmock_of("openai")),
    "openai-responses": House(
        lambda url: OpenAIModel("gpt-5", base_url=url, api_key=KEY, wire="openai-responses"), llmock_of("openai")
    ),
    "deepseek": House(
        lambda url: DeepSeekModel("deepseek-chat", base_url=url, api_key=KEY), llmock_of("openai"), sees=False
    ),
    "zhipu": House(
        lambda url: ZhipuModel("glm-4.5v", base_url=url, api_key=KEY), played(zhipu_stream, "text/event-stream")
    ),
    "doubao": House(lambda url: DoubaoModel("doubao-seed-1-6", base_url=url, api_key=KEY), llmock_of("openai")),
    "anthropic": House(
        lambda url: AnthropicModel("claude-opus-4-8", base_url=url, api_key=KEY), llmock_of("anthropic")
    ),
    "gemini": House(lambda url: GeminiModel("gemini-3-pro", base_url=url, api_key=KEY), llmock_of("gemini", "/v1beta")),
    "ollama": House(lambda url: OllamaModel("qwen3-vl", base_url=url), played(ollama_stream, "application/x-ndjson")),
}


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(PNG)
    return path


def kernels() -> ScriptedKernels:
    """One cell looks at the picture, and one counts."""
    profiles = FileProfiles((FileProfile("photo.png", len(PNG), "other"),)).to_json()
    looked = Execution("", "", True, stdout=(f"file profiles: {profiles}\n",))
    return ScriptedKernels([looked, Execution("", "len(df)", True, output="42")])


@pytest.mark.parametrize("house", HOUSES.values(), ids=HOUSES)
async def test_the_team_sees_calls_plans_runs_and_answers(
    house: House, llmock: LLMock, picture: Path, tmp_path: Path
) -> None:
    located: list[str] = []

    @tool
    async def locate(place: str) -> str:
        """Where a place is."""
        located.append(place)
        return f"{place} is at 35.7° N."

    heard: list[Event] = []
    store = LocalStore()
    async with house.serve(llmock) as (url, asked):
        model = house.make(url)
        team = Team(Planner(model=model, tools=[locate]), [CodeInterpreter(model=model)])
        async with Runtime(team, store=store, kernels=kernels(), data_dir=tmp_path / "data") as runtime:
            session = await runtime.session("s")
            done = await session.ask("What is this, and how many rows?", files=[picture], on_event=heard.append)
            usage = session.usage
        bodies = asked()

    assert done.state == "finished", done.detail
    assert done.reply is not None
    assert done.reply.message == ANSWER
    assert located == [PLACE]
    assert [(each.send_from, each.send_to) for each in done.post_list] == [
        ("User", "Planner"),
        ("Planner", "CodeInterpreter"),
        ("CodeInterpreter", "Planner"),
        ("Planner", "User"),
    ]
    assert_streamed(heard)
    assert_told(model, bodies, sees=house.sees)
    replies, returns = await journalled(store)
    assert [each.role for each in replies] == ["Planner", "Planner", "CodeInterpreter", "Planner"]
    assert [each.tool for each in returns] == ["locate"]
    assert all(each.input_tokens > 0 and each.output_tokens > 0 for each in replies)
    assert usage.calls == len(replies)
    assert usage.input_tokens == sum(each.input_tokens for each in replies)
    assert usage.output_tokens == sum(each.output_tokens for each in replies)


def assert_streamed(heard: Sequence[Event]) -> None:
    pieces = [each.text for each in heard if isinstance(each, MessageGrew) and each.send_to == "User"]
    assert "".join(pieces) == ANSWER
    assert len(pieces) > 1


def assert_told(model: ProviderModel, bodies: Bodies, *, sees: bool) -> None:
    """Each request was legal; the picture went to the leader alone, and the call's result was told."""
    assert len(bodies) == len(SCRIPT)
    for body in bodies:
        assert oracle_complaint(model.adapter.wire, body) == ""
    asked, called, coding, judging = (json.dumps(body, ensure_ascii=False) for body in bodies)
    shown = base64.b64encode(PNG).decode()
    for text in (asked, called, judging):
        assert (shown in text) is sees
        assert sees or "photo.png" in text
    assert shown not in coding
    assert "35.7° N." not in asked
    assert "35.7° N." in called
    assert "42" in judging


async def journalled(store: LocalStore) -> tuple[list[ModelReplied], list[ToolReturned]]:
    async with store:
        events = [entry.event for entry in await entries_of(store, "s")]
    return (
        [each for each in events if isinstance(each, ModelReplied)],
        [each for each in events if isinstance(each, ToolReturned)],
    )
