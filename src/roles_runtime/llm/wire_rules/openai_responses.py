"""OpenAI's Responses wire: items, each of a type; every list is of what one type may hold."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.wire_rules import media
from roles_runtime.llm.wire_rules.fault import Fault, each, json_name, within
from roles_runtime.llm.wire_rules.openai_chat import NAME, chosen, fitting_id
from roles_runtime.llm.wire_rules.pairing import Pairing
from roles_runtime.llm.wire_rules.shape import Shape, at_least, between, one_of, picked, spoken
from roles_runtime.llm.wire_rules.tools import Declared, arguments_text, named

LEAST_OUTPUT = 16
"""A smaller bound of the answer is refused."""

_BODY = Shape(
    {"model": str, "input": str | list},
    {
        "instructions": str | None,
        "stream": bool | None,
        "stream_options": dict | None,
        "store": bool | None,
        "include": list | None,
        "max_output_tokens": int | None,
        "max_tool_calls": int | None,
        "temperature": float | int | None,
        "top_p": float | int | None,
        "top_logprobs": int | None,
        "tools": list,
        "tool_choice": str | dict,
        "parallel_tool_calls": bool | None,
        "text": dict,
        "reasoning": dict | None,
        "background": bool | None,
        "conversation": str | dict | None,
        "metadata": dict | None,
        "previous_response_id": str | None,
        "prompt": dict | None,
        "prompt_cache_key": str | None,
        "prompt_cache_retention": str | None,
        "safety_identifier": str | None,
        "service_tier": str | None,
        "truncation": str | None,
        "user": str,
    },
)

_MESSAGE = Shape({"role": str, "content": str | list}, {"type": str, "status": str, "id": str, "phase": str | None})
_WHOLE = Shape({"type": str, "role": str, "content": list, "id": str, "status": str}, {"phase": str | None})
_CALL = Shape(
    {"type": str, "call_id": str, "name": str, "arguments": str}, {"id": str, "status": str, "namespace": str}
)
_RESULT = Shape(
    {"type": str, "call_id": str, "output": str | list}, {"id": str | None, "status": str | None, "name": str | None}
)
_THOUGHT = Shape(
    {"type": str, "id": str, "summary": list},
    {"content": list | None, "encrypted_content": str | None, "status": str | None},
)
_ITEMS: Mapping[str, Shape] = MappingProxyType(
    {"message": _MESSAGE, "function_call": _CALL, "function_call_output": _RESULT, "reasoning": _THOUGHT}
)

_TEXT = Shape({"type": str, "text": str}, {"prompt_cache_breakpoint": dict})
_PICTURE = Shape(
    {"type": str, "detail": str}, {"image_url": str | None, "file_id": str | None, "prompt_cache_breakpoint": dict}
)
_FILE = Shape(
    {"type": str},
    {
        "detail": str,
        "file_data": str,
        "file_id": str | None,
        "file_url": str,
        "filename": str,
        "prompt_cache_breakpoint": dict,
    },
)
_TEXTS: Mapping[str, Shape] = MappingProxyType({"input_text": _TEXT})
_TOLD: Mapping[str, Shape] = MappingProxyType({"input_text": _TEXT, "input_image": _PICTURE, "input_file": _FILE})
_SAID: Mapping[str, Shape] = MappingProxyType(
    {
        "output_text": Shape({"type": str, "text": str, "annotations": list}, {"logprobs": list}),
        "refusal": Shape({"type": str, "refusal": str}),
    }
)
_TOOL = Shape({"type": str, "name": str, "parameters": dict | None, "strict": bool | None}, {"description": str | None})
_FORMAT = Shape({"type": str}, {"name": str, "schema": dict, "strict": bool | None, "description": str})
_SETTINGS = Shape({}, {"format": dict, "verbosity": str | None})


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
    if isinstance(body["input"], str):
        spoken("input", body["input"])
        return
    items = _Items(stored=body.get("store") is not False)
    each("input", body["input"], items)
    items.end()


def _params(body: JsonObject) -> None:
    at_least(LEAST_OUTPUT, "max_output_tokens", body)
    between(0, 2, "temperature", body)
    between(0, 1, "top_p", body)
    if body.get("stream_options") is not None and body.get("stream") is not True:
        raise Fault("stream_options", "must not be given where nothing is streamed")
    if "text" in body:
        within("text", body, _settings)


def _settings(value: object) -> None:
    settings = _SETTINGS(value)
    if "format" in settings:
        within("format", settings, _format)


def _format(value: object) -> None:
    told = _FORMAT(value)
    one_of(("text", "json_object", "json_schema"), "type", told)
    if told["type"] == "json_schema":
        named("name", told.get("name"), NAME)
        if "schema" not in told:
            raise Fault("schema", "is missing")


def _tools(body: JsonObject) -> None:
    declared = Declared(NAME)

    def declare(value: object) -> None:
        tool = _TOOL(value)
        one_of(("function",), "type", tool)
        declared.add(tool, "parameters")

    if "tools" in body:
        each("tools", body["tools"], declare)
    if "tool_choice" in body:
        chosen("tool_choice", body["tool_choice"], declared, ("name",))


class _Items:
    """Reads the items in order.

    Args:
        stored: Whether the provider keeps what it said, so that a thought may be named by its id alone.
    """

    def __init__(self, *, stored: bool) -> None:
        self._stored = stored
        self._pairing = Pairing()
        self._ids: set[str] = set()
        self._thought = False
        self._heard = False

    def __call__(self, item: object) -> None:
        if not isinstance(item, dict):
            raise Fault("", f"must be an object, not {json_name(item)}")
        if "type" not in item and "role" in item:
            kind = "message"
            _MESSAGE(item)
        else:
            kind = picked(item, "type", _ITEMS)
        self._follows(kind, item)
        if item.get("id") is not None:
            self._own_id(kind, str(item["id"]))
        match kind:
            case "message":
                self._message(item)
            case "function_call":
                _call(item)
                self._pairing.call("call_id", str(item["call_id"]))
            case "function_call_output":
                if isinstance(item["output"], list):
                    each("output", item["output"], lambda part: _part(part, _TOLD))
                self._pairing.result("call_id", str(item["call_id"]))
            case _:
                self._think(item)

    def end(self) -> None:
        try:
            self._pairing.settled()
            if self._thought:
                raise Fault("", "must not end with a thought that nothing follows")
        except Fault as fault:
            raise fault.under("input") from None
        if not self._heard:
            raise Fault("input", "must hold a user's message")

    def _follows(self, kind: str, item: JsonObject) -> None:
        """A thought is followed by what was thought; the model's own words may stand among its calls."""
        models_own = kind in ("function_call", "reasoning") or item.get("role") == "assistant"
        if self._thought and not models_own:
            raise Fault("", "must not follow a thought: what the model did after it is missing")
        if not models_own and kind != "function_call_output":
            self._pairing.settled()
        elif models_own and kind != "function_call":
            self._pairing.unbegun()
        self._thought = kind == "reasoning"

    def _own_id(self, kind: str, item_id: str) -> None:
        prefix = {"message": "msg", "function_call": "fc", "function_call_output": "fc", "reasoning": "rs"}[kind]
        if not item_id.startswith(prefix):
            raise Fault("id", f"must begin with {prefix!r}; here it is {item_id!r}")
        if item_id in self._ids:
            raise Fault("id", f"{item_id!r} is the id of another item already")
        self._ids.add(item_id)

    def _message(self, item: JsonObject) -> None:
        role, content = item["role"], item["content"]
        one_of(("user", "assistant", "system", "developer"), "role", item)
        self._heard = self._heard or role == "user"
        if isinstance(content, str):
            spoken("content", content)
        else:
            if role == "assistant":
                # In parts, what the model said is an item of its own making, and taken only whole.
                _WHOLE(item)
            parts = _TOLD if role == "user" else _SAID if role == "assistant" else _TEXTS
            each("content", content, lambda part: _part(part, parts))

    def _think(self, item: JsonObject) -> None:
        if not self._stored and not item.get("encrypted_content"):
            raise Fault("encrypted_content", "must be there, since the provider was told to store nothing")


def _call(item: JsonObject) -> None:
    fitting_id("call_id", item["call_id"])
    named("name", item["name"], NAME)
    arguments_text("arguments", item["arguments"])


def _part(value: object, parts: Mapping[str, Shape]) -> None:
    kind = picked(value, "type", parts)
    assert isinstance(value, dict)
    match kind:
        case "input_text" | "output_text":
            spoken("text", value["text"])
        case "refusal":
            spoken("refusal", value["refusal"])
        case "input_image":
            one_of(("auto", "low", "high", "original"), "detail", value)
            if value.get("file_id") is None:
                media.address("image_url", value.get("image_url"), media.SEEN)
        case _:
            _file(value)


def _file(part: JsonObject) -> None:
    given = [key for key in ("file_data", "file_url", "file_id") if part.get(key) is not None]
    if len(given) != 1:
        raise Fault("", "must have one of file_data, file_url and file_id")
    if given == ["file_url"]:
        media.web("file_url", part["file_url"])
    elif given == ["file_data"]:
        media.address("file_data", part["file_data"], ("*/*",))
        spoken("filename", part.get("filename"))
