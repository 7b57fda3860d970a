"""The same turn in other houses: a model in the process that calls a tool once, then answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

Ask: TypeAlias = Callable[[], Awaitable[object]]

ANSWER = "It is 3."


async def add(left: int, right: int) -> int:
    """Adds."""
    return left + right


def pydantic_ai() -> Ask:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart(ANSWER)])
        return ModelResponse(parts=[ToolCallPart("add", {"left": 1, "right": 2})])

    agent = Agent(FunctionModel(answer))
    agent.tool_plain(add)

    async def ask() -> None:
        assert (await agent.run("1 + 2?")).output == ANSWER

    return ask


def openai_agents() -> Ask:
    from agents import Agent, Model, ModelResponse, Runner, function_tool, set_tracing_disabled
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)

    class InProcess(Model):
        async def get_response(self, *, input: Any, **named: Any) -> ModelResponse:
            if isinstance(input, list) and len(input) > 1:
                text = ResponseOutputText(text=ANSWER, type="output_text", annotations=[])
                said = ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
                return ModelResponse([said], Usage(), None)
            call = ResponseFunctionToolCall(
                call_id="c1", name="add", arguments='{"left": 1, "right": 2}', type="function_call"
            )
            return ModelResponse([call], Usage(), None)

        def stream_response(self, **named: Any) -> Any:
            raise NotImplementedError

    agent = Agent("Adder", model=InProcess(), tools=[function_tool(add)])

    async def ask() -> None:
        assert (await Runner.run(agent, "1 + 2?")).final_output == ANSWER

    return ask


def agent_framework() -> Ask:
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatResponse,
        Content,
        FunctionInvocationLayer,
        Message,
        tool,
    )

    class InProcess(FunctionInvocationLayer, BaseChatClient):  # type: ignore[misc, type-arg]
        def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **named: Any) -> Any:
            async def answer() -> ChatResponse[Any]:
                if messages[-1].role == "tool":
                    content = Content.from_text(ANSWER)
                else:
                    content = Content.from_function_call("c1", "add", arguments='{"left": 1, "right": 2}')
                return ChatResponse(messages=[Message(role="assistant", contents=[content])])

            return answer()

    agent = Agent(InProcess(), tools=[tool(add)])

    async def ask() -> None:
        assert (await agent.run("1 + 2?")).text == ANSWER

    return ask


# Each with how many times as long as ours its turn shall take at least.
PEERS: dict[str, tuple[Callable[[], Ask], int]] = {
    "pydantic-ai": (pydantic_ai, 50),
    "openai-agents": (openai_agents, 40),
    "agent-framework-core": (agent_framework, 10),
}
