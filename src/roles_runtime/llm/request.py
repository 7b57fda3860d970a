"""What a Model is asked."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from roles_runtime.llm.message import Message
from roles_runtime.llm.parts import JsonObject

Effort: TypeAlias = Literal["none", "low", "medium", "high"]
"""How hard a model shall think."""


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
        temperature, top_p: None leaves it to the provider; so does a model that does not let one choose.
        max_tokens: The bound of the answer; None leaves it to the provider.
        tool_choice: Whether the model may (``auto``), must not (``none``) or must (``required``) call a tool.
        effort: How hard the model shall think, where it thinks at all; None leaves it to the provider.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    response_schema: JsonObject | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    tool_choice: Literal["auto", "none", "required"] = "auto"
    effort: Effort | None = None
