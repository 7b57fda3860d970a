"""OpenAI's chat wire, as OpenAI and the servers that speak it have it. Fields that servers add are let pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.wire_rules import media
from roles_runtime.llm.wire_rules.fault import Fault, each, within
from roles_runtime.llm.wire_rules.pairing import Pairing
from roles_runtime.llm.wire_rules.shape import Shape, at_least, between, one_of, picked, spoken
from roles_runtime.llm.wire_rules.tools import Declared, arguments_text, named

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MAX_ID = 64
"""In characters. Old models of OpenAI's take 40, and an adapter of theirs keeps to that."""

_BODY = Shape(
    {"model": str, "messages": list},
    {
        "stream": bool | None,
        "stream_options": dict | None,
        "max_tokens": int | None,
        "max_completion_tokens": int | None,
        "temperature": float | int | None,
        "top_p": float | int | None,
        "tools": list,
        "tool_choice": str | dict,
        "parallel_tool_calls": bool,
        "response_format": dict,
        "reasoning_effort": str | None,
        "stop": str | list | None,
    },
    open=True,
)

_MESSAGES: Mapping[str, Shape] = MappingProxyType(
    {
        "system": Shape({"role": str, "content": str | list}, open=True),
        "developer": Shape({"role": str, "content": str | list}, open=True),
        "user": Shape({"role": str, "content": str | list}, open=True),
        "assistant": Shape(
            {"role": str},
            {"content": str | list | None, "tool_calls": list, "reasoning_content": str | None, "refusal": str | None},
            open=True,
        ),
        "tool": Shape({"role": str, "content": str | list, "tool_call_id": str}, open=True),
        "function": Shape({"role": str, "content": str | None, "name": str}, open=True),
    }
)

_TEXT = Shape({"type": str, "text": str}, open=True)
_TEXTS: Mapping[str, Shape] = MappingProxyType({"text": _TEXT})
_SAID: Mapping[str, Shape] = MappingProxyType({"text": _TEXT, "refusal": Shape({"type": str, "refusal": str})})
_TOLD: Mapping[str, Shape] = MappingProxyType(
    {
        "text": _TEXT,
        "image_url": Shape({"type": str, "image_url": dict}, open=True),
        "input_audio": Shape({"type": str, "input_audio": dict}, open=True),
        "video_url": Shape({"type": str, "video_url": dict}, open=True),
        "file": Shape({"type": str, "file": dict}, open=True),
    }
)

_LINK = Shape({"url": str}, {"detail": str}, open=True)
_SOUND = Shape({"data": str, "format": str}, open=True)
_FILE = Shape({}, {"file_data": str, "file_id": str, "filename": str}, open=True)
_CALL = Shape({"id": str, "type": str, "function": dict}, open=True)
_CALLED = Shape({"name": str, "arguments": str}, open=True)
_TOOL = Shape({"type": str, "function": dict}, open=True)
_FUNCTION = Shape({"name": str}, {"description": str, "parameters": dict, "strict": bool | None}, open=True)
_FORMAT = Shape({"type": str}, {"json_schema": dict}, open=True)
_SCHEMA = Shape({"name": str, "schema": dict}, {"strict": bool | None, "description": str})


def hold(name: str, body: JsonObject) -> None:
    """Holds a body to this wire.

    Raises:
        Fault: it breaks a rule.
    """
    del name
    _BODY(body)
    spoken("model", body["model"])
    _params(body)
    _tools(body)
    conversation = _Conversation()
    each("messages", body["messages"], conversation)
    conversation.end()


def _params(body: JsonObject) -> None:
    at_least(1, "max_tokens", body)
    at_least(1, "max_completion_tokens", body)
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise Fault("max_tokens", "must not stand beside max_completion_tokens")
    between(0, 2, "temperature", body)
    between(0, 1, "top_p", body)
    if body.get("stream_options") is not None and body.get("stream") is not True:
        raise Fault("stream_options", "must not be given where nothing is streamed")
    if "response_format" in body:
        within("response_format", body, _format)


def _format(value: object) -> None:
    told = _FORMAT(value)
    one_of(("text", "json_object", "json_schema"), "type", told)
    if told["type"] == "json_schema":
        schema = within("json_schema", told, _SCHEMA)
        named("json_schema.name", schema["name"], NAME)


