"""OpenAI's models and their kin, asked over real lines by the real SDK."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path

import pytest
from pydantic import SecretStr

from llm.providers.played import Answer, playing
from llm.providers.scenes import WEATHER, asked
from roles_runtime.errors import (
    ContextWindowError,
    ModelError,
    ModelKeyError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
    StreamIncompleteError,
    StreamMalformedError,
)
from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.model import Chunk, Finish, Model, TextChunk, ToolCallChunk
from roles_runtime.llm.options import ModelSettings
from roles_runtime.llm.providers.deepseek import DeepSeekModel
from roles_runtime.llm.providers.doubao import DoubaoModel
from roles_runtime.llm.providers.openai import OpenAIModel, WiredModel
from roles_runtime.llm.providers.zhipu import ZhipuModel
from roles_runtime.llm.request import LLMRequest

pytestmark = pytest.mark.anyio

SPOKEN = (
    b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n',
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)
VARIABLES = (
    "OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY", "ZHIPUAI_API_KEY", "ZAI_API_KEY", "ARK_API_KEY", "DEEPSEEK_API_KEY",
)  # fmt: skip
SECRET = "very-secret-0123456789"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


async def ask(model: Model, request: LLMRequest | None = None) -> list[Chunk]:
    async with aclosing(model.stream(request or asked())) as chunks:
        return [chunk async for chunk in chunks]


def text(chunks: list[Chunk]) -> str:
    return "".join(each.text for each in chunks if isinstance(each, TextChunk))


@pytest.fixture(params=["openai-chat", "openai-responses"])
async def mocked(request: pytest.FixtureRequest, llmock):  # type: ignore[no-untyped-def]
    """A model of a server that others made, and the server."""
    model = OpenAIModel("gpt-4o", base_url=llmock.base_url("openai"), wire=request.param, silence_timeout_s=2)
    yield model, llmock
    await model.aclose()


async def test_a_server_that_others_made_is_understood(mocked) -> None:  # type: ignore[no-untyped-def]
    model, llmock = mocked
    llmock.reply("In 東京 🌡️.")
    chunks = await ask(model)
    assert text(chunks) == "In 東京 🌡️."
    finish = chunks[-1]
    assert isinstance(finish, Finish)
    assert finish.reason == "stop"
    assert finish.usage.input_tokens > 0


async def test_calls_side_by_side_of_a_server_that_others_made_are_understood(mocked) -> None:  # type: ignore[no-untyped-def]
    from llmock.scenarios import Reply, ToolCall

    model, llmock = mocked
    llmock.add(Reply(tool_calls=(ToolCall("weather", {"city": "東京"}), ToolCall("weather", {"city": "Paris"}))))
    first, second, finish = await ask(model, asked(tools=(WEATHER,)))
    assert isinstance(first, ToolCallChunk)
    assert isinstance(second, ToolCallChunk)
    assert (first.call.name, second.call.arguments) == ("weather", '{"city": "Paris"}')
    assert first.call.call_id != second.call.call_id
    assert isinstance(finish, Finish)
    assert finish.reason == "tool_calls"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (lambda llmock: llmock.rate_limit(retry_after=7), ModelRateLimitError),
        (lambda llmock: llmock.fail(500), ModelUnavailableError),
        (lambda llmock: llmock.fail(503), ModelUnavailableError),
        (lambda llmock: llmock.fail(401), ModelKeyError),
        (lambda llmock: llmock.fail(404), ModelRefusedError),
        (lambda llmock: llmock.context_overflow(), ContextWindowError),
        (lambda llmock: llmock.truncate(after_chunks=3), StreamIncompleteError),
        (lambda llmock: llmock.disconnect(after_chunks=3), ModelUnavailableError),
        (lambda llmock: llmock.corrupt(after_chunks=3), StreamMalformedError),
        (lambda llmock: llmock.stall(after_chunks=3, seconds=4), ModelTimeoutError),
    ],
)
async def test_each_fault_of_a_server_is_an_error_of_ours(mocked, fault, kind: type[ModelError]) -> None:  # type: ignore[no-untyped-def]
    model, llmock = mocked
    fault(llmock)
    with pytest.raises(kind) as raised:
        await ask(model)
    assert type(raised.value) is kind
    if kind is ModelRateLimitError:
        assert raised.value.retry_after_s == 7


async def test_a_compatible_server_is_never_sent_what_is_openais(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-ours")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with playing(Answer(SPOKEN)) as server:
        model = OpenAIModel("qwen", base_url=f"{server.url}/v1")
        assert text(await ask(model)) == "Hi"
        await model.aclose()
    (sent,) = server.asked
    assert sent.target == "/v1/chat/completions"
    assert sent.headers["authorization"] == "Bearer none"
    assert "openai-organization" not in sent.headers
    assert "openai-project" not in sent.headers
    assert sent.body["model"] == "qwen"


@pytest.mark.parametrize(
    ("kind", "variable"),
    [
        (OpenAIModel, "OPENAI_COMPATIBLE_API_KEY"),
        (ZhipuModel, "ZAI_API_KEY"),
        (DoubaoModel, "ARK_API_KEY"),
        (DeepSeekModel, "DEEPSEEK_API_KEY"),
    ],
)
async def test_a_key_is_read_at_the_first_call(
    kind: type[WiredModel], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(Answer(SPOKEN), Answer(SPOKEN)) as server:
        model = kind("m", base_url=server.url)
        monkeypatch.setenv(variable, f"{SECRET}\n")
        await ask(model)
        given = kind("m", base_url=server.url, api_key=SecretStr("given"))
        await ask(given)
        for each in (model, given):
            await each.aclose()
    assert [each.headers["authorization"] for each in server.asked] == [f"Bearer {SECRET}", "Bearer given"]


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        (OpenAIModel("gpt-5"), "OPENAI_API_KEY"),
        (ZhipuModel("glm-5"), "ZHIPUAI_API_KEY"),
        (DoubaoModel("doubao-seed-1-6"), "ARK_API_KEY"),
        (DeepSeekModel("deepseek-v4-pro"), "DEEPSEEK_API_KEY"),
    ],
)
async def test_a_missing_key_is_told_before_and_at_the_first_call(
    model: WiredModel, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert variable in model.ready()
    with pytest.raises(ModelKeyError, match=variable):
        await ask(model)
    monkeypatch.setenv(variable, SECRET)
    assert model.ready() == ""


@pytest.mark.parametrize("key", ["two words", "schlüssel", "a\nb", "a\x7fb"])
async def test_what_can_be_no_key_is_refused_and_not_told(key: str) -> None:
    model = OpenAIModel("gpt-5", api_key=key)
    with pytest.raises(ModelKeyError) as raised:
        await ask(model)
    assert key not in str(raised.value)


async def test_a_key_is_nowhere_to_be_read() -> None:
    refused = Answer((f'{{"error":{{"message":"Incorrect API key: {SECRET[:4]}…"}}}}'.encode(),), status=401)
    async with playing(refused, Answer((), end="cut")) as server:
        model = OpenAIModel("m", base_url=server.url, api_key=SECRET)
        for kind in (ModelKeyError, ModelUnavailableError):
            with pytest.raises(kind) as raised:
                await ask(model)
            assert SECRET not in f"{raised.value!r} {raised.value}"
        await model.aclose()
    assert SECRET not in f"{model!r} {vars(model)} {vars(model.connection)}"


async def test_a_missing_sdk_is_told_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = OpenAIModel("m", base_url="http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "openai", None)
    assert "roles-runtime[openai]" in model.ready()
    with pytest.raises(ModelError, match=r"roles-runtime\[openai\]"):
        await ask(model)


async def test_a_redirect_is_not_followed() -> None:
    async with playing(Answer(SPOKEN)) as elsewhere:
        away = Answer((b"",), status=307, headers=(("location", f"{elsewhere.url}/chat/completions"),))
        async with playing(away) as server:
            model = OpenAIModel("m", base_url=server.url)
            with pytest.raises(ModelRefusedError, match="307"):
                await ask(model)
            await model.aclose()
    assert elsewhere.asked == []


async def test_a_page_for_a_browser_is_no_stream() -> None:
    page = Answer((b"<html><title>Welcome to nginx!</title></html>",), kind="text/html; charset=utf-8")
    async with playing(page) as server:
        model = OpenAIModel("m", base_url=server.url)
        with pytest.raises(ModelRefusedError, match=r"Welcome to nginx!.*base_url"):
            await ask(model)
        await model.aclose()


async def test_of_an_endless_error_only_the_beginning_is_read() -> None:
    endless = Answer((b"x" * 1024,) * 128, status=500, end="hang")
    async with playing(endless) as server:
        model = OpenAIModel("m", base_url=server.url)
        with pytest.raises(ModelUnavailableError) as raised:
            await ask(model)
        await model.aclose()
    assert len(str(raised.value)) < 1000


async def test_a_line_that_is_cut_or_silent_is_an_error_of_ours() -> None:
    cut, silent = Answer(SPOKEN[:1], end="cut"), Answer(SPOKEN[:1], end="hang")
    async with playing(cut, silent) as server:
        model = OpenAIModel("m", base_url=server.url, silence_timeout_s=0.2)
        with pytest.raises(ModelUnavailableError):
            await ask(model)
        with pytest.raises(ModelTimeoutError):
            await ask(model)
        await model.aclose()


async def test_an_address_where_nobody_answers_is_an_error_of_ours() -> None:
    model = OpenAIModel("m", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelUnavailableError, match="base_url"):
        await ask(model)
    await model.aclose()


@pytest.mark.parametrize("base_url", ["http://[::", "127.0.0.1", "ftp://127.0.0.1/", "https://", " "])
def test_what_is_no_address_is_refused_at_once(base_url: str) -> None:
    with pytest.raises(ModelError, match="base_url"):
        OpenAIModel("m", base_url=base_url)


async def test_calls_one_after_the_other_go_over_one_line() -> None:
    async with playing(Answer(SPOKEN), Answer(SPOKEN), Answer(SPOKEN)) as server:
        model = OpenAIModel("m", base_url=server.url)
        for _ in range(3):
            await ask(model)
        await model.aclose()
    assert server.lines == 1


async def test_what_happens_to_the_line_behind_the_last_event_is_nobodys_affair() -> None:
    async with playing(Answer(SPOKEN, end="cut")) as server:
        model = OpenAIModel("m", base_url=server.url)
        assert text(await ask(model)) == "Hi"
        await model.aclose()


async def test_a_stream_that_is_left_early_gives_its_line_up() -> None:
    async with playing(Answer(SPOKEN[:1], end="hang"), Answer(SPOKEN)) as server:
        model = OpenAIModel("m", base_url=server.url)
        async with aclosing(model.stream(asked())) as chunks:
            assert await anext(chunks) == TextChunk("Hi")
        await model.aclose()
    assert server.lines == 1


def test_each_event_loop_has_a_client_of_its_own() -> None:
    model = OpenAIModel("m", base_url="http://127.0.0.1:9")

    async def once() -> str:
        async with playing(Answer(SPOKEN), Answer(SPOKEN)) as server:
            model = OpenAIModel("m", base_url=server.url)
            first = text(await ask(model))
            await model.aclose()
            # What was closed is opened anew.
            second = text(await ask(model))
            await model.aclose()
            return first + second

    async def nobody() -> None:
        with pytest.raises(ModelUnavailableError):
            await ask(model)
        await model.aclose()

    assert [asyncio.run(once()) for _ in range(2)] == ["HiHi", "HiHi"]
    for _ in range(2):
        asyncio.run(nobody())


def test_the_wire_follows_from_where_the_server_is() -> None:
    assert OpenAIModel("gpt-5").adapter.wire == "openai-responses"
    assert OpenAIModel("gpt-5", base_url="https://eu.api.openai.com/v1").adapter.wire == "openai-responses"
    assert OpenAIModel("gpt-5", base_url="https://openai.com.evil.org/v1").adapter.wire == "openai-chat"
    assert OpenAIModel("gpt-5", wire="openai-chat").adapter.wire == "openai-chat"
    assert ZhipuModel("glm-5").adapter.wire == "openai-chat"


def test_a_model_says_its_name_and_takes_what_it_is_told() -> None:
    made = OpenAIModel(
        "m",
        base_url="http://127.0.0.1:9",
        label="lab",
        context_window=4096,
        capabilities=Capabilities(reasoning=True),
        settings=ModelSettings(temperature=0.3, params={"seed": 7}),
    )
    assert isinstance(made, Model)
    assert made.name == "lab:m"
    assert made.adapter.capabilities.context_window == 4096
    told = made.body(asked())
    assert (told["temperature"], told["seed"]) == (0.3, 7)
    assert ZhipuModel.from_name("glm-5").name == "zhipu:glm-5"
    with pytest.raises(ModelError, match="deepseek:NAME"):
        DeepSeekModel.from_name("")


def test_nothing_but_the_connection_knows_the_sdk() -> None:
    import roles_runtime.llm.providers.openai as package

    folder = Path(package.__file__).parent
    knowing = [each.name for each in folder.glob("*.py") if "import openai" in each.read_text(encoding="utf-8")]
    assert knowing == ["client.py"]
