"""Ollama's own chat wire. The server passes over what it does not know, so that a strange field is refused here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.wire_rules import media
from roles_runtime.llm.wire_rules.fault import Fault, each, within
from roles_runtime.llm.wire_rules.pairing import Pairing
from roles_runtime.llm.wire_rules.shape import Shape, at_least, between, one_of, picked, spoken
from roles_runtime.llm.wire_rules.tools import Declared, free_json, named

_NAME = re.compile(r"[a-zA-Z0-9_.:-]{1,128}")

_BODY = Shape(
    {"model": str, "messages": list},
    {
        "stream": bool,
        "tools": list,
        "format": str | dict,
        "options": dict,
        "think": bool | str,
        "keep_alive": str | int | float,
        "logprobs": bool,
        "top_logprobs": int,
        "truncate": bool,
        "shift": bool,
    },
)
_MESSAGES: Mapping[str, Shape] = MappingProxyType(
    {
        "system": Shape({"role": str, "content": str}),
        "user": Shape({"role": str, "content": str}, {"images": list}),
        "assistant": Shape({"role": str, "content": str}, {"thinking": str, "tool_calls": list}),
        "tool": Shape({"role": str, "content": str, "tool_name": str}, {"tool_call_id": str, "images": list}),
    }
)
_CALL = Shape({"function": dict}, {"id": str, "type": str})
_CALLED = Shape({"name": str, "arguments": dict}, {"index": int})
_TOOL = Shape({"type": str, "function": dict})
_FUNCTION = Shape({"name": str, "parameters": dict}, {"description": str})


def hold(name: str, body: JsonObject) -> None:
    """Holds a body to this wire.

    Raises:
        Fault: it breaks a rule.
    """
    del name
    _BODY(body)
    spoken("model", body["model"])
    if isinstance(body.get("format"), str):
        one_of(("json",), "format", body)
    if isinstance(body.get("think"), str):
        one_of(("low", "medium", "high"), "think", body)
    if "options" in body:
        within("options", body, _options)
    declared = Declared(_NAME)
    if "tools" in body:
        each("tools", body["tools"], lambda tool: _tool(tool, declared))
    conversation = _Conversation()
    each("messages", body["messages"], conversation)
    conversation.end()


def _options(value: object) -> None:
    assert isinstance(value, dict)
    # Below zero it means "without a bound".
    if value.get("num_predict") == 0:
        raise Fault("num_predict", "must not be 0")
    at_least(1, "num_ctx", value)
    between(0, 2, "temperature", value)
    between(0, 1, "top_p", value)


def _tool(value: object, declared: Declared) -> None:
    tool = _TOOL(value)
    one_of(("function",), "type", tool)
    within("function", tool, lambda function: declared.add(_FUNCTION(function), "parameters"))


class _Conversation:
    """Reads the messages in order. Calls have no ids: a result is known by its tool's name."""

    def __init__(self) -> None:
        self._pairing = Pairing(unique=False)
        self._heard = False
        self._last = ""

    def __call__(self, message: object) -> None:
        self._last = role = picked(message, "role", _MESSAGES)
        assert isinstance(message, dict)
        if role == "tool":
            self._pairing.result("tool_name", message["tool_name"])
            if "images" in message:
                raise Fault("images", "must stand in a user's message, where every model looks for them")
            return
        self._pairing.settled()
        if role == "assistant":
            self._said(message)
            return
        self._heard = self._heard or role == "user"
        if "images" in message:
            each("images", message["images"], lambda image: media.encoded("", image))
        else:
            spoken("content", message["content"])

    def end(self) -> None:
        try:
            self._pairing.settled()
        except Fault as fault:
            raise fault.under("messages") from None
        if not self._heard:
            raise Fault("messages", "must hold a user's message")
        if self._last == "assistant":
            raise Fault("messages", "must not end with the model's own words, or it goes on in them")

    def _said(self, message: JsonObject) -> None:
        if "tool_calls" in message:
            each("tool_calls", message["tool_calls"], self._call)
        else:
            spoken("content", message["content"])

    def _call(self, value: object) -> None:
        function = within("function", _CALL(value), _CALLED)
        named("function.name", function["name"], _NAME)
        free_json("function.arguments", function["arguments"])
        self._pairing.call("function.name", str(function["name"]))
