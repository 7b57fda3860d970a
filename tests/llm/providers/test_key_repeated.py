"""A provider that repeats the key, whatever the key looks like, does not get it into an error."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from llm.providers.played import Answer, playing
from llm.providers.scenes import asked
from roles_runtime.errors import ModelError
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.deepseek import DeepSeekModel
from roles_runtime.llm.providers.gemini import GeminiModel
from roles_runtime.llm.providers.openai import OpenAIModel

pytestmark = pytest.mark.anyio

ODD = "Zx9.odd+value/123=="
MODELS: dict[str, Callable[[str], ProviderModel]] = {
    "openai": lambda url: OpenAIModel("m", base_url=url, api_key=ODD),
    "responses": lambda url: OpenAIModel("m", base_url=url, api_key=ODD, wire="openai-responses"),
    "deepseek": lambda url: DeepSeekModel("m", base_url=url, api_key=ODD),
    "anthropic": lambda url: AnthropicModel("claude-opus-4-8", base_url=url, api_key=ODD),
    "gemini": lambda url: GeminiModel("gemini-3-pro", base_url=url, api_key=ODD),
}


async def error_of(make: Callable[[str], ProviderModel], answer: Answer) -> ModelError:
    async with playing(answer) as served:
        model = make(served.url)
        with pytest.raises(ModelError) as caught:
            _ = [chunk async for chunk in model.stream(asked())]
        await model.aclose()
    return caught.value


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
async def test_an_answer_that_is_an_error_does_not_tell_it(make: Callable[[str], ProviderModel], status: int) -> None:
    said = {"error": {"message": f"Incorrect key: {ODD}.", "code": "no", "status": "NO", "type": "no"}}
    error = await error_of(make, Answer((json.dumps(said).encode(),), status, "application/json"))
    assert "Incorrect key: [key]." in str(error)
    told = [str(error), repr(error), error.problem, str(error.__cause__)]
    assert not any(ODD in each for each in told)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
async def test_an_error_inside_the_stream_does_not_tell_it(make: Callable[[str], ProviderModel]) -> None:
    said = {"type": "error", "error": {"message": f"Your {ODD} is spent.", "type": "api_error", "code": 500}}
    said |= {"message": f"Your {ODD} is spent."}
    error = await error_of(make, Answer((f"event: error\ndata: {json.dumps(said)}\n\n".encode(),)))
    assert ODD not in str(error) + repr(error) + error.problem
