"""Ollama's own chat API, ``/api/chat``."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from pydantic import JsonValue

from roles_runtime.errors import ModelError
from roles_runtime.llm.adapter import Adapter, Capabilities
from roles_runtime.llm.calls import arguments_of
from roles_runtime.llm.complaint import read_complaint
from roles_runtime.llm.llm_message import (
    LLMAssistantMessage,
    LLMSystemMessage,
    LLMToolMessage,
    LLMUserMessage,
    WireMessage,
)
from roles_runtime.llm.parts import ImagePart, JsonObject, TextPart
from roles_runtime.llm.providers.ollama.stream import ORIGIN, OllamaReader
from roles_runtime.llm.request import LLMRequest

CONTEXT_TOKENS = 16_384
"""The window that is asked for: the server's own is small on small machines, and it cuts a prompt without a word."""

_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp"})
_SEEING = (
    *("vision", "-vl", "2.5vl", "3-vl", "llava", "bakllava", "moondream", "minicpm-v", "gemma3", "gemma4", "llama4"),
    *("mistral-small3", "ministral-3", "qwen3.5", "granite3.2-vision"),
)
_BLIND = ("gemma3:270m", "gemma3:1b")
_BY_WORDS = ("gpt-oss",)


def capabilities_of(model: str) -> Capabilities:
    """What a model of that name takes, as far as a name tells."""
    sees = any(each in model for each in _SEEING) and not model.startswith(_BLIND)
    return Capabilities(
        media=_IMAGES if sees else frozenset(),
        urls=False,
        system_inside=True,
        context_window=CONTEXT_TOKENS,
    )


class OllamaAdapter(Adapter):
    """Ollama's format. Calls have no ids there: results stand in the order of the calls."""

    wire = "ollama"
    origin = ORIGIN

    def __init__(
        self,
        model: str,
        capabilities: Capabilities | None = None,
        *,
        label: str = "ollama",
        context_window: int | None = None,
    ) -> None:
        """Takes the provider's name of the model; what it takes is known by its name, unless said.

        Raises:
            ModelError: it has no name.
        """
        if not model:
            raise ModelError(f"{label}:", f"say which model, as {label}:NAME.")
        taken = capabilities or capabilities_of(model)
        if context_window is not None:
            taken = msgspec.structs.replace(taken, context_window=context_window)
        super().__init__(f"{label}:{model}", model, taken)

    def configure_api_params(self, request: LLMRequest, system: str) -> JsonObject:
        """Model, thinking, schema and options."""
        params: JsonObject = {"model": self.model, "stream": True}
        if request.effort is not None:
            by_words = any(each in self.model for each in _BY_WORDS)
            params["think"] = request.effort if by_words and request.effort != "none" else request.effort != "none"
        if request.response_schema is not None and self._may_enforce(request):
            params["format"] = request.response_schema
        options: JsonObject = {}
        if self.capabilities.context_window is not None:
            options["num_ctx"] = self.capabilities.context_window
        if request.max_tokens is not None:
            options["num_predict"] = request.max_tokens
        if self.capabilities.sampling:
            if request.temperature is not None:
                options["temperature"] = request.temperature
            if request.top_p is not None:
                options["top_p"] = request.top_p
        if options:
            params["options"] = options
        return params

    def reformat_request_msg_to_api(self, messages: Sequence[WireMessage]) -> list[JsonObject]:
        """A message each; pictures stand beside the text."""
        return [_told(each) for each in messages]

    def assemble_api_request(self, params: JsonObject, messages: list[JsonObject], request: LLMRequest) -> JsonObject:
        """The whole body. A call can be forbidden, by showing no tools, but not be forced."""
        body: JsonObject = {**params, "messages": list[JsonValue](messages)}
        if request.tools and self.capabilities.tools and request.tool_choice != "none":
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": each.name, "description": each.description, "parameters": each.parameters},
                }
                for each in request.tools
            ]
        return body

    def reader(self) -> OllamaReader:
        """Of the stream's lines."""
        return OllamaReader(self.name)

    def read_error(self, status: int, body: bytes) -> tuple[str, str]:
        """Its words; it has no codes."""
        return read_complaint(body)

    def _may_enforce(self, request: LLMRequest) -> bool:
        return self.capabilities.schema and (not request.tools or self.capabilities.schema_with_tools)


def _told(message: WireMessage) -> JsonObject:
    match message:
        case LLMSystemMessage(text):
            return {"role": "system", "content": text}
        case LLMToolMessage():
            return {"role": "tool", "tool_name": message.name, "content": message.text, **_images(message.parts)}
        case LLMUserMessage(parts):
            text = "\n\n".join(each.text for each in parts if isinstance(each, TextPart))
            return {"role": "user", "content": text, **_images(parts)}
        case LLMAssistantMessage(text, calls):
            said: JsonObject = {"role": "assistant", "content": text}
            if calls:
                said["tool_calls"] = [
                    {"function": {"name": each.name, "arguments": arguments_of(each)}} for each in calls
                ]
            return said


def _images(parts: Sequence[object]) -> JsonObject:
    images: list[JsonValue] = [each.media.base64 for each in parts if isinstance(each, ImagePart)]
    return {"images": images} if images else {}
