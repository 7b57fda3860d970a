"""Gemini's generateContent, as the Gemini API has it in v1beta."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from pydantic import JsonValue

from roles_runtime.errors import ModelError
from roles_runtime.llm.adapter import Adapter, Capabilities
from roles_runtime.llm.complaint import read_complaint
from roles_runtime.llm.llm_message import WireMessage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.gemini.contents import contents_of
from roles_runtime.llm.providers.gemini.families import family_of
from roles_runtime.llm.providers.gemini.schema import understood
from roles_runtime.llm.providers.gemini.stream import ORIGIN, GeminiReader
from roles_runtime.llm.request import LLMRequest, ToolSpec

_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp"})
_SEEN = _IMAGES | {"image/heic", "image/heif"}
_MODES = {"none": "NONE", "required": "ANY"}


def capabilities_of(model: str) -> Capabilities:
    """What a model of that name takes."""
    family = family_of(model)
    return Capabilities(
        media=_SEEN | {"audio/*", "video/*", "application/pdf"},
        tool_media=_IMAGES | {"application/pdf"} if family.signs else frozenset(),
        tools=family.tools,
        system_param=True,
        sampling=family.sampling,
        schema_with_tools=family.signs,
        context_window=1_048_576 if model.startswith("gemini-") else None,
        reasoning=bool(family.thinking),
    )


class GeminiAdapter(Adapter):
    """Gemini's format. Signatures of its thoughts go back on the very parts that they came with."""

    wire = "gemini"
    origin = ORIGIN

    def __init__(
        self,
        model: str,
        capabilities: Capabilities | None = None,
        *,
        label: str = "gemini",
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
        self._family = family_of(model)

    def configure_api_params(self, request: LLMRequest, system: str) -> JsonObject:
        """Instructions, bounds, sampling, thinking and a schema. The model, and that it streams, is said by the URL."""
        config: JsonObject = {}
        if request.max_tokens is not None:
            config["maxOutputTokens"] = request.max_tokens
        if self.capabilities.sampling:
            if request.temperature is not None:
                config["temperature"] = request.temperature
            if request.top_p is not None:
                config["topP"] = request.top_p
        thinking = None if request.effort is None else self._family.thinks(request.effort)
        if thinking is not None:
            config["thinkingConfig"] = {**thinking}
        if request.response_schema is not None and self._may_enforce(request):
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = understood(request.response_schema)
        params: JsonObject = {"generationConfig": config} if config else {}
        if system:
            params["systemInstruction"] = {"parts": [{"text": system}]}
        return params

    def reformat_request_msg_to_api(self, messages: Sequence[WireMessage]) -> list[JsonObject]:
        """Contents of user and model, in parts."""
        return contents_of(messages, signs=self._family.signs)

    def assemble_api_request(self, params: JsonObject, messages: list[JsonObject], request: LLMRequest) -> JsonObject:
        """The whole body."""
        body: JsonObject = {**params, "contents": list[JsonValue](messages)}
        if request.tools and self.capabilities.tools:
            declared = [_declared(each) for each in request.tools]
            body["tools"] = [{"functionDeclarations": list[JsonValue](declared)}]
            if request.tool_choice in _MODES:
                body["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[request.tool_choice]}}
        return body

    def reader(self) -> GeminiReader:
        """Of the stream's responses."""
        return GeminiReader(self.name)

    def read_error(self, status: int, body: bytes) -> tuple[str, str]:
        """Its status and message."""
        return read_complaint(body)

    def _may_enforce(self, request: LLMRequest) -> bool:
        return self.capabilities.schema and (not request.tools or self.capabilities.schema_with_tools)


def _declared(tool: ToolSpec) -> JsonObject:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": understood(tool.parameters),
    }
