"""Legal bodies, written by hand, a wire each: what an adapter may send."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

PNG = "iVBORw0KGgo="
"""Base64 of a PNG's signature."""

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

_CHAT: dict[str, Any] = {
    "model": "gpt-5",
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_completion_tokens": 1000,
    "temperature": 0.5,
    "top_p": 1,
    "tools": [
        {"type": "function", "function": {"name": "weather", "description": "Of a city.", "parameters": SCHEMA}},
        {"type": "function", "function": {"name": "now"}},
    ],
    "tool_choice": "auto",
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": False},
    },
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is it? 東京 🌧"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Two calls.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}},
                {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "developer", "content": "In French."},
        {
            "role": "assistant",
            "content": "Je regarde.",
            "tool_calls": [{"id": "c3", "type": "function", "function": {"name": "now", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c3", "content": [{"type": "text", "text": "noon"}]},
        {"role": "assistant", "content": "Il pleut."},
        {"role": "user", "content": "Merci."},
    ],
}

_RESPONSES: dict[str, Any] = {
    "model": "gpt-5",
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "instructions": "Be brief.",
    "max_output_tokens": 1000,
    "reasoning": {"effort": "low"},
    "text": {"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}, "strict": False}},
    "tools": [
        {"type": "function", "name": "weather", "description": "Of a city.", "parameters": SCHEMA, "strict": False}
    ],
    "tool_choice": {"type": "function", "name": "weather"},
    "input": [
        {"role": "developer", "content": "In French."},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Where is it?"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
                {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Paris"}'},
        {"type": "function_call", "call_id": "c2", "id": "fc_2", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "which city?"}],
        },
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Il pleut.", "annotations": []}],
        },
        {"role": "user", "content": "Merci."},
    ],
}

_ANTHROPIC: dict[str, Any] = {
    "model": "claude-opus-4-8",
    "max_tokens": 4096,
    "stream": True,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "thinking": {"type": "enabled", "budget_tokens": 2048},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
    "tools": [{"name": "weather", "description": "Of a city.", "input_schema": SCHEMA}],
    "tool_choice": {"type": "auto"},
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Where is it?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {
                    "type": "document",
                    "title": "a.pdf",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
                },
            ],
        },
        {"role": "system", "content": "In French."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Paris"}},
                {"type": "tool_use", "id": "c2", "name": "weather", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [
                        {"type": "text", "text": "rain"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    ],
                },
                {"type": "tool_result", "tool_use_id": "c2", "content": "which city?", "is_error": True},
                {"type": "text", "text": "Well?"},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Il pleut."}]},
        {"role": "user", "content": "Merci."},
    ],
}

_GEMINI: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "generationConfig": {
        "maxOutputTokens": 1000,
        "temperature": 0.5,
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
        "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 0},
    },
    "tools": [
        {
            "functionDeclarations": [
                {"name": "weather", "description": "Of a city.", "parametersJsonSchema": SCHEMA},
                {"name": "now"},
            ]
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}},
    "contents": [
        {
            "role": "user",
            "parts": [
                {"text": "Where is it?"},
                {"inlineData": {"mimeType": "image/png", "data": PNG}},
                {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.com/a.mp4"}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"text": "I look.", "thoughtSignature": "c2ln"},
                {
                    "functionCall": {"id": "c1", "name": "weather", "args": {"city": "Paris"}},
                    "thoughtSignature": "c2ln",
                },
                {"functionCall": {"name": "now", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "weather", "response": {"output": "rain"}}},
                {
                    "functionResponse": {
                        "name": "now",
                        "response": {"error": "no clock"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
                    }
                },
            ],
        },
        {"role": "user", "parts": [{"text": "Well?"}]},
        {"role": "model", "parts": [{"text": "Il pleut."}, {"text": "", "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"text": "Merci."}]},
    ],
}

_OLLAMA: dict[str, Any] = {
    "model": "qwen3",
    "stream": True,
    "think": True,
    "options": {"num_ctx": 16384, "num_predict": 1000, "temperature": 0.5},
    "format": {"type": "object"},
    "tools": [{"type": "function", "function": {"name": "weather", "description": "Of a city.", "parameters": SCHEMA}}],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "", "images": [PNG]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"function": {"name": "weather", "arguments": {"city": "Paris"}}},
                {"function": {"name": "weather", "arguments": {"city": "Rome"}}},
            ],
        },
        {"role": "tool", "tool_name": "weather", "content": "rain"},
        {"role": "tool", "tool_name": "weather", "content": ""},
        {"role": "assistant", "content": "Il pleut."},
        {"role": "user", "content": "Merci."},
    ],
}

_GOLDEN = {
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
    "anthropic": _ANTHROPIC,
    "gemini": _GEMINI,
    "ollama": _OLLAMA,
}

WIRES = tuple(_GOLDEN)


def golden(wire: str) -> dict[str, Any]:
    """A legal body of that wire, the caller's own to spoil."""
    return deepcopy(_GOLDEN[wire])
