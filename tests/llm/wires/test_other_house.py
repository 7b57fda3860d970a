"""What we send says the same as what pydantic-ai sends, an adapter that nobody here wrote: normal forms, not bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import httpx2
import msgspec
import pytest
from anthropic import AsyncAnthropic
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import AsyncOpenAI
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel as TheirAnthropic
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.message import (
    AssistantTextMessage,
    Message,
    MultiPartMessage,
    SystemMessage,
    TextMessage,
    ToolMessage,
)
from roles_runtime.llm.parts import ImagePart, Media
from roles_runtime.llm.parts import TextPart as OurText
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.llm.request import LLMRequest, ToolSpec

Wire: TypeAlias = Literal["chat", "responses", "anthropic"]
Said: TypeAlias = tuple[Any, ...]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}


class Exchange(msgspec.Struct, frozen=True):
    """A question, calls with their results, and an answer."""

    question: str
    picture: bool
    calls: tuple[tuple[int, str], ...]
    answer: str


WORDS = st.text(st.sampled_from("abc é漢🌡"), min_size=1, max_size=8).map(lambda text: f"w{text}w")
EXCHANGES = st.lists(
    st.builds(
        Exchange,
        WORDS,
        st.booleans(),
        st.lists(st.tuples(st.integers(0, 9), WORDS), max_size=3).map(tuple),
        WORDS,
    ),
    min_size=1,
    max_size=4,
)


def ours(exchanges: list[Exchange]) -> LLMRequest:
    messages: list[Message] = [SystemMessage(content="You count.")]
    for number, each in enumerate(exchanges):
        if each.picture:
            parts = (OurText(text=each.question), ImagePart(media=Media(data=PNG)))
            messages.append(MultiPartMessage(content=parts))
        else:
            messages.append(TextMessage(content=each.question))
        if each.calls:
            calls = [(f"call_{number}_{at}", json.dumps({"n": n})) for at, (n, _) in enumerate(each.calls)]
            asked = tuple(ToolCall(call_id=call_id, name="count", arguments=said) for call_id, said in calls)
            results = tuple(
                ToolReturn(call_id=call_id, name="count", result=result)
                for (call_id, _), (_, result) in zip(calls, each.calls, strict=True)
            )
            messages += [AssistantTextMessage(tool_calls=asked), ToolMessage(tool_reses=results)]
        messages.append(AssistantTextMessage(content=each.answer))
    messages.append(TextMessage(content="And now?"))
    return LLMRequest(tuple(messages), (ToolSpec("count", "Counts.", SCHEMA),))


def theirs(exchanges: list[Exchange]) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    opening: list[Any] = [SystemPromptPart("You count.")]
    for number, each in enumerate(exchanges):
        picture = [BinaryContent(PNG, media_type="image/png")] if each.picture else []
        prompt: Any = [each.question, *picture] if picture else each.question
        messages.append(ModelRequest(parts=[*opening, UserPromptPart(prompt)]))
        opening = []
        if each.calls:
            calls = [ToolCallPart("count", {"n": n}, f"call_{number}_{at}") for at, (n, _) in enumerate(each.calls)]
            results = [ToolReturnPart("count", said, f"call_{number}_{at}") for at, (_, said) in enumerate(each.calls)]
            messages += [ModelResponse(parts=[*calls]), ModelRequest(parts=[*results])]
        messages.append(ModelResponse(parts=[TextPart(each.answer)]))
    messages.append(ModelRequest(parts=[UserPromptPart("And now?")]))
    return messages


async def their_body(wire: Wire, messages: list[ModelMessage]) -> dict[str, Any]:
    bodies: list[dict[str, Any]] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return httpx2.Response(500, json={"error": {"message": "seen"}})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(refuse)) as client:
        sdk = AsyncOpenAI(api_key="x", http_client=client, max_retries=0)
        other = AsyncAnthropic(api_key="x", http_client=client, max_retries=0)
        model: Model
        match wire:
            case "chat":
                model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=sdk))
            case "responses":
                model = OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(openai_client=sdk))
            case "anthropic":
                model = TheirAnthropic("claude-opus-4-8", provider=AnthropicProvider(anthropic_client=other))
        tools = [ToolDefinition(name="count", description="Counts.", parameters_json_schema=SCHEMA)]
        with pytest.raises(ModelHTTPError):
            await model.request(messages, None, ModelRequestParameters(function_tools=tools))
    return bodies[-1]


def our_body(wire: Wire, request: LLMRequest) -> dict[str, Any]:
    match wire:
        case "chat":
            return dict(OpenAIModel("gpt-4o", api_key="x", wire="openai-chat").body(request))
        case "responses":
            return dict(OpenAIModel("gpt-5", api_key="x", wire="openai-responses").body(request))
        case "anthropic":
            return dict(AnthropicModel("claude-opus-4-8", api_key="x").body(request))


def said_in(body: dict[str, Any]) -> list[Said]:
    """What a body says, in order, whatever its wire."""
    leading = [body.get("system"), body.get("instructions")]
    said: list[Said] = [("system", text) for each in leading if each for text in texts_of(each)]
    for message in body.get("messages", body.get("input", [])):
        said += said_by(message)
    return said


def texts_of(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [each["text"] for each in content]


def said_by(message: dict[str, Any]) -> Iterator[Said]:
    match message:
        case {"type": "function_call", "call_id": call_id, "arguments": arguments}:
            yield "call", call_id, json.loads(arguments)
        case {"type": "function_call_output", "call_id": call_id, "output": output}:
            yield "result", call_id, "".join(texts_of(output))
        case {"role": "tool", "tool_call_id": call_id, "content": output}:
            yield "result", call_id, "".join(texts_of(output))
        case {"role": role}:
            content = message.get("content") or []
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for part in parts:
                yield said_as(role, part)
            for call in message.get("tool_calls", []):
                yield "call", call["id"], json.loads(call["function"]["arguments"])


def said_as(role: str, part: dict[str, Any]) -> Said:
    role = "system" if role == "developer" else role
    match part:
        case {"type": "tool_use", "id": call_id, "input": arguments}:
            return "call", call_id, arguments
        case {"type": "tool_result", "tool_use_id": call_id, "content": output}:
            return "result", call_id, "".join(texts_of(output))
        case {"type": "text" | "input_text" | "output_text", "text": text}:
            return role, text
        case {"type": "image", "source": {"data": data}}:
            return role, "picture", data
        case {"image_url": {"url": url}} | {"image_url": str() as url}:
            return role, "picture", url.partition("base64,")[2]
    raise AssertionError(f"neither house says {part}")


@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
@settings(max_examples=25)
@given(exchanges=EXCHANGES)
def test_both_houses_say_the_same(wire: Wire, exchanges: list[Exchange]) -> None:
    sent = said_in(our_body(wire, ours(exchanges)))
    assert sent == said_in(asyncio.run(their_body(wire, theirs(exchanges))))
    assert len(sent) >= 4
