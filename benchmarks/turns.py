# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "roles-runtime[all]", "pydantic-ai-slim", "openai-agents", "agent-framework-core",
# ]
#
# [tool.uv.sources]
# roles-runtime = { path = "..", editable = true }
# ///
"""What a turn with one tool call costs beside other houses', what assembling a long history costs, and many streams.

The yardstick is one asyncio.Queue ping-pong hop of the same run. A peer that is not installed is not measured, and the
output says so. Run it by `uv run benchmarks/turns.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
from turn_peers import PEERS, Ask
from yardstick import yardstick

from roles_runtime import Finish, LLMRequest, ModelRole, Runtime, Session, Team, TextChunk, ToolCallChunk, tool
from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.message import AssistantTextMessage, Message, SystemMessage, TextMessage, ToolMessage
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.request import ToolSpec

STREAMS, TOKENS_PER_S, SECONDS = 200, 50, 5


@tool
async def add(left: int, right: int) -> int:
    """Adds."""
    return left + right


class InProcess:
    """Calls the tool, then answers."""

    name, writes_code = "in:process", False

    async def stream(self, request: LLMRequest) -> AsyncGenerator[TextChunk | ToolCallChunk | Finish, None]:
        if isinstance(request.messages[-1], ToolMessage):
            yield TextChunk("It is 3.")
            yield Finish()
        else:
            yield ToolCallChunk(ToolCall(call_id="c1", name="add", arguments='{"left": 1, "right": 2}'))
            yield Finish("tool_calls")


async def our_turns(sessions: list[Session]) -> float:
    start = time.perf_counter()
    for session in sessions:
        answered = await session.ask("1 + 2?")
        assert answered.reply is not None
    return (time.perf_counter() - start) / len(sessions)


async def installed() -> dict[str, tuple[Ask, int]]:
    """The peers that can be asked, each with the aim of its ratio."""
    found: dict[str, tuple[Ask, int]] = {}
    for name, (made, aim) in PEERS.items():
        try:
            ask = made()
        except ImportError as error:
            print(f"{name}: NOT RUN, it is not installed ({error}).")
            continue
        await ask()
        found[name] = ask, aim
    return found


async def turns(rounds: int) -> None:
    peers = await installed()
    ratios: dict[str, list[float]] = {name: [] for name in peers}
    ours: list[float] = []
    planning: list[float] = []
    adder = ModelRole("Adder", model=InProcess(), tools=[add])
    # The others have no board of tasks either.
    async with Runtime(Team(adder, middleware=[]), kernels=None) as bare, Runtime(Team(adder), kernels=None) as usual:
        await our_turns([await bare.session() for _ in range(100)])
        await our_turns([await usual.session() for _ in range(100)])
        for _ in range(rounds):
            ours.append(await our_turns([await bare.session() for _ in range(100)]))
            planning.append(await our_turns([await usual.session() for _ in range(100)]))
            for name, (ask, _) in peers.items():
                start = time.perf_counter()
                for _ in range(20):
                    await ask()
                ratios[name].append((time.perf_counter() - start) / 20 / ours[-1])
    print(f"A whole ask with one tool call: {1e6 * statistics.median(ours):.0f} us.")
    print(f"With the task tools, as by default: {1e6 * statistics.median(planning):.0f} us.")
    for name, (_, aim) in peers.items():
        print(f"{name} takes {statistics.median(ratios[name]):.1f} x as long (aim {aim})")


def history(length: int) -> tuple[Message, ...]:
    messages: list[Message] = [SystemMessage(content="Be good.")]
    while len(messages) < length:
        number = len(messages)
        calls = tuple(ToolCall(call_id=f"call_{number}_{n}", name="look", arguments='{"a": 1}') for n in range(2))
        messages += [
            TextMessage(content=f"Question {number} about the table of orders."),
            AssistantTextMessage(content="Let me see.", tool_calls=calls),
            ToolMessage(tool_reses=tuple(ToolReturn(call_id=c.call_id, name="look", result="42") for c in calls)),
            AssistantTextMessage(content="It is 42."),
        ]
    return (*messages, TextMessage(content="And now?"))


def models() -> list[ProviderModel]:
    from roles_runtime.llm.providers.anthropic import AnthropicModel
    from roles_runtime.llm.providers.gemini import GeminiModel
    from roles_runtime.llm.providers.ollama import OllamaModel
    from roles_runtime.llm.providers.openai import OpenAIModel
    from roles_runtime.llm.providers.zhipu import ZhipuModel

    return [
        OpenAIModel("gpt-4o", api_key="x", wire="openai-chat"),
        OpenAIModel("gpt-5", api_key="x"),
        AnthropicModel("claude-opus-4-8", api_key="x"),
        GeminiModel("gemini-3-pro", api_key="x"),
        ZhipuModel("glm-5", api_key="x"),
        OllamaModel("qwen3"),
    ]


async def assembling(rounds: int) -> None:
    spec = ToolSpec("look", "Looks.", {"type": "object", "properties": {"a": {"type": "integer"}}})
    short, long = LLMRequest(history(2000), (spec,)), LLMRequest(history(4000), (spec,))
    for model in models():
        model.body(short)
        hops, growth = [], []
        for _ in range(rounds):
            hop = await yardstick()
            start = time.perf_counter()
            model.body(short)
            middle = time.perf_counter()
            model.body(long)
            hops.append((middle - start) / hop)
            growth.append((time.perf_counter() - middle) / (middle - start))
        print(
            f"2,000 messages for {model.adapter.wire:17} {statistics.median(hops):6.0f} hops (aim 9,025), "
            f"4,000 take {statistics.median(growth):.2f} x as long"
        )


# No two streams keep step, as in life.
SERVER = f"""
import asyncio, random
CHUNK = b'data: {{"choices":[{{"index":0,"delta":{{"content":"word "}}}}]}}\\n\\n'
END = b'data: {{"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}\\n\\ndata: [DONE]\\n\\n'
LINE = b'{{"message":{{"role":"assistant","content":"word "}},"done":false}}\\n'
LAST = b'{{"message":{{"role":"assistant","content":""}},"done":true,"done_reason":"stop"}}\\n'
async def serve(reader, writer):
    head = await reader.readuntil(b"\\r\\n\\r\\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\\r\\n") if line.startswith(b"content-length:"))
    await reader.readexactly(length)
    piece, end = (LINE, LAST) if b"/api/chat" in head else (CHUNK, END)
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\nConnection: close\\r\\n\\r\\n")
    await asyncio.sleep(random.random() / {TOKENS_PER_S})
    for _ in range({TOKENS_PER_S * SECONDS}):
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep({1 / TOKENS_PER_S})
    writer.write(end)
    writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


