"""What a Model is asked."""

from __future__ import annotations

import msgspec

from roles_runtime.llm.message import JsonObject, Message


class ToolSpec(msgspec.Struct, frozen=True):
    """All that a Model knows of a tool.

    Attributes:
        name: Unique within a request.
        description: For the model.
        parameters: JSON Schema of its arguments: an object.
    """

    name: str
    description: str
    parameters: JsonObject


class LLMRequest(msgspec.Struct, frozen=True):
    """One call of a model.

    Attributes:
        messages: In order; the first is the system message.
        tools: What the model may call.
        response_schema: JSON Schema that the answer's text shall follow, or None for plain text. Its ``title``
            names who answers (``Planner``, ``CodeInterpreter``). The schema stands in the prompt as well.
        temperature: None leaves it to the provider.
        max_tokens: None leaves it to the provider.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    response_schema: JsonObject | None = None
    temperature: float | None = None
    max_tokens: int | None = None
