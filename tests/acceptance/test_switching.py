"""A session changes its provider from one round to the next and back, with tools and thoughts, in all pairs.

Real models over real HTTP; the servers play what the providers' documents say that they send.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from typing import Any

import msgspec
import pytest
from pydantic import SecretStr

from llm.providers.played import Answer, Played, playing
from llm.wires.oracle import oracle_complaint
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.deepseek import DeepSeekModel
from roles_runtime.llm.providers.doubao import DoubaoModel
from roles_runtime.llm.providers.gemini import GeminiModel
from roles_runtime.llm.providers.ollama import OllamaModel
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.llm.providers.zhipu import ZhipuModel
from roles_runtime.llm.validate import validate_wire
from roles_runtime.roles.role import ModelRole
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.stores.local import LocalStore
from roles_runtime.tools.tool import tool

pytestmark = pytest.mark.anyio

KEY = SecretStr("key-of-nobody")
ANSWER = '{"response": {"message": "It is 3."}}'


@tool
async def add(left: int, right: int) -> int:
    """Adds."""
    return left + right


class House(msgspec.Struct, frozen=True):
    """A provider: its model at an address, a call after a thought, and an answer.

    Attributes:
        keeps: Whether it gets its own thoughts back.
    """

    make: Callable[[str], ProviderModel]
    calling: bytes
    answering: bytes
    keeps: bool
    kind: str = "text/event-stream"


def sse(*events: dict[str, Any], named: bool = False, done: bool = False) -> bytes:
    lines = [(f"event: {each['type']}\n" if named else "") + f"data: {json.dumps(each)}\n\n" for each in events]
    return ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def chat(delta: dict[str, Any], finish: str) -> bytes:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    usage = {"id": "c", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}
    return sse(chunk(delta), chunk({}, finish), usage, done=True)


def chat_house(make: Callable[[str], ProviderModel], thought: str, *, keeps: bool) -> House:
    function = {"name": "add", "arguments": '{"left": 1, "right": 2}'}
    call = {"index": 0, "id": "call_x", "type": "function", "function": function}
    return House(
        make,
        chat({"role": "assistant", "content": None, "reasoning_content": thought, "tool_calls": [call]}, "tool_calls"),
        chat({"role": "assistant", "content": ANSWER}, "stop"),
        keeps,
    )


def responses(*items: dict[str, Any]) -> bytes:
    events: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item | {"arguments": ""}})
        if item["type"] == "message":
            place = {"output_index": index, "content_index": 0, "item_id": item["id"]}
            events.append({"type": "response.output_text.delta", "delta": ANSWER, **place})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    over = {"type": "response.completed", "response": {"status": "completed", "output": [*items], "usage": usage}}
    return sse(*events, over, named=True)


def anthropic(*blocks: tuple[dict[str, Any], dict[str, Any] | None], stop: str) -> bytes:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5, "output_tokens": 1}}}
    ]
    for index, (block, delta) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        deltas = [] if delta is None else [delta]
        if block["type"] == "thinking":
            deltas.append({"type": "signature_delta", "signature": "signature-of-anthropic"})
        events += [{"type": "content_block_delta", "index": index, "delta": each} for each in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}})
    return sse(*events, {"type": "message_stop"}, named=True)


def gemini(*parts: dict[str, Any]) -> bytes:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
    candidate = {"content": {"role": "model", "parts": [*parts]}, "finishReason": "STOP", "index": 0}
    return sse({"candidates": [candidate], "usageMetadata": usage})


def ollama(message: dict[str, Any]) -> bytes:
    said = {"model": "qwen3", "message": {"role": "assistant", **message}, "done": False}
    over = {"model": "qwen3", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    counts = {"prompt_eval_count": 5, "eval_count": 2}
    return f"{json.dumps(said)}\n{json.dumps(over | counts)}\n".encode()


ARGUMENTS = {"left": 1, "right": 2}
HOUSES = {
    "compatible": chat_house(
        lambda url: OpenAIModel("m", base_url=url, api_key=KEY), "thought-compatible", keeps=False
    ),
    "deepseek": chat_house(lambda url: DeepSeekModel("m", base_url=url, api_key=KEY), "thought-deepseek", keeps=True),
    "zhipu": chat_house(lambda url: ZhipuModel("glm-5", base_url=url, api_key=KEY), "thought-zhipu", keeps=True),
    "doubao": chat_house(
        lambda url: DoubaoModel("doubao-seed-1-6", base_url=url, api_key=KEY), "thought-doubao", keeps=False
    ),
    "responses": House(
        lambda url: OpenAIModel("gpt-5", base_url=url, api_key=KEY, wire="openai-responses"),
        responses(
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "thought-responses"},
            {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "add", "arguments": json.dumps(ARGUMENTS)},
        ),
        responses(
            {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
        ),
        keeps=True,
    ),
    "anthropic": House(
        lambda url: AnthropicModel("claude-opus-4-8", base_url=url, api_key=KEY),
        anthropic(
            ({"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": "thought-anthropic"}),
            (
                {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(ARGUMENTS)},
            ),
            stop="tool_use",
        ),
        anthropic(({"type": "text", "text": ""}, {"type": "text_delta", "text": ANSWER}), stop="end_turn"),
        keeps=True,
    ),
    "gemini": House(
        lambda url: GeminiModel("gemini-3-pro", base_url=url, api_key=KEY),
        gemini({"functionCall": {"name": "add", "args": ARGUMENTS}, "thoughtSignature": "dGhvdWdodC1nZW1pbmk="}),
        gemini({"text": ANSWER}),
        keeps=True,
    ),
    "ollama": House(
        lambda url: OllamaModel("qwen3", base_url=url),
        ollama(
            {
                "content": "",
                "thinking": "thought-ollama",
                "tool_calls": [{"function": {"name": "add", "arguments": ARGUMENTS}}],
            }
        ),
        ollama({"content": ANSWER}),
        keeps=False,
        kind="application/x-ndjson",
    ),
}
MARKS: dict[str, tuple[str, ...]] = {name: (f"thought-{name}",) for name in HOUSES} | {
    "gemini": ("dGhvdWdodC1nZW1pbmk=",),
    "anthropic": ("thought-anthropic", "signature-of-anthropic"),
}


async def round_of(house: House, store: LocalStore) -> tuple[ProviderModel, Played]:
    """One round of the session: a call, its result, an answer."""
    answers = [Answer((each,), kind=house.kind) for each in (house.calling, house.answering)]
    async with playing(*answers) as served:
        model = house.make(served.url)
        team = Team(ModelRole("Adder", model=model, tools=[add]))
        async with Runtime(team, store=store, kernels=None) as runtime:
            session = await runtime.session("s")
            usage = session.usage
            done = await session.ask("What is 1 + 2?")
            assert done.reply is not None, done.detail
            assert done.reply.message == "It is 3."
            assert session.usage.input_tokens - usage.input_tokens == 10
            assert session.usage.output_tokens - usage.output_tokens >= 4
        assert len(served.asked) == 2
        return model, served


@pytest.mark.parametrize(("first", "second"), list(permutations(HOUSES, 2)))
async def test_a_session_moves_to_another_provider_and_back(first: str, second: str) -> None:
    store = LocalStore()
    told: list[tuple[str, list[dict[str, Any]]]] = []
    for name in (first, second, first):
        model, served = await round_of(HOUSES[name], store)
        bodies = [each.body for each in served.asked]
        for body in bodies:
            validate_wire(name, model.adapter.wire, body)
            # Gemini's model stands in its address.
            assert oracle_complaint(model.adapter.wire, body) == ""
        told.append((name, bodies))
    for number, (name, bodies) in enumerate(told):
        texts = [json.dumps(body) for body in bodies]
        keeps = {name} if HOUSES[name].keeps else set()
        for owner in {first, second} - keeps:
            told_of = [mark for mark in MARKS[owner] if any(mark in text for text in texts)]
            assert not told_of, f"{name} was told what {owner} thought"
        if keeps:
            # Within the turn, and again when the session comes back.
            assert all(mark in texts[1] for mark in MARKS[name])
            assert number < 2 or all(mark in texts[0] for mark in MARKS[name])
    last = json.dumps(told[2][1][0])
    assert last.count("left") >= 2, "the calls of both rounds before are told"