async def streams() -> None:
    """Many streams from another process, by the SDK's client and by a plain one, and how late the loop is meanwhile."""
    from roles_runtime.llm.providers.ollama import OllamaModel
    from roles_runtime.llm.providers.openai import OpenAIModel

    async with await anyio.open_process([sys.executable, "-c", SERVER]) as server:
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(await server.stdout.receive())}"
        await streamed(OpenAIModel("m", base_url=f"{address}/v1"))
        await streamed(OllamaModel("m", base_url=address))
        server.kill()


async def streamed(model: ProviderModel) -> None:
    lags: list[float] = []

    async def watch() -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.005)
            lags.append(time.perf_counter() - start - 0.005)

    async def read() -> int:
        async with aclosing(model.stream(LLMRequest((TextMessage(content="Go."),)))) as chunks:
            return len([chunk async for chunk in chunks])

    await read()
    spent = time.process_time()
    watching = asyncio.create_task(watch())
    start = time.perf_counter()
    read_ = await asyncio.gather(*(read() for _ in range(STREAMS)))
    took = time.perf_counter() - start
    watching.cancel()
    await model.aclose()
    lags.sort()
    print(
        f"{STREAMS} streams of {TOKENS_PER_S} tokens/s by {model.adapter.wire}: the loop's lag has "
        f"p99 {1e3 * lags[int(0.99 * len(lags))]:.1f} ms (aim 20), {sum(read_)} chunks in {took:.1f} s, "
        f"{100 * (time.process_time() - spent) / took:.0f} % of a core"
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    await turns(rounds)
    # What the other houses have loaded is looked through no more, whenever the collector passes.
    gc.collect()
    gc.freeze()
    await assembling(rounds)
    await streams()


if __name__ == "__main__":
    asyncio.run(main())