def _tools(body: JsonObject) -> None:
    declared = Declared(NAME)

    def declare(tool: object) -> None:
        function = _function(tool)
        try:
            declared.add(function, "parameters", schema_required=False)
        except Fault as fault:
            raise fault.under("function") from None

    if "tools" in body:
        each("tools", body["tools"], declare)
    if "parallel_tool_calls" in body and "tools" not in body:
        raise Fault("parallel_tool_calls", "must not be given without tools")
    if "tool_choice" in body:
        chosen("tool_choice", body["tool_choice"], declared, ("function", "name"))


def chosen(key: str, choice: object, declared: Declared, place: tuple[str, ...]) -> None:
    """Holds a choice of tools to what is declared.

    Args:
        key: The field.
        choice: The choice.
        declared: The tools.
        place: Where in it a tool is named.

    Raises:
        Fault: there are no tools, not that one, or no such choice.
    """
    if not declared.names:
        raise Fault(key, "must not be given without tools")
    if isinstance(choice, str):
        one_of(("auto", "none", "required"), key, {key: choice})
        return
    if not isinstance(choice, dict) or choice.get("type") != "function":
        raise Fault(f"{key}.type", "must be 'function'")
    name: object = choice
    for step in place:
        name = name.get(step) if isinstance(name, dict) else None
    declared.choice(".".join((key, *place)), name)


def _function(tool: object) -> dict[str, object]:
    _TOOL(tool)
    assert isinstance(tool, dict)
    one_of(("function",), "type", tool)
    return within("function", tool, _FUNCTION)


class _Conversation:
    """Reads the messages in order."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        self._heard = False

    def __call__(self, message: object) -> None:
        role = picked(message, "role", _MESSAGES)
        assert isinstance(message, dict)
        if role == "tool":
            _result(message)
            self._pairing.result("tool_call_id", message["tool_call_id"])
            return
        self._pairing.settled()
        if role == "assistant":
            self._said(message)
        elif role != "function":
            self._heard = self._heard or role == "user"
            _content(message, _TOLD if role == "user" else _TEXTS)

    def end(self) -> None:
        try:
            self._pairing.settled()
        except Fault as fault:
            raise fault.under("messages") from None
        if not self._heard:
            raise Fault("messages", "must hold a user's message")

    def _said(self, message: JsonObject) -> None:
        # An empty list of calls is none, and refused.
        if "tool_calls" in message:
            each("tool_calls", message["tool_calls"], self._call)
            if message.get("content") is None:
                return
        elif message.get("content") is None and (message.get("refusal") or message.get("function_call")):
            return
        _content(message, _SAID)

    def _call(self, value: object) -> None:
        call = _CALL(value)
        one_of(("function",), "type", call)
        function = within("function", call, _CALLED)
        named("function.name", function["name"], NAME)
        arguments_text("function.arguments", function["arguments"])
        fitting_id("id", call["id"])
        self._pairing.call("id", str(call["id"]))


def fitting_id(key: str, call_id: object) -> None:
    """Holds a call's id to the wire.

    Raises:
        Fault: it is empty or too long.
    """
    if not isinstance(call_id, str) or not 0 < len(call_id) <= MAX_ID:
        raise Fault(key, f"must have from 1 to {MAX_ID} characters; here it is {call_id!r}")


def _result(message: JsonObject) -> None:
    # A result may be the empty text, but no list without parts.
    if not isinstance(message["content"], str):
        _content(message, _TEXTS)


def _content(message: JsonObject, parts: Mapping[str, Shape]) -> None:
    content = message.get("content")
    if isinstance(content, list):
        each("content", content, lambda part: _part(part, parts))
    else:
        spoken("content", content)


def _part(value: object, parts: Mapping[str, Shape]) -> None:
    kind = picked(value, "type", parts)
    assert isinstance(value, dict)
    match kind:
        case "text" | "refusal":
            spoken(kind, value[kind])
        case "image_url":
            link = within("image_url", value, _LINK)
            media.address("image_url.url", link["url"], ("image/*",), bare=True)
        case "video_url":
            link = within("video_url", value, _LINK)
            media.address("video_url.url", link["url"], ("video/*",), bare=True)
        case "input_audio":
            sound = within("input_audio", value, _SOUND)
            media.encoded("input_audio.data", sound["data"])
            if sound["format"] not in ("wav", "mp3"):
                raise Fault("input_audio.format", f"must be wav or mp3; here it is {sound['format']!r}")
        case "file":
            _file(within("file", value, _FILE))


def _file(file: Mapping[str, object]) -> None:
    if ("file_id" in file) == ("file_data" in file):
        raise Fault("file", "must have either file_id or file_data")
    if "file_data" in file:
        media.address("file.file_data", file["file_data"], ("*/*",))
        spoken("file.filename", file.get("filename"))
