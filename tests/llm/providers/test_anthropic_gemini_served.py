"""Anthropic's and Gemini's models against a server that nobody here wrote, with the faults that it knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec
import pytest
from pydantic import SecretStr

from llm.providers.scenes import WEATHER, asked, trip
from roles_runtime.errors import (
    ContextWindowError,
    ModelError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    StreamIncompleteError,
    StreamMalformedError,
)
from roles_runtime.llm.bounded import Timeouts
from roles_runtime.llm.model import Chunk, Finish, TextChunk, ToolCallChunk
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.gemini import GeminiModel
from roles_runtime.llm.reliable import ReliableModel, RetryPolicy

if TYPE_CHECKING:
    from llmock.pytest_plugin import LLMock

pytestmark = pytest.mark.anyio

KEY = SecretStr("key-of-nobody")


@pytest.fixture(params=["anthropic", "gemini"])
async def model(request: pytest.FixtureRequest, llmock: LLMock) -> AsyncIterator[ProviderModel]:
    made: ProviderModel
    if request.param == "anthropic":
        made = AnthropicModel("claude-sonnet-4-6", base_url=llmock.base_url("anthropic"), api_key=KEY)
    else:
        made = GeminiModel("gemini-3-pro", base_url=llmock.base_url("gemini") + "/v1beta", api_key=KEY)
    yield made
    await made.aclose()


async def told(model: ProviderModel, **fields: object) -> list[Chunk]:
    return [chunk async for chunk in model.stream(asked(**fields))]


async def test_text_comes_with_its_usage(model: ProviderModel, llmock: LLMock) -> None:
    llmock.reply("Wärmer ist es in 東京. 🌡️")
    *texts, finish = await told(model)
    assert "".join(each.text for each in texts if isinstance(each, TextChunk)) == "Wärmer ist es in 東京. 🌡️"
    assert isinstance(finish, Finish)
    assert finish.reason == "stop"
    assert finish.usage.input_tokens > 0
    assert finish.usage.output_tokens > 0


async def test_what_is_sent_is_what_the_assembly_made(model: ProviderModel, llmock: LLMock) -> None:
    request = trip()
    async for _ in model.stream(request):
        pass
    assert llmock.last_request.body == model.body(request)


async def test_a_call_comes_whole(model: ProviderModel, llmock: LLMock) -> None:
    llmock.call_tool("weather", {"city": "東京 🗼"}, text="I look.")
    chunks = await told(model, tools=(WEATHER,))
    [call] = [each.call for each in chunks if isinstance(each, ToolCallChunk)]
    assert call.name == "weather"
    assert call.call_id
    assert msgspec.json.decode(call.arguments) == {"city": "東京 🗼"}
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].reason == "tool_calls"


async def test_calls_side_by_side_stay_apart(model: ProviderModel, llmock: LLMock) -> None:
    from llmock.scenarios import Reply, ToolCall

    llmock.add(Reply(tool_calls=(ToolCall("weather", {"city": "Paris"}), ToolCall("weather", {"city": "Rome"}))))
    calls = [each.call for each in await told(model, tools=(WEATHER,)) if isinstance(each, ToolCallChunk)]
    assert [msgspec.json.decode(each.arguments) for each in calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert len({each.call_id for each in calls}) == 2


async def test_a_stream_that_ends_early_is_never_an_answer(model: ProviderModel, llmock: LLMock) -> None:
    llmock.truncate(after_chunks=3)
    with pytest.raises(StreamIncompleteError):
        await told(model)


async def test_a_line_that_is_cut_is_unavailable(model: ProviderModel, llmock: LLMock) -> None:
    llmock.disconnect(after_chunks=3)
    with pytest.raises(ModelUnavailableError):
        await told(model)


async def test_junk_in_the_stream_is_malformed(model: ProviderModel, llmock: LLMock) -> None:
    llmock.corrupt(after_chunks=2)
    with pytest.raises(StreamMalformedError):
        await told(model)


async def test_a_prompt_that_is_too_long_is_told_as_such(model: ProviderModel, llmock: LLMock) -> None:
    llmock.context_overflow()
    with pytest.raises(ContextWindowError):
        await told(model)


async def test_a_rate_limit_names_its_wait_and_is_not_tried_again_here(model: ProviderModel, llmock: LLMock) -> None:
    llmock.rate_limit(retry_after=2)
    with pytest.raises(ModelRateLimitError) as caught:
        await told(model)
    assert caught.value.retry_after_s == 2
    assert len(llmock.requests) == 1


async def test_broken_arguments_come_as_they_are(llmock: LLMock) -> None:
    model = AnthropicModel("claude-sonnet-4-6", base_url=llmock.base_url("anthropic"), api_key=KEY)
    llmock.call_tool("weather", {"city": "Paris"}).break_tool_call("malformed_arguments")
    [call] = [each.call for each in await told(model, tools=(WEATHER,)) if isinstance(each, ToolCallChunk)]
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(call.arguments)
    await model.aclose()


async def test_with_retries_around_it_every_fault_is_handled_as_the_server_judges(
    model: ProviderModel, llmock: LLMock
) -> None:
    reliable = ReliableModel([model], policy=RetryPolicy(base_delay_s=0.001), timeouts=Timeouts())
    llmock.rate_limit(retry_after=0.05).fail(503)
    assert isinstance([chunk async for chunk in reliable.stream(asked())][-1], Finish)
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [500, 503, 529])
async def test_an_outage_is_unavailable(model: ProviderModel, llmock: LLMock, status: int) -> None:
    llmock.outage(status=status)
    with pytest.raises(ModelError) as caught:
        await told(model)
    assert caught.value.transient
    assert not isinstance(caught.value, ModelTimeoutError)
