"""Whatever a server does on the way, each of the three says it in a class of its own, and never tells the key."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TypeAlias

import anyio
import pytest
from pydantic import SecretStr

from llm.providers.played import Answer, Played, playing
from llm.providers.scenes import asked
from roles_runtime.errors import (
    ContextWindowError,
    ModelError,
    ModelKeyError,
    ModelQuotaError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
    StreamIncompleteError,
    StreamMalformedError,
)
from roles_runtime.llm.http_connection import HttpConnection
from roles_runtime.llm.model import Chunk, Finish, TextChunk
from roles_runtime.llm.options import ModelSettings, ProviderOptions
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicConnection, AnthropicModel
from roles_runtime.llm.providers.gemini import GeminiModel
from roles_runtime.llm.providers.ollama import OllamaModel

pytestmark = pytest.mark.anyio

SECRET = "sk-ant-0123456789-secret"
KEY = SecretStr(SECRET)

Maker: TypeAlias = Callable[[str], ProviderModel]

ANSWERS: dict[str, tuple[Maker, bytes, bytes, bytes]] = {
    "anthropic": (
        lambda url: AnthropicModel("claude-opus-4-8", base_url=url, api_key=KEY),
        b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
        b'"content_block":{"type":"text","text":"Hi"}}\n\n',
        b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}\n\n'
        b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        b'{"type":"error","error":{"type":"%s","message":"%s"}}',
    ),
    "gemini": (
        lambda url: GeminiModel("gemini-3-pro", base_url=url, api_key=KEY),
        b'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}\n\n',
        b'data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{}}\n\n',
        b'{"error":{"code":400,"status":"%s","message":"%s"}}',
    ),
    "ollama": (
        lambda url: OllamaModel("qwen3", base_url=url),
        b'{"message":{"content":"Hi"},"done":false}\n',
        b'{"message":{"content":""},"done":true,"done_reason":"stop"}\n',
        b'{"error":"%s %s"}',
    ),
}


@pytest.fixture(params=list(ANSWERS))
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def talking(provider: str, *answers: Answer) -> AsyncIterator[tuple[ProviderModel, Played]]:
    async with playing(*answers) as played:
        model = ANSWERS[provider][0](played.url)
        try:
            yield model, played
        finally:
            await model.aclose()
    gc.collect()


async def told(model: ProviderModel) -> list[Chunk]:
    return [chunk async for chunk in model.stream(asked())]


async def failed(provider: str, answer: Answer, error: type[ModelError]) -> str:
    async with talking(provider, answer) as (model, played):
        with pytest.raises(error) as caught:
            await told(model)
        assert len(played.asked) == 1
    assert type(caught.value) is error
    assert SECRET not in repr(caught.value) + str(caught.value.__cause__) + repr(model) + repr(model.connection)
    return str(caught.value)


async def test_an_answer_is_read_and_the_line_serves_the_next_call_too(provider: str) -> None:
    _, hi, end, _ = ANSWERS[provider]
    async with talking(provider, Answer((hi, end)), Answer((hi, end))) as (model, played):
        for _ in range(2):
            first, last = await told(model)
            assert first == TextChunk("Hi")
            assert isinstance(last, Finish)
        assert played.lines == 1
        assert played.asked[0].headers["content-type"] == "application/json"


async def test_the_key_goes_out_as_the_provider_wants_it(provider: str) -> None:
    _, hi, end, _ = ANSWERS[provider]
    async with talking(provider, Answer((hi, end))) as (model, played):
        await told(model)
    asked_ = played.asked[0]
    if provider == "anthropic":
        assert asked_.target == "/v1/messages"
        assert asked_.headers["authorization"] == f"Bearer {SECRET}"
        assert asked_.headers["anthropic-version"] == "2026-10-21"
    elif provider == "gemini":
        assert asked_.target == "/models/gemini-3-pro:streamGenerateContent?alt=sse"
        assert asked_.headers["x-goog-api-key"] == SECRET
    else:
        assert asked_.target == "/api/chat"
        assert "authorization" not in asked_.headers


@pytest.mark.parametrize(
    ("status", "code", "words", "error"),
    [
        (400, b"bad", b"messages.1: roles must alternate", ModelRefusedError),
        (400, b"bad", b"prompt is too long: 3 tokens", ContextWindowError),
        (401, b"authentication_error", b"invalid key", ModelKeyError),
        (403, b"permission_error", b"not allowed", ModelKeyError),
        (404, b"not_found_error", b"no such model", ModelRefusedError),
        (402, b"billing_error", b"Your credit balance is too low", ModelQuotaError),
        (429, b"rate_limit_error", b"slow down", ModelRateLimitError),
        (500, b"api_error", b"internal", ModelUnavailableError),
        (503, b"x", b"try later", ModelUnavailableError),
        (529, b"overloaded_error", b"Overloaded", ModelUnavailableError),
    ],
)
async def test_a_status_is_the_error_it_stands_for(
    provider: str, status: int, code: bytes, words: bytes, error: type[ModelError]
) -> None:
    body = ANSWERS[provider][3] % (code, words)
    assert words.decode() in await failed(provider, Answer((body,), status, "application/json"), error)


async def test_a_wait_that_is_asked_for_is_told(provider: str) -> None:
    answer = Answer((b"",), 429, "application/json", (("Retry-After", "7"),))
    async with talking(provider, answer) as (model, _):
        with pytest.raises(ModelRateLimitError) as caught:
            await told(model)
    assert caught.value.retry_after_s == 7


async def test_a_page_for_a_browser_is_no_answer(provider: str) -> None:
    said = await failed(provider, Answer((b"<html>Log in</html>",), 200, "text/html; charset=utf-8"), ModelRefusedError)
    assert "base_url" in said


async def test_a_redirect_is_not_followed(provider: str) -> None:
    answer = Answer((b"",), 307, "text/plain", (("Location", "http://127.0.0.1:9/"),))
    assert "base_url" in await failed(provider, answer, ModelRefusedError)


async def test_an_endless_error_is_read_to_a_bound(provider: str) -> None:
    endless = Answer((b"x" * 50_000,) * 40, 500, "text/plain", (), "hang")
    assert len(await failed(provider, endless, ModelUnavailableError)) < 2000


async def test_a_stream_that_ends_early_is_incomplete(provider: str) -> None:
    await failed(provider, Answer((ANSWERS[provider][1],)), StreamIncompleteError)
    await failed(provider, Answer(()), StreamIncompleteError)


async def test_a_line_that_is_cut_is_unavailable(provider: str) -> None:
    await failed(provider, Answer((ANSWERS[provider][1],), end="cut"), ModelUnavailableError)


async def test_junk_is_malformed_or_incomplete(provider: str) -> None:
    junk = b"junk\n" if provider == "ollama" else b"data: {junk\n\n"
    await failed(provider, Answer((ANSWERS[provider][1], junk)), StreamMalformedError)


async def test_nobody_there_is_unavailable(provider: str) -> None:
    async with playing() as played:
        url = played.url
    model = ANSWERS[provider][0](url)
    with pytest.raises(ModelUnavailableError, match="base_url"):
        await told(model)
    await model.aclose()


@pytest.mark.parametrize(
    "url", ["ftp://example.org", "no address", "http://h:port", "http://h:0", "http://", "http://[::1"]
)
async def test_an_address_that_is_none_is_refused_when_the_model_is_made(provider: str, url: str) -> None:
    with pytest.raises(ModelError, match="its base_url is no address; write http://HOST") as caught:
        ANSWERS[provider][0](url)
    assert not caught.value.transient


async def test_silence_is_bounded(provider: str) -> None:
    hanging = Answer((ANSWERS[provider][1],), end="hang")
    async with playing(hanging) as played:
        model = ANSWERS[provider][0](played.url)
        if provider == "anthropic":
            model.connection = AnthropicConnection(model.name, KEY, played.url, silence_timeout_s=0.1)
        else:
            model.connection = HttpConnection(model.name, "x", played.url, silence_timeout_s=0.1)
        with pytest.raises(ModelTimeoutError):
            await told(model)
        await model.aclose()


async def test_a_call_that_is_left_early_or_cancelled_leaves_nothing_open(provider: str) -> None:
    hanging = Answer((ANSWERS[provider][1],), end="hang")
    async with talking(provider, hanging, hanging) as (model, _):
        async with aclosing(model.stream(asked())) as chunks:
            assert await anext(chunks) == TextChunk("Hi")
        with anyio.move_on_after(0.1) as scope:
            await told(model)
        assert scope.cancelled_caught


async def test_what_comes_behind_the_end_does_not_spoil_the_answer(provider: str) -> None:
    _, hi, end, _ = ANSWERS[provider]
    for answer in (Answer((hi, end, b"{junk\n\n")), Answer((hi, end), end="cut"), Answer((hi, end), end="hang")):
        async with talking(provider, answer) as (model, _):
            assert isinstance((await told(model))[-1], Finish)


@pytest.mark.parametrize("model", [AnthropicModel("claude-opus-4-8"), GeminiModel("gemini-3-pro")])
async def test_a_missing_key_names_its_variable(model: ProviderModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    variable = "ANTHROPIC_API_KEY" if model.name.startswith("anthropic") else "GEMINI_API_KEY"
    assert variable in model.ready()
    with pytest.raises(ModelKeyError, match=variable):
        await told(model)
    monkeypatch.setenv(variable, SECRET)
    assert model.ready() == ""


@pytest.mark.parametrize("key", ["sk\nfoo-secret", "gehütet", "a b"])
async def test_a_key_that_can_be_none_is_refused_without_being_told(key: str) -> None:
    for make in (AnthropicModel, GeminiModel):
        with pytest.raises(ModelKeyError) as caught:
            await told(make("x", base_url="http://127.0.0.1:9", api_key=SecretStr(key)))
        assert key not in str(caught.value)


async def test_a_model_serves_several_event_loops(provider: str) -> None:
    _, hi, end, _ = ANSWERS[provider]
    async with playing(Answer((hi, end)), Answer((hi, end))) as played:
        model = ANSWERS[provider][0](played.url)

        async def once() -> int:
            try:
                return len(await told(model))
            finally:
                await model.aclose()

        assert await anyio.to_thread.run_sync(lambda: anyio.run(once)) == 2
        assert await once() == 2


def test_names_make_models() -> None:
    assert AnthropicModel.from_name("claude-opus-4-8").name == "anthropic:claude-opus-4-8"
    assert GeminiModel.from_name("gemini-3-pro").name == "gemini:gemini-3-pro"
    assert OllamaModel.from_name("gemma3:4b").name == "ollama:gemma3:4b"
    assert OllamaModel("qwen3").ready() == ""


@pytest.mark.parametrize("kind", [AnthropicModel, GeminiModel, OllamaModel])
def test_a_model_without_a_name_is_refused(kind: type[AnthropicModel | GeminiModel | OllamaModel]) -> None:
    with pytest.raises(ModelError, match=":NAME"):
        kind.from_name("")


@pytest.mark.parametrize("kind", [AnthropicModel, GeminiModel, OllamaModel])
async def test_options_say_where_by_which_key_and_how_it_is_asked(
    kind: type[AnthropicModel | GeminiModel | OllamaModel],
) -> None:
    async with playing(Answer((b"",), 500)) as played:
        options = ProviderOptions(
            base_url=played.url,
            api_key=KEY,
            label="house",
            context_window=4321,
            settings=ModelSettings(max_tokens=77),
        )
        model = kind.from_name("m", options)
        with pytest.raises(ModelUnavailableError, match=r"house:m"):
            await told(model)
        await model.aclose()
    assert SECRET in str(played.asked[0].headers)
    assert "77" in str(played.asked[0].body)
    assert model.adapter.capabilities.context_window == 4321
