"""Anthropic's Messages API, version 2026-10-21."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from pydantic import JsonValue

from roles_runtime.errors import ModelError
from roles_runtime.llm.adapter import Adapter, Capabilities
from roles_runtime.llm.complaint import read_complaint
from roles_runtime.llm.llm_message import WireMessage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.anthropic.families import Family, family_of
from roles_runtime.llm.providers.anthropic.schema import enforceable
from roles_runtime.llm.providers.anthropic.stream import ORIGIN, AnthropicReader
from roles_runtime.llm.providers.anthropic.turns import turns_of
from roles_runtime.llm.request import LLMRequest

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_BUDGETS = {"low": 2048, "medium": 8192, "high": 16384}
_LEAST_BUDGET = 1024
_NO_ID_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")
_MAX_ID = 64
_THOUGHTS = ("thinking", "redacted_thinking")


def capabilities_of(model: str) -> Capabilities:
    """What a model of that name takes."""
    family = family_of(model)
    return Capabilities(
        media=_IMAGES | {"application/pdf"},
        tool_media=_IMAGES,
        system_param=True,
        sampling=False,
        schema=family.schema,
        context_window=family.context_window,
        max_output=family.max_output,
        reasoning=bool(family.thinking),
    )


class AnthropicAdapter(Adapter):
    """Anthropic's format. Of thoughts, none goes back but those that Anthropic signed, as they came."""

    wire = "anthropic"
    origin = ORIGIN

    def __init__(
        self,
        model: str,
        capabilities: Capabilities | None = None,
        *,
        label: str = "anthropic",
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
        """Model, bound, instructions, schema, effort and thinking; sampling is the provider's own affair."""
        family = self._family
        bound = request.max_tokens or self.capabilities.max_output or family.max_output
        params: JsonObject = {"model": self.model, "max_tokens": bound, "stream": True}
        if system:
            # What stands before it is cached with it: the tools.
            cached: JsonObject = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
            params["system"] = [cached]
        output: JsonObject = {}
        if request.response_schema is not None and self.capabilities.schema and not request.tools:
            output["format"] = {"type": "json_schema", "schema": enforceable(request.response_schema)}
        if request.effort is not None and family.effort:
            output["effort"] = "low" if request.effort == "none" else request.effort
        if output:
            params["output_config"] = output
        thinking = _thinking(family, request, bound)
        if thinking is not None:
            params["thinking"] = thinking
        return params

    def reformat_request_msg_to_api(self, messages: Sequence[WireMessage]) -> list[JsonObject]:
        """Turns of user and assistant, in blocks."""
        return turns_of(messages)

    def assemble_api_request(self, params: JsonObject, messages: list[JsonObject], request: LLMRequest) -> JsonObject:
        """The whole body. It does not think where the tool calls it goes on from were made without its thoughts."""
        body: JsonObject = {**params, "messages": list(messages)}
        if "thinking" in body and self._family.off != "never" and _goes_on_without_thoughts(messages):
            del body["thinking"]
            if self._family.off:
                body["thinking"] = {"type": self._family.off}
        tools: list[JsonValue] = [
            {"name": each.name, "description": each.description, "input_schema": each.parameters}
            for each in request.tools
        ]
        choice = {"none": "none", "required": "any"}.get(request.tool_choice)
        if not tools:
            tools, choice = _retired(messages), "none"
        if tools:
            body["tools"] = tools
            if choice == "none" or (choice == "any" and self._may_force(body)):
                body["tool_choice"] = {"type": choice}
        return body

    def reader(self) -> AnthropicReader:
        """Of the stream's events."""
        return AnthropicReader(self.name)

    def read_error(self, status: int, body: bytes) -> tuple[str, str]:
        """Its type and message."""
        return read_complaint(body)

    def fit_call_id(self, call_id: str) -> str:
        """Of letters, digits, ``_`` and ``-``."""
        return _NO_ID_CHARACTER.sub("_", call_id)[:_MAX_ID]

    def _may_force(self, body: JsonObject) -> bool:
        match body.get("thinking"):
            case {"type": "enabled"}:
                return False
        return self._family.forced


def _thinking(family: Family, request: LLMRequest, bound: int) -> JsonObject | None:
    match request.effort:
        case None:
            return None
        case "none":
            return {"type": family.off} if family.off not in ("", "never") else None
    if family.thinking == "adaptive":
        return {"type": "adaptive"}
    # A forced call and a budget exclude each other.
    if family.thinking == "budget" and request.tool_choice != "required" and bound > 2 * _LEAST_BUDGET:
        return {"type": "enabled", "budget_tokens": min(_BUDGETS[request.effort], bound - _LEAST_BUDGET)}
    return None


def _goes_on_without_thoughts(messages: list[JsonObject]) -> bool:
    """Whether a loop of calls goes on at the end, and a step of it does not begin with a thought of Anthropic's."""
    for message in reversed(messages):
        kinds = [each["type"] for each in _blocks(message)]
        if "tool_use" in kinds and kinds[0] not in _THOUGHTS:
            return True
        if "tool_result" not in kinds and "tool_use" not in kinds:
            break
    return False


def _retired(messages: list[JsonObject]) -> list[JsonValue]:
    """Tools that are called in the history and gone now: calls of tools that nobody declares are refused."""
    blocks = (each for message in messages for each in _blocks(message))
    names = dict.fromkeys(str(each["name"]) for each in blocks if each.get("type") == "tool_use")
    return [
        {"name": name, "description": "Not available any more.", "input_schema": {"type": "object"}} for name in names
    ]


def _blocks(message: JsonObject) -> Iterator[JsonObject]:
    content = message["content"]
    if isinstance(content, list):
        yield from (each for each in content if isinstance(each, dict))
