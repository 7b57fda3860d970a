"""Whatever the history was, what the assembly makes of it passes the rules, and the vendors' own types."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.wires.histories import histories, requests
from llm.wires.oracle import oracle_complaint
from roles_runtime.llm.adapter import Adapter, Capabilities
from roles_runtime.llm.assembly import assemble, construct_prompt_context, format_to_request_msgs
from roles_runtime.llm.calls import arguments_of
from roles_runtime.llm.llm_message import LLMAssistantMessage, LLMSystemMessage, LLMToolMessage, LLMUserMessage
from roles_runtime.llm.merging import flatten_and_merge
from roles_runtime.llm.message import Message
from roles_runtime.llm.parts import TextPart
from roles_runtime.llm.providers.anthropic.adapter import AnthropicAdapter
from roles_runtime.llm.providers.deepseek import DEEPSEEK
from roles_runtime.llm.providers.doubao import DOUBAO
from roles_runtime.llm.providers.gemini.adapter import GeminiAdapter
from roles_runtime.llm.providers.ollama.adapter import OllamaAdapter
from roles_runtime.llm.providers.openai.chat import ChatAdapter
from roles_runtime.llm.providers.openai.names import openai_capabilities
from roles_runtime.llm.providers.openai.profile import COMPATIBLE, OPENAI, Profile
from roles_runtime.llm.providers.openai.responses import ResponsesAdapter
from roles_runtime.llm.providers.zhipu import ZHIPU
from roles_runtime.llm.request import LLMRequest


def chat(profile: Profile, model: str) -> Adapter:
    return ChatAdapter(f"{profile.provider}:{model}", model, profile.capabilities(model), profile)


ADAPTERS: dict[str, Callable[[], Adapter]] = {
    "openai gpt-4o": lambda: chat(OPENAI, "gpt-4o"),
    "openai gpt-5": lambda: chat(OPENAI, "gpt-5"),
    "openai audio": lambda: chat(OPENAI, "gpt-4o-audio-preview"),
    "responses": lambda: ResponsesAdapter("openai:gpt-5", "gpt-5", openai_capabilities("gpt-5")),
    "compatible": lambda: chat(COMPATIBLE, "some-vision-model"),
    "zhipu": lambda: chat(ZHIPU, "glm-5v"),
    "doubao": lambda: chat(DOUBAO, "doubao-seed-1-6"),
    "deepseek": lambda: chat(DEEPSEEK, "deepseek-v4"),
    "claude 4.5": lambda: AnthropicAdapter("claude-sonnet-4-5"),
    "claude 4.8": lambda: AnthropicAdapter("claude-opus-4-8"),
    "gemini 2.5": lambda: GeminiAdapter("gemini-2.5-flash"),
    "gemini 3": lambda: GeminiAdapter("gemini-3-pro"),
    "ollama": lambda: OllamaAdapter("qwen2.5vl"),
}

# What only servers beside OpenAI's own take; its types refuse it rightly.
_BESIDE_THE_TYPES = ("video_url",)


@pytest.mark.parametrize("maker", ADAPTERS.values(), ids=ADAPTERS)
@given(request=requests)
def test_what_is_assembled_passes_the_rules_and_the_vendors_types(
    maker: Callable[[], Adapter], request: LLMRequest
) -> None:
    adapter = maker()
    body = assemble(adapter, request)
    if not any(f'"type":"{each}"'.encode() in msgspec.json.encode(body) for each in _BESIDE_THE_TYPES):
        assert oracle_complaint(adapter.wire, body) == ""


@pytest.mark.parametrize("maker", ADAPTERS.values(), ids=ADAPTERS)
@given(request=requests, window=st.integers(100, 1000))
def test_what_is_kept_under_a_window_passes_too(maker: Callable[[], Adapter], request: LLMRequest, window: int) -> None:
    adapter = maker()
    adapter.capabilities = msgspec.structs.replace(adapter.capabilities, context_window=window)
    assemble(adapter, request)


@pytest.mark.parametrize("system_inside", [True, False])
@pytest.mark.parametrize("system_param", [True, False])
@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("tool_media", [True, False])
@given(history=histories())
def test_merging_keeps_what_it_promises_to_adapters(
    system_inside: bool, system_param: bool, tools: bool, tool_media: bool, history: tuple[Message, ...]
) -> None:
    capabilities = Capabilities(
        media=frozenset({"image/png", "application/pdf"}),
        urls=False,
        tool_media=frozenset({"image/png"}) if tool_media else frozenset(),
        tools=tools,
        system_inside=system_inside,
        system_param=system_param,
    )
    context = construct_prompt_context(history, system_apart=system_param)
    merged = flatten_and_merge(format_to_request_msgs(context.messages), capabilities, lambda call_id: call_id[:40])
    said = [each for each in merged if not isinstance(each, LLMSystemMessage)]
    assert isinstance(said[0], LLMUserMessage)
    assert not isinstance(merged[-1], LLMAssistantMessage | LLMSystemMessage)
    for one, two in pairwise(merged):
        assert type(one) is not type(two) or isinstance(one, LLMToolMessage)
    first = merged.index(said[0])
    later = any(isinstance(each, LLMSystemMessage) for each in merged[first:])
    assert system_inside or not later
    assert system_inside or not system_param or first == 0
    ids: list[str] = []
    for place, message in enumerate(merged):
        match message:
            case LLMUserMessage(parts):
                assert parts
                for part in parts:
                    if isinstance(part, TextPart):
                        assert part.text.strip()
                    else:
                        assert part.media.mime in capabilities.media
                        assert part.media.data
            case LLMSystemMessage(text):
                assert text.strip()
            case LLMAssistantMessage(text, calls):
                assert text.strip() or calls
                assert tools or not calls
                results = merged[place + 1 : place + 1 + len(calls)]
                for call, result in zip(calls, results, strict=True):
                    assert isinstance(result, LLMToolMessage)
                    assert (result.call_id, result.name) == (call.call_id, call.name)
                    assert isinstance(msgspec.json.decode(call.arguments), dict)
                    assert arguments_of(call) == msgspec.json.decode(call.arguments)
                    ids.append(call.call_id)
                after = merged[place + 1 + len(calls) :][:1]
                assert not any(isinstance(each, LLMToolMessage) for each in after)
            case LLMToolMessage(_, _, _, _, parts):
                assert all(part.media.mime in capabilities.tool_media for part in parts)
    assert all(ids)
    assert len(ids) == len(set(ids))
