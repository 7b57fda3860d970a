"""What the vendors' own request types say of a body. They know shapes, and nothing of order or pairing.

OpenAI's and Anthropic's are TypedDicts: their Iterables would be looked at only when walked, and strange keys pass. So
their schemas are taken apart: every Iterable becomes a list, and every dict is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

import msgspec
from anthropic.types import message_create_params as anthropic_params
from google.genai import types as genai
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

# What servers beside OpenAI's own add to its chat wire; OpenAI's types know nothing of them.
_ADDED_TO_BODY = ("thinking",)
_ADDED_TO_MESSAGES = ("reasoning_content",)


def oracle_accepts(wire: str, body: Mapping[str, Any]) -> bool:
    """Whether the vendor's types take the body as it is written."""
    return not oracle_complaint(wire, body)


def oracle_complaint(wire: str, body: Mapping[str, Any]) -> str:
    """What the vendor's types have against the body; empty if nothing."""
    written = msgspec.json.decode(msgspec.json.encode(body))
    try:
        _CHECKS[wire](written)
    except ValidationError as error:
        return str(error)
    return ""


def _chat(body: dict[str, Any]) -> None:
    kind = (
        chat_params.CompletionCreateParamsStreaming
        if body.get("stream")
        else chat_params.CompletionCreateParamsNonStreaming
    )
    plain = {key: value for key, value in body.items() if key not in _ADDED_TO_BODY}
    plain["messages"] = [
        {key: value for key, value in message.items() if key not in _ADDED_TO_MESSAGES} for message in body["messages"]
    ]
    _closed(kind).validate_python(plain)


def _responses(body: dict[str, Any]) -> None:
    kind = (
        responses_params.ResponseCreateParamsStreaming
        if body.get("stream")
        else responses_params.ResponseCreateParamsNonStreaming
    )
    _closed(kind).validate_python(body)


def _anthropic(body: dict[str, Any]) -> None:
    kind = (
        anthropic_params.MessageCreateParamsStreaming
        if body.get("stream")
        else anthropic_params.MessageCreateParamsNonStreaming
    )
    _closed(kind).validate_python(body)


class _GeminiContent(genai.Content):
    role: Literal["user", "model"]


class _GeminiBody(BaseModel):
    """As the SDK writes it on the wire; the SDK has a type for each field, but none for the whole."""

    model_config = ConfigDict(extra="forbid", val_json_bytes="base64")

    contents: list[_GeminiContent]
    systemInstruction: genai.Content | None = None  # noqa: N815
    generationConfig: genai.GenerationConfig | None = None  # noqa: N815
    tools: list[genai.Tool] | None = None
    toolConfig: genai.ToolConfig | None = None  # noqa: N815
    safetySettings: list[genai.SafetySetting] | None = None  # noqa: N815


def _gemini(body: dict[str, Any]) -> None:
    _GeminiBody.model_validate_json(msgspec.json.encode(body))


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _OllamaFunction(_Closed):
    name: str
    arguments: dict[str, Any]


class _OllamaCall(_Closed):
    function: _OllamaFunction


class _OllamaMessage(_Closed):
    role: str
    content: str | None = None
    thinking: str | None = None
    images: list[str] | None = None
    tool_name: str | None = None
    tool_calls: list[_OllamaCall] | None = None


class _OllamaToolFunction(_Closed):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class _OllamaTool(_Closed):
    type: Literal["function"]
    function: _OllamaToolFunction


class _OllamaBody(_Closed):
    """As ollama 0.6.3 has it, by hand: its SDK is no dependency of ours."""

    model: str
    messages: list[_OllamaMessage]
    tools: list[_OllamaTool] | None = None
    stream: bool = False
    think: bool | Literal["low", "medium", "high"] | None = None
    format: Literal["", "json"] | dict[str, Any] | None = None
    options: dict[str, Any] | None = None
    keep_alive: float | str | None = None


def _ollama(body: dict[str, Any]) -> None:
    _OllamaBody.model_validate(body)


_CHECKS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
}


@cache
def _closed(kind: type) -> SchemaValidator:
    return SchemaValidator(_made_strict(TypeAdapter(kind).core_schema))


def _made_strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_made_strict(each) for each in schema]
    if isinstance(schema, tuple):
        return tuple(_made_strict(each) for each in schema)
    if not isinstance(schema, dict):
        return schema
    strict = {key: _made_strict(value) for key, value in schema.items() if key != "metadata"}
    match strict.get("type"):
        case "generator":
            return {**strict, "type": "list"}
        case "typed-dict":
            return {**strict, "extra_behavior": "forbid"}
        case "str" | "int" | "bool":
            return {**strict, "strict": True}
    return strict
