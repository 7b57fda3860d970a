"""What each of the five formats says, with any JSON in the places that a server fills in."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from pydantic import SecretStr

from roles_runtime.llm.adapter import StreamReader
from roles_runtime.llm.provider_model import ProviderModel
from roles_runtime.llm.providers.anthropic import AnthropicModel
from roles_runtime.llm.providers.anthropic.stream import AnthropicReader
from roles_runtime.llm.providers.gemini import GeminiModel
from roles_runtime.llm.providers.gemini.stream import GeminiReader
from roles_runtime.llm.providers.ollama import OllamaModel
from roles_runtime.llm.providers.ollama.stream import OllamaReader
from roles_runtime.llm.providers.openai import OpenAIModel
from roles_runtime.llm.providers.openai.chat_stream import ChatReader
from roles_runtime.llm.providers.openai.responses_stream import ResponsesReader

KEY = SecretStr("Zx9.odd+value/123==")


class Wire(msgspec.Struct, frozen=True):
    """One format. ``TEXT``, ``ID``, ``ARGS``, ``COUNT`` and ``ERROR`` stand for JSON.

    Attributes:
        reader: Makes a reader.
        model: Makes a model that asks a URL.
        text, thought, call, end, error: The events that say so.
        nulls: Events in which every field is null that may be.
    """

    reader: Callable[[], StreamReader]
    model: Callable[[str], ProviderModel]
    text: tuple[bytes, ...]
    thought: tuple[bytes, ...]
    call: tuple[bytes, ...]
    end: tuple[bytes, ...]
    error: bytes
    nulls: tuple[bytes, ...]
    is_sse: bool = True

    def event(self, data: bytes) -> bytes:
        """An event of that JSON."""
        return b"data: " + data + b"\n\n" if self.is_sse else data + b"\n"

    def ping(self) -> bytes:
        """What says nothing."""
        return b": ping\n\n" if self.is_sse else b"\n"

    def says(self, text: bytes) -> bytes:
        """Text, as a JSON string."""
        return self._filled(self.text, TEXT=text)

    def thinks(self, text: bytes) -> bytes:
        """Thought, as a JSON string."""
        return self._filled(self.thought, TEXT=text)

    def calls(self, call_id: bytes, arguments: bytes) -> bytes:
        """A call of ``f``, with its id as JSON, and the JSON of its arguments."""
        quoted = b'"' + arguments.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
        return self._filled(self.call, ID=call_id, ARGS=arguments, QUOTED=quoted)

    def ends(self, count: bytes = b"1") -> bytes:
        """The end, with that count of tokens in and out."""
        return self._filled(self.end, COUNT=count)

    def fails(self, error: bytes) -> bytes:
        """An error inside the stream."""
        return self._filled((self.error,), ERROR=error)

    def says_nothing(self) -> bytes:
        """Fields without values."""
        return self._filled(self.nulls)

    def _filled(self, events: tuple[bytes, ...], **places: bytes) -> bytes:
        said = b"".join(self.event(each) for each in events)
        for place, value in places.items():
            said = said.replace(place.encode(), value)
        return said


WIRES = {
    "anthropic": Wire(
        lambda: AnthropicReader("anthropic:m"),
        lambda url: AnthropicModel("claude-opus-4-8", base_url=url, api_key=KEY),
        text=(b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":TEXT}}',),
        thought=(
            b'{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":TEXT}}',
            b'{"type":"content_block_stop","index":1}',
        ),
        call=(
            b'{"type":"content_block_start","index":2,'
            b'"content_block":{"type":"tool_use","id":ID,"name":"f","input":ARGS}}',
            b'{"type":"content_block_stop","index":2}',
        ),
        end=(
            b'{"type":"message_delta","delta":{"stop_reason":"end_turn"},'
            b'"usage":{"input_tokens":COUNT,"output_tokens":COUNT}}',
            b'{"type":"message_stop"}',
        ),
        error=b'{"type":"error","error":ERROR}',
        nulls=(
            b'{"type":"message_start","message":null}',
            b'{"type":"message_start","message":{"usage":null}}',
            b'{"type":"content_block_start","index":null,"content_block":null}',
            b'{"type":"content_block_start","index":null,"content_block":{"type":"text","text":null,"thinking":null,'
            b'"signature":null,"data":null,"id":null,"name":null}}',
            b'{"type":"content_block_delta","index":null,"delta":null}',
            b'{"type":"content_block_delta","index":null,"delta":{"type":"text_delta","text":null}}',
            b'{"type":"content_block_delta","index":null,"delta":{"type":"input_json_delta","partial_json":null}}',
            b'{"type":"content_block_delta","index":null,"delta":{"type":"signature_delta","signature":null}}',
            b'{"type":"content_block_delta","index":null,"delta":{"type":"thinking_delta","thinking":null}}',
            b'{"type":"content_block_stop","index":null}',
            b'{"type":"message_delta","delta":null,"usage":null,"error":null}',
            b'{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens_details":null}}',
        ),
    ),
    "gemini": Wire(
        lambda: GeminiReader("gemini:m"),
        lambda url: GeminiModel("gemini-3-pro", base_url=url, api_key=KEY),
        text=(b'{"candidates":[{"content":{"parts":[{"text":TEXT}]}}]}',),
        thought=(b'{"candidates":[{"content":{"parts":[{"text":TEXT,"thought":true}]}}]}',),
        call=(b'{"candidates":[{"content":{"parts":[{"functionCall":{"id":ID,"name":"f","args":ARGS}}]}}]}',),
        end=(
            b'{"candidates":[{"finishReason":"STOP"}],'
            b'"usageMetadata":{"promptTokenCount":COUNT,"candidatesTokenCount":COUNT}}',
        ),
        error=b'{"error":ERROR}',
        nulls=(
            b'{"candidates":null,"promptFeedback":null,"usageMetadata":null,"error":null}',
            b'{"candidates":[],"promptFeedback":{"blockReason":null}}',
            b'{"candidates":[{"index":null,"content":null,"finishReason":null,"finishMessage":null}]}',
            b'{"candidates":[{"content":{"parts":null}}]}',
            b'{"candidates":[{"content":{"parts":[{"text":null,"thought":null,"thoughtSignature":null,'
            b'"functionCall":null}]}}]}',
        ),
    ),
    "ollama": Wire(
        lambda: OllamaReader("ollama:m"),
        lambda url: OllamaModel("qwen3", base_url=url),
        text=(b'{"message":{"content":TEXT}}',),
        thought=(b'{"message":{"thinking":TEXT}}',),
        call=(b'{"message":{"tool_calls":[{"id":ID,"function":{"name":"f","arguments":ARGS}}]}}',),
        end=(b'{"done":true,"done_reason":"stop","prompt_eval_count":COUNT,"eval_count":COUNT}',),
        error=b'{"error":ERROR}',
        nulls=(
            b'{"message":null,"done_reason":null,"prompt_eval_count":null,"eval_count":null,"error":null}',
            b'{"message":{"content":null,"thinking":null,"tool_calls":null}}',
        ),
        is_sse=False,
    ),
    "openai-chat": Wire(
        lambda: ChatReader("openai:m", "openai"),
        lambda url: OpenAIModel("m", base_url=url, api_key=KEY, wire="openai-chat"),
        text=(b'{"choices":[{"delta":{"content":TEXT}}]}',),
        thought=(b'{"choices":[{"delta":{"reasoning":TEXT}}]}',),
        call=(b'{"choices":[{"delta":{"tool_calls":[{"id":ID,"function":{"name":"f","arguments":QUOTED}}]}}]}',),
        end=(
            b'{"choices":[{"delta":{},"finish_reason":"stop"}],'
            b'"usage":{"prompt_tokens":COUNT,"completion_tokens":COUNT}}',
            b"[DONE]",
        ),
        error=b'{"error":ERROR}',
        nulls=(
            b'{"choices":null,"usage":null,"error":null}',
            b'{"choices":[{"delta":null,"finish_reason":null,"usage":null}]}',
            b'{"choices":[{"delta":{"content":null,"reasoning":null,"reasoning_content":null,"refusal":null,'
            b'"tool_calls":null}}]}',
            b'{"choices":[{"delta":{"content":[{"text":null}]}}]}',
        ),
    ),
    "openai-responses": Wire(
        lambda: ResponsesReader("openai:m", "openai-responses"),
        lambda url: OpenAIModel("m", base_url=url, api_key=KEY, wire="openai-responses"),
        text=(b'{"type":"response.output_text.delta","output_index":0,"delta":TEXT}',),
        thought=(b'{"type":"response.reasoning_summary_text.delta","output_index":1,"delta":TEXT}',),
        call=(
            b'{"type":"response.output_item.done","output_index":2,'
            b'"item":{"type":"function_call","call_id":ID,"name":"f","arguments":QUOTED}}',
        ),
        end=(
            b'{"type":"response.completed","response":{"status":"completed",'
            b'"usage":{"input_tokens":COUNT,"output_tokens":COUNT}}}',
        ),
        error=b'{"type":"error","error":ERROR}',
        nulls=(
            b'{"type":"response.created","response":null,"item":null,"delta":null,"error":null,"message":null}',
            b'{"type":"response.output_text.delta","output_index":null,"delta":null}',
            b'{"type":"response.output_item.added","output_index":null,"item":null}',
            b'{"type":"response.output_item.done","output_index":null,"item":{"type":"message","content":null}}',
            b'{"type":"response.output_item.done","item":{"type":"message","content":[{"text":null,"refusal":null}]}}',
            b'{"type":"response.reasoning_summary_part.added","summary_index":null}',
            b'{"type":"response.function_call_arguments.done","arguments":null}',
        ),
    ),
}
