"""OpenAI's Responses wire: items in, items out, nothing kept at OpenAI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roles_runtime.llm.adapter import Adapter, Capabilities
from roles_runtime.llm.calls import Reasoning
from roles_runtime.llm.complaint import read_complaint
from roles_runtime.llm.llm_message import (
    LLMAssistantMessage,
    LLMPart,
    LLMSystemMessage,
    LLMToolMessage,
    LLMUserMessage,
    WireMessage,
)
from roles_runtime.llm.parts import FilePart, ImagePart, JsonObject, TextPart
from roles_runtime.llm.providers.openai.chat import NO_OUTPUT
from roles_runtime.llm.providers.openai.content import file_name, fitted_id
from roles_runtime.llm.providers.openai.names import least_effort
from roles_runtime.llm.providers.openai.responses_stream import ResponsesReader
from roles_runtime.llm.providers.openai.schemas import named_schema
from roles_runtime.llm.request import LLMRequest, ToolSpec

ID_LIMIT = 64
LEAST_OUTPUT = 16
"""A smaller bound of the answer is refused."""


class ResponsesAdapter(Adapter):
    """The Responses wire. Thoughts come and go encrypted, so that OpenAI need not store them."""

    wire = "openai-responses"

    def __init__(self, name: str, model: str, capabilities: Capabilities, origin: str = "openai-responses") -> None:
        """Takes what it is to speak for, and whose encrypted thoughts the server can read."""
        super().__init__(name, model, capabilities)
        self.origin = origin

    def configure_api_params(self, request: LLMRequest, system: str) -> JsonObject:
        """See `Adapter`."""
        params: JsonObject = {"model": self.model, "stream": True, "store": False}
        if system:
            params["instructions"] = system
        bound = request.max_tokens or self.capabilities.max_output
        if bound is not None:
            params["max_output_tokens"] = max(bound, LEAST_OUTPUT)
        if self.capabilities.sampling:
            for field, value in (("temperature", request.temperature), ("top_p", request.top_p)):
                if value is not None:
                    params[field] = value
        if self.capabilities.reasoning:
            params["include"] = ["reasoning.encrypted_content"]
            if request.effort is not None:
                word = least_effort(self.model) if request.effort == "none" else request.effort
                params["reasoning"] = {"effort": word}
        enforced = self.capabilities.schema and (not request.tools or self.capabilities.schema_with_tools)
        if request.response_schema is not None and enforced:
            params["text"] = {"format": {"type": "json_schema", **named_schema(request.response_schema)}}
        return params

    def reformat_request_msg_to_api(self, messages: Sequence[WireMessage]) -> list[JsonObject]:
        """See `Adapter`."""
        told: set[str] = set()
        items = []
        for item in (item for each in messages for item in self._items(each)):
            # A history that was copied may hold one thought twice; its id may stand in a request but once.
            if item.get("type") == "reasoning" and (identity := item.get("id")) is not None:
                if str(identity) in told:
                    continue
                told.add(str(identity))
            items.append(item)
        return items

    def assemble_api_request(self, params: JsonObject, messages: list[JsonObject], request: LLMRequest) -> JsonObject:
        """See `Adapter`."""
        body: JsonObject = {**params, "input": [*messages]}
        if request.tools and self.capabilities.tools:
            body["tools"] = [_tool(each) for each in request.tools]
            if request.tool_choice != "auto":
                body["tool_choice"] = request.tool_choice
        return body

    def reader(self) -> ResponsesReader:
        """See `Adapter`."""
        return ResponsesReader(self.name, self.origin)

    def read_error(self, status: int, body: bytes) -> tuple[str, str]:
        """See `Adapter`."""
        return read_complaint(body)

    def fit_call_id(self, call_id: str) -> str:
        """See `Adapter`."""
        return fitted_id(call_id, ID_LIMIT)

    def _items(self, message: WireMessage) -> Iterator[JsonObject]:
        match message:
            case LLMSystemMessage(text):
                yield {"role": "developer", "content": text}
            case LLMUserMessage(parts):
                yield {"role": "user", "content": [_part(each) for each in parts]}
            case LLMToolMessage(call_id, _, text, _, parts):
                item: JsonObject = {"type": "function_call_output", "call_id": call_id, "output": text or NO_OUTPUT}
                if parts:
                    texts: list[LLMPart] = [TextPart(text=text)] if text else []
                    item["output"] = [_part(each) for each in (*texts, *parts)]
                yield item
            case LLMAssistantMessage(_, _, reasoning):
                own = [each for each in reasoning if each.origin == self.origin and each.payload]
                yield from _turn(message, own)


def _turn(message: LLMAssistantMessage, thoughts: Sequence[Reasoning]) -> Iterator[JsonObject]:
    """What the model said as items, each thought at its place; one that nothing follows would be refused."""
    chars = calls = 0
    waiting: list[JsonObject] = []
    for thought in (*thoughts, None):
        until = len(message.text) if thought is None else thought.after_chars
        until_call = len(message.tool_calls) if thought is None else thought.after_calls
        said = [*_said(message, chars, until, calls, until_call)]
        if said:
            yield from waiting
            yield from said
            waiting = []
        chars, calls = max(chars, until), max(calls, until_call)
        if thought is not None:
            waiting.append(thought.payload)


def _said(message: LLMAssistantMessage, chars: int, until: int, calls: int, until_call: int) -> Iterator[JsonObject]:
    text = message.text[chars:until]
    if text.strip():
        yield {"role": "assistant", "content": text}
    for call in message.tool_calls[calls:until_call]:
        yield {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments}


def _part(part: LLMPart) -> JsonObject:
    match part:
        case ImagePart(media=media, fidelity=fidelity):
            return {"type": "input_image", "image_url": media.data_url, "detail": fidelity}
        case FilePart(media=media) if media.url is not None:
            return {"type": "input_file", "file_url": media.url}
        case FilePart(media=media):
            return {"type": "input_file", "filename": file_name(part), "file_data": media.data_url}
        case TextPart(text=text):
            return {"type": "input_text", "text": text}
    return {"type": "input_text", "text": part.words}


def _tool(tool: ToolSpec) -> JsonObject:
    # Left out, strict would be taken for true, and a schema that is not strict refused.
    told: JsonObject = {"type": "function", "name": tool.name, "parameters": tool.parameters, "strict": False}
    if tool.description:
        told["description"] = tool.description
    return told
