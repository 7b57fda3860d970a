"""Anthropic's Messages wire, of its API of 2026-10-21."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.wire_rules import media
from roles_runtime.llm.wire_rules.fault import Fault, each, within
from roles_runtime.llm.wire_rules.pairing import Pairing
from roles_runtime.llm.wire_rules.shape import Shape, at_least, one_of, picked, spoken
from roles_runtime.llm.wire_rules.tools import Declared, free_json, named

LEAST_BUDGET = 1024
"""Of thinking, in tokens."""

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CACHED = {"cache_control": dict | None}

_BODY = Shape(
    {"model": str, "max_tokens": int, "messages": list},
    {
        "system": str | list,
        "stream": bool,
        "tools": list,
        "tool_choice": dict,
        "thinking": dict,
        "output_config": dict,
        "stop_sequences": list,
        "metadata": dict,
        "service_tier": str,
        "speed": str | None,
        "container": str | dict | None,
        "inference_geo": str | None,
        **_CACHED,
    },
)
_CACHE = Shape({"type": str}, {"ttl": str})
_FORBIDDEN = ("temperature", "top_p", "top_k")

_TURN = Shape({"role": str, "content": str | list})
_TURNS: Mapping[str, Shape] = MappingProxyType({"user": _TURN, "assistant": _TURN, "system": _TURN})

_TEXT = Shape({"type": str, "text": str}, {"citations": list | None, **_CACHED})
_IMAGE = Shape({"type": str, "source": dict}, _CACHED)
_DOCUMENT = Shape(
    {"type": str, "source": dict}, {"title": str | None, "context": str | None, "citations": dict | None, **_CACHED}
)
_RESULT = Shape({"type": str, "tool_use_id": str}, {"content": str | list, "is_error": bool, **_CACHED})
_TEXTS: Mapping[str, Shape] = MappingProxyType({"text": _TEXT})
_TOLD: Mapping[str, Shape] = MappingProxyType(
    {"text": _TEXT, "image": _IMAGE, "document": _DOCUMENT, "tool_result": _RESULT}
)
_SHOWN: Mapping[str, Shape] = MappingProxyType({"text": _TEXT, "image": _IMAGE, "document": _DOCUMENT})
_SAID: Mapping[str, Shape] = MappingProxyType(
    {
        "text": _TEXT,
        "thinking": Shape({"type": str, "thinking": str, "signature": str}),
        "redacted_thinking": Shape({"type": str, "data": str}),
        "tool_use": Shape({"type": str, "id": str, "name": str, "input": dict}, _CACHED),
    }
)
_SOURCES: Mapping[str, Shape] = MappingProxyType(
    {
        "base64": Shape({"type": str, "media_type": str, "data": str}),
        "url": Shape({"type": str, "url": str}),
        "file": Shape({"type": str, "file_id": str}),
        "text": Shape({"type": str, "media_type": str, "data": str}),
    }
)
_TOOL = Shape(
    {"name": str, "input_schema": dict},
    {
        "description": str,
        "strict": bool,
        "type": str | None,
        "defer_loading": bool,
        "input_examples": list,
        "eager_input_streaming": bool | None,
        **_CACHED,
    },
)
_CHOICES: Mapping[str, Shape] = MappingProxyType(
    {
        "auto": Shape({"type": str}, {"disable_parallel_tool_use": bool}),
        "any": Shape({"type": str}, {"disable_parallel_tool_use": bool}),
        "tool": Shape({"type": str, "name": str}, {"disable_parallel_tool_use": bool}),
        "none": Shape({"type": str}),
    }
)
_SHOWING = {"display": str | None}
_THINKING: Mapping[str, Shape] = MappingProxyType(
    {
        "enabled": Shape({"type": str, "budget_tokens": int}, _SHOWING),
        "adaptive": Shape({"type": str}, _SHOWING),
        "disabled": Shape({"type": str}),
        "between_tools": Shape({"type": str}, _SHOWING),
    }
)
_OUTPUT = Shape({}, {"effort": str | None, "format": dict | None})
_FORMAT = Shape({"type": str, "schema": dict})


def hold(name: str, body: JsonObject) -> None:
    """Holds a body to this wire.

    Raises:
        Fault: it breaks a rule.
    """
    del name
    for key in _FORBIDDEN:
        if key in body:
            raise Fault(key, "is refused by this version of the API, whatever its value")
    _BODY(body)
    spoken("model", body["model"])
    at_least(1, "max_tokens", body)
    _cached(body)
    if "system" in body:
        _texts("system", body["system"])
    if "output_config" in body:
        within("output_config", body, _output)
    _tools(body)
    turns = _Turns()
    each("messages", body["messages"], turns)
    turns.end()
    if "thinking" in body:
        _thinking(body)


def _output(value: object) -> None:
    config = _OUTPUT(value)
    one_of(("low", "medium", "high", "xhigh", "max", None), "effort", config)
    if config.get("format") is not None:
        within("format", config, lambda told: one_of(("json_schema",), "type", _FORMAT(told)))


def _tools(body: JsonObject) -> None:
    declared = Declared(_NAME)
    if "tools" in body:
        each("tools", body["tools"], lambda tool: _declare(tool, declared))
    if "tool_choice" not in body:
        return
    if not declared.names:
        raise Fault("tool_choice", "must not be given without tools")
    choice = body["tool_choice"]
    if within("tool_choice", body, lambda value: picked(value, "type", _CHOICES)) == "tool":
        assert isinstance(choice, dict)
        declared.choice("tool_choice.name", choice["name"])


def _declare(value: object, declared: Declared) -> None:
    tool = _TOOL(value)
    declared.add(tool, "input_schema")
    _cached(tool)


def _cached(block: Mapping[str, object]) -> None:
    if block.get("cache_control") is not None:
        within("cache_control", block, _cache)


def _cache(value: object) -> None:
    cache = _CACHE(value)
    one_of(("ephemeral",), "type", cache)
    one_of(("5m", "1h"), "ttl", cache)


def _thinking(body: JsonObject) -> None:
    """What thinks, must not be forced to call; and a loop of calls goes on only with the thoughts that began it."""
    thinking, choice, messages = body["thinking"], body.get("tool_choice"), body["messages"]
    kind = within("thinking", body, lambda value: picked(value, "type", _THINKING))
    if kind != "enabled":
        return
    assert isinstance(thinking, dict)
    assert isinstance(messages, list)
    budget, bound = thinking["budget_tokens"], body["max_tokens"]
    if not isinstance(budget, int) or not isinstance(bound, int) or not LEAST_BUDGET <= budget < bound:
        raise Fault("thinking.budget_tokens", f"must be from {LEAST_BUDGET} to below max_tokens; here it is {budget!r}")
    if isinstance(choice, dict) and choice["type"] in ("any", "tool"):
        raise Fault("tool_choice", "must not force a call while thinking is enabled")
    for index in range(len(messages) - 1, -1, -1):
        kinds = _kinds(messages[index])
        if "tool_use" in kinds and kinds[0] not in ("thinking", "redacted_thinking"):
            raise Fault(f"messages[{index}].content[0]", "must be the thought that came before its calls")
        if kinds and "tool_result" not in kinds:
            return


def _kinds(turn: object) -> list[object]:
    content = turn.get("content") if isinstance(turn, dict) else None
    return [block.get("type") for block in content if isinstance(block, dict)] if isinstance(content, list) else []


class _Turns:
    """Reads the turns in order."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        self._last = ""
        self._results = False

    def __call__(self, turn: object) -> None:
        role = picked(turn, "role", _TURNS)
        assert isinstance(turn, dict)
        self._comes(role)
        self._last = role
        content = turn["content"]
        if role == "system":
            _texts("content", content)
        elif role == "user":
            self._results = True
            self._told(content)
            self._pairing.settled()
        elif isinstance(content, str):
            spoken("content", content)
        else:
            each("content", content, self._said)

    def end(self) -> None:
        if self._last == "assistant":
            raise Fault("messages", "must end with the user's turn, or the model goes on in its own words")

    def _comes(self, role: str) -> None:
        if not self._last and role != "user":
            raise Fault("role", f"must be 'user' at the beginning; here it is {role!r}")
        if role == self._last:
            raise Fault("role", f"must not be {role!r} twice in a row")
        if role == "system" and self._last != "user":
            raise Fault("role", "'system' must stand right after the user's turn")
        if role == "user" and self._last == "system":
            raise Fault("role", "must not be 'user' right after 'system'")

    def _told(self, content: object) -> None:
        if isinstance(content, str):
            self._pairing.settled()
            spoken("content", content)
        else:
            each("content", content, self._block)

    def _block(self, block: object) -> None:
        kind = picked(block, "type", _TOLD)
        assert isinstance(block, dict)
        if kind != "tool_result":
            self._results = False
            self._pairing.settled()
            _shown(block, kind)
            return
        if not self._results:
            raise Fault("", "must stand before everything else in its turn, since it is a tool's result")
        _cached(block)
        self._pairing.result("tool_use_id", str(block["tool_use_id"]))
        content = block.get("content")
        if isinstance(content, list):
            each("content", content, lambda part: _shown(part, picked(part, "type", _SHOWN)))

    def _said(self, block: object) -> None:
        kind = picked(block, "type", _SAID)
        assert isinstance(block, dict)
        match kind:
            case "text":
                spoken("text", block["text"])
            case "thinking":
                # The thought may be empty, where its provider tells none; the signature is what counts.
                spoken("signature", block["signature"])
            case "redacted_thinking":
                spoken("data", block["data"])
            case _:
                named("id", block["id"], _ID)
                named("name", block["name"], _NAME)
                free_json("input", block["input"])
                _cached(block)
                self._pairing.call("id", str(block["id"]))


def _texts(key: str, content: object) -> None:
    if isinstance(content, str):
        spoken(key, content)
    else:
        each(key, content, lambda block: _shown(block, picked(block, "type", _TEXTS)))


def _shown(block: object, kind: str) -> None:
    assert isinstance(block, dict)
    _cached(block)
    if kind == "text":
        spoken("text", block["text"])
        if block.get("citations"):
            raise Fault("citations", "must be empty: only the model cites")
        return
    source = block["source"]
    source_kind = within("source", block, lambda value: picked(value, "type", _SOURCES))
    match source_kind:
        case "base64":
            media.of_type(
                "source.media_type", source["media_type"], media.SEEN if kind == "image" else ("application/pdf",)
            )
            media.encoded("source.data", source["data"])
        case "url":
            media.web("source.url", source["url"])
        case "text":
            if kind == "image":
                raise Fault("source.type", "must be base64, url or file; a picture is no text")
            media.of_type("source.media_type", source["media_type"], ("text/plain",))
            spoken("source.data", source["data"])
        case _:
            spoken("source.file_id", source["file_id"])
