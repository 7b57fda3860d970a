"""Holds bodies to the types that OpenAI itself gives them."""

from __future__ import annotations

from typing import Literal

from pydantic import TypeAdapter

from roles_runtime.llm.parts import JsonObject


def hold_to_vendor(wire: Literal["openai-chat", "openai-responses"], body: JsonObject) -> None:
    """Raises where the body is not of the vendor's type."""
    if wire == "openai-chat":
        from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

        chat = TypeAdapter(CompletionCreateParamsStreaming)
        # The adapter must outlive the walk, in which its lazy parts are validated.
        _walk(chat.validate_python(body))
    else:
        from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

        responses = TypeAdapter(ResponseCreateParamsStreaming)
        _walk(responses.validate_python(body))


def _walk(value: object) -> None:
    """Looks at all of it: what is Iterable for the vendor is validated only then."""
    if isinstance(value, dict):
        for each in value.values():
            _walk(each)
    elif not isinstance(value, str | bytes | int | float | None):
        for each in value:  # type: ignore[attr-defined]
            _walk(each)
