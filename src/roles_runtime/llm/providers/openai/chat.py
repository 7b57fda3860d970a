"""OpenAI's chat wire: what OpenAI began and most servers speak."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from roles_runtime.llm.adapter import Adapter, Capabilities
from roles_runtime.llm.complaint import read_complaint
from roles_runtime.llm.llm_message import (
    LLMAssistantMessage,
    LLMPart,
    LLMSystemMessage,
    LLMToolMessage,
    LLMUserMessage,
    WireMessage,
)
from roles_runtime.llm.message import SystemMessage
from roles_runtime.llm.parts import AudioPart, FilePart, ImagePart, JsonObject, TextPart, VideoPart
from roles_runtime.llm.providers.openai.chat_stream import ChatReader
from roles_runtime.llm.providers.openai.content import file_name, fitted_id, sound_format
from roles_runtime.llm.providers.openai.names import least_effort
from roles_runtime.llm.providers.openai.profile import OPENAI, Profile
from roles_runtime.llm.providers.openai.schemas import named_schema
from roles_runtime.llm.request import LLMRequest, ToolSpec

NO_OUTPUT = "(no output)"
"""What a tool said that said nothing: some servers refuse an empty result."""


class ChatAdapter(Adapter):
    """The chat wire, the way a profile has it."""

    wire = "openai-chat"

    def __init__(self, name: str, model: str, capabilities: Capabilities, profile: Profile) -> None:
        """Takes what it is to speak for, and the server's ways."""
        super().__init__(name, model, capabilities)
        self.profile = profile
        self.origin = profile.provider

    def configure_api_params(self, request: LLMRequest, system: str) -> JsonObject:
        """See `Adapter`; ``system`` is empty, for instructions lead the messages here."""
        params: JsonObject = {"model": self.model, "stream": True}
        if self.profile.usage_option:
            params["stream_options"] = {"include_usage": True}
        bound = request.max_tokens or self.capabilities.max_output
        if bound is not None:
            params[self.profile.max_tokens] = bound
        if self.capabilities.sampling:
            for field, value in (("temperature", request.temperature), ("top_p", request.top_p)):
                if value is not None:
                    params[field] = self._in_range(value)
        if self.capabilities.reasoning:
            params.update(self._effort(request))
        if request.response_schema is not None and self._enforces_schema(request):
            params["response_format"] = self._response_format(request.response_schema)
        return params

    def reformat_request_msg_to_api(self, messages: Sequence[WireMessage]) -> list[JsonObject]:
        """See `Adapter`."""
        return [self._message(each) for each in messages]

    def assemble_api_request(self, params: JsonObject, messages: list[JsonObject], request: LLMRequest) -> JsonObject:
        """See `Adapter`."""
        body: JsonObject = {**params, "messages": [*messages]}
        shown = not (request.tool_choice == "none" and self.profile.auto_only)
        if request.tools and self.capabilities.tools and shown:
            body["tools"] = [_tool(each) for each in request.tools]
            if request.tool_choice != "auto" and not self.profile.auto_only:
                body["tool_choice"] = request.tool_choice
        return body

    def reader(self) -> ChatReader:
        """See `Adapter`."""
        return ChatReader(self.name, self.origin if self.profile.thoughts_back != "never" else "")

    def read_error(self, status: int, body: bytes) -> tuple[str, str]:
        """See `Adapter`."""
        return read_complaint(body)

    def fit_call_id(self, call_id: str) -> str:
        """See `Adapter`."""
        return fitted_id(call_id, self.profile.id_limit)

    def _in_range(self, value: float) -> float:
        if self.profile.sampling_range is None:
            return value
        low, high = self.profile.sampling_range
        return min(max(value, low), high)

    def _effort(self, request: LLMRequest) -> JsonObject:
        effort = request.effort
        if effort is None:
            return {}
        told: JsonObject = {}
        if self.profile.thinking_switch:
            told["thinking"] = {"type": "disabled" if effort == "none" else "enabled"}
        word = self.profile.efforts.get(effort)
        if word is not None:
            own_least = effort == "none" and self.profile is OPENAI
            told["reasoning_effort"] = least_effort(self.model) if own_least else word
        return told

    def _enforces_schema(self, request: LLMRequest) -> bool:
        if not self.capabilities.schema or (request.tools and not self.capabilities.schema_with_tools):
            return False
        # Servers refuse to make JSON of a prompt that does not speak of it.
        return self.profile.schema == "json_schema" or any(
            "json" in each.text.lower() for each in request.messages if isinstance(each, SystemMessage)
        )

    def _response_format(self, schema: JsonObject) -> JsonObject:
        if self.profile.schema == "json_object":
            return {"type": "json_object"}
        return {"type": "json_schema", "json_schema": named_schema(schema)}

    def _message(self, message: WireMessage) -> JsonObject:
        match message:
            case LLMSystemMessage(text):
                return {"role": "system", "content": text}
            case LLMUserMessage(parts):
                return {"role": "user", "content": self._content(parts)}
            case LLMToolMessage(call_id, _, text):
                return {"role": "tool", "tool_call_id": call_id, "content": text or NO_OUTPUT}
            case LLMAssistantMessage():
                return self._assistant(message)

    def _assistant(self, message: LLMAssistantMessage) -> JsonObject:
        said: JsonObject = {"role": "assistant", "content": message.text or self.profile.empty_content}
        if message.tool_calls:
            said["tool_calls"] = [
                {"id": each.call_id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
                for each in message.tool_calls
            ]
        if self.profile.thoughts_back != "never":
            own = "".join(each.text for each in message.reasoning if each.origin == self.origin)
            if own or self.profile.thoughts_back == "always":
                said["reasoning_content"] = own
        return said

    def _content(self, parts: Sequence[LLMPart]) -> JsonValue:
        """Plain text where there is nothing else: every server takes that."""
        texts = [each.text for each in parts if isinstance(each, TextPart)]
        if len(texts) == len(parts):
            return "\n\n".join(texts)
        return [self._part(each) for each in parts]

    def _part(self, part: LLMPart) -> JsonObject:
        match part:
            case ImagePart(media=media, fidelity=fidelity):
                bare = self.profile.raw_base64 and media.data is not None
                image: JsonObject = {"url": media.base64 if bare else media.data_url}
                if fidelity != "auto":
                    image["detail"] = fidelity
                return {"type": "image_url", "image_url": image}
            case AudioPart(media=media) if media.data is not None and sound_format(media.mime):
                return {
                    "type": "input_audio",
                    "input_audio": {"data": media.base64, "format": sound_format(media.mime)},
                }
            case VideoPart(media=media):
                return {"type": "video_url", "video_url": {"url": media.data_url}}
            case FilePart(media=media) if media.data is not None:
                return {"type": "file", "file": {"filename": file_name(part), "file_data": media.data_url}}
            case TextPart(text=text):
                return {"type": "text", "text": text}
        return {"type": "text", "text": part.words}


def _tool(tool: ToolSpec) -> JsonObject:
    function: JsonObject = {"name": tool.name, "parameters": tool.parameters}
    if tool.description:
        function["description"] = tool.description
    return {"type": "function", "function": function}
