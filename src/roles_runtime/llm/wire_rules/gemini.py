"""Gemini's generateContent wire, of v1beta."""

from __future__ import annotations

import re
from collections.abc import Mapping

from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.wire_rules import media
from roles_runtime.llm.wire_rules.fault import Fault, each, within
from roles_runtime.llm.wire_rules.pairing import Pairing
from roles_runtime.llm.wire_rules.shape import Shape, at_least, between, one_of, spoken
from roles_runtime.llm.wire_rules.tools import Declared, free_json, named

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_SIGNING = re.compile(r"gemini-([3-9]|\d\d)")
"""Models that refuse a call of theirs without its signature."""

_BODY = Shape(
    {"contents": list},
    {
        "model": str,
        "systemInstruction": dict,
        "tools": list,
        "toolConfig": dict,
        "generationConfig": dict,
        "safetySettings": list,
        "cachedContent": str,
        "labels": dict,
    },
)
_CONFIG = Shape(
    {},
    {
        "maxOutputTokens": int,
        "temperature": float | int,
        "topP": float | int,
        "topK": float | int,
        "candidateCount": int,
        "seed": int,
        "stopSequences": list,
        "presencePenalty": float | int,
        "frequencyPenalty": float | int,
        "responseMimeType": str,
        "responseSchema": dict,
        "responseJsonSchema": dict,
        "responseModalities": list,
        "responseLogprobs": bool,
        "logprobs": int,
        "mediaResolution": str,
        "speechConfig": dict,
        "thinkingConfig": dict,
    },
)
_THINKING = Shape({}, {"includeThoughts": bool, "thinkingBudget": int, "thinkingLevel": str})
_CONTENT = Shape({"parts": list, "role": str})
_INSTRUCTION = Shape({"parts": list}, {"role": str})

_HELD = ("text", "inlineData", "fileData", "functionCall", "functionResponse")
_PART = Shape(
    {},
    {
        "text": str,
        "inlineData": dict,
        "fileData": dict,
        "functionCall": dict,
        "functionResponse": dict,
        "thought": bool,
        "thoughtSignature": str,
        "videoMetadata": dict,
        "mediaResolution": dict,
    },
)
_BLOB = Shape({"mimeType": str, "data": str}, {"displayName": str})
_FILE = Shape({"fileUri": str}, {"mimeType": str, "displayName": str})
_CALL = Shape({"name": str}, {"id": str, "args": dict})
_RESULT = Shape({"name": str, "response": dict}, {"id": str, "parts": list})
_RESULT_PART = Shape({}, {"inlineData": dict, "fileData": dict})
_TOOL = Shape({"functionDeclarations": list})
_DECLARATION = Shape(
    {"name": str},
    {"description": str, "parameters": dict, "parametersJsonSchema": dict, "response": dict, "behavior": str},
)
_TOOL_CONFIG = Shape({}, {"functionCallingConfig": dict})
_CALLING = Shape({}, {"mode": str, "allowedFunctionNames": list})


def hold(name: str, body: JsonObject) -> None:
    """Holds a body to this wire.

    Raises:
        Fault: it breaks a rule.
    """
    _BODY(body)
    if "systemInstruction" in body:
        within("systemInstruction", body, _instruction)
    if "generationConfig" in body:
        within("generationConfig", body, _config)
    _tools(body)
    contents = _Contents()
    each("contents", body["contents"], contents)
    contents.end()
    if _SIGNING.search(name):
        _signed(body["contents"])


def _instruction(value: object) -> None:
    each("parts", _INSTRUCTION(value)["parts"], lambda part: spoken("text", Shape({"text": str})(part)["text"]))


def _config(value: object) -> None:
    config = _CONFIG(value)
    at_least(1, "maxOutputTokens", config)
    between(0, 2, "temperature", config)
    between(0, 1, "topP", config)
    if "responseSchema" in config and "responseJsonSchema" in config:
        raise Fault("responseSchema", "must not stand beside responseJsonSchema")
    for key in ("responseSchema", "responseJsonSchema"):
        if key in config and config.get("responseMimeType") != "application/json":
            raise Fault("responseMimeType", f"must be application/json beside {key}")
    if "thinkingConfig" in config:
        thinking = within("thinkingConfig", config, _THINKING)
        if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
            raise Fault("thinkingConfig", "must have a budget or a level, not both")


def _tools(body: JsonObject) -> None:
    declared = Declared(_NAME)

    def declare(value: object) -> None:
        declaration = _DECLARATION(value)
        if "parameters" in declaration and "parametersJsonSchema" in declaration:
            raise Fault("parameters", "must not stand beside parametersJsonSchema")
        declared.add(declaration, "parametersJsonSchema", schema_required=False)

    if "tools" in body:
        each("tools", body["tools"], lambda tool: each(*_declarations(tool), declare))
    if "toolConfig" in body:
        within("toolConfig", body, lambda value: _tool_config(value, declared))


def _tool_config(value: object, declared: Declared) -> None:
    config = _TOOL_CONFIG(value)
    if "functionCallingConfig" in config:
        within("functionCallingConfig", config, lambda calling: _calling(_CALLING(calling), declared))


def _declarations(tool: object) -> tuple[str, object]:
    return "functionDeclarations", _TOOL(tool)["functionDeclarations"]


def _calling(calling: Mapping[str, object], declared: Declared) -> None:
    if not declared.names:
        raise Fault("", "must not be given without tools")
    one_of(("AUTO", "ANY", "NONE", "VALIDATED"), "mode", calling)
    if "allowedFunctionNames" in calling:
        if calling.get("mode") not in ("ANY", "VALIDATED"):
            raise Fault("allowedFunctionNames", "must not be given where no call is forced")
        each("allowedFunctionNames", calling["allowedFunctionNames"], lambda name: declared.choice("", name))


class _Contents:
    """Reads the contents in order."""

    def __init__(self) -> None:
        self._pairing = Pairing(unique=False)
        self._ids: set[str] = set()
        self._last = ""
        self._results = False

    def __call__(self, value: object) -> None:
        content = _CONTENT(value)
        role = content["role"]
        one_of(("user", "model"), "role", content)
        if not self._last and role != "user":
            raise Fault("role", "must be 'user' at the beginning; here it is 'model'")
        # What the user says beside results may be a content of its own.
        if role == self._last and not self._results:
            raise Fault("role", f"must not be {role!r} twice in a row")
        self._last = str(role)
        self._results = False
        if role == "model":
            each("parts", content["parts"], self._said)
        else:
            each("parts", content["parts"], self._told)
            self._pairing.settled()

    def end(self) -> None:
        if self._last == "model":
            raise Fault("contents", "must end with what the user says, or with results")

    def _said(self, value: object) -> None:
        part, kind = _part(value)
        if kind == "text":
            # An empty text carries the signature of what stands before it.
            if not part["text"] and "thoughtSignature" not in part:
                raise Fault("text", "must not be empty")
        elif kind != "functionCall":
            raise Fault(kind, "must not stand in what the model says")
        else:
            call = within("functionCall", part, _CALL)
            named("functionCall.name", call["name"], _NAME)
            free_json("functionCall.args", call.get("args", {}))
            if "id" in call:
                self._own(str(call["id"]))
            self._pairing.call("functionCall", _known(call))
        if "thoughtSignature" in part:
            spoken("thoughtSignature", part["thoughtSignature"])

    def _told(self, value: object) -> None:
        part, kind = _part(value)
        for key in ("thought", "thoughtSignature"):
            if key in part:
                raise Fault(key, "must not stand in what the user says")
        if kind == "functionCall":
            raise Fault(kind, "must not stand in what the user says")
        if kind == "functionResponse":
            result = within("functionResponse", part, _result)
            self._pairing.result("functionResponse", _known(result))
            self._results = True
            return
        self._pairing.settled()
        if kind == "text":
            spoken("text", part["text"])
            return
        if self._results:
            raise Fault(kind, "must not stand beside results; it belongs into their parts or a content of its own")
        _media(part)

    def _own(self, call_id: str) -> None:
        spoken("functionCall.id", call_id)
        if call_id in self._ids:
            raise Fault("functionCall.id", f"{call_id!r} is the id of another call already")
        self._ids.add(call_id)


def _known(call: Mapping[str, object]) -> str:
    """What a result must have of its call: the name, and the id if there is one."""
    return f"{call['name']} {call['id']}" if "id" in call else str(call["name"])


def _part(value: object) -> tuple[dict[str, object], str]:
    part = _PART(value)
    kind = ""
    for key in part:
        if key in _HELD:
            if kind:
                raise Fault("", f"must hold one thing alone, not {kind} and {key}")
            kind = key
    if not kind:
        raise Fault("", f"must hold one of {', '.join(_HELD)}")
    return part, kind


def _result(value: object) -> dict[str, object]:
    result = _RESULT(value)
    named("name", result["name"], _NAME)
    free_json("response", result["response"])
    if "parts" in result:
        each("parts", result["parts"], lambda part: _media(_RESULT_PART(part)))
    return result


def _media(part: Mapping[str, object]) -> None:
    if "inlineData" in part:
        blob = within("inlineData", part, _BLOB)
        media.of_type("inlineData.mimeType", blob["mimeType"], ("*/*",))
        media.encoded("inlineData.data", blob["data"])
    elif "fileData" in part:
        spoken("fileData.fileUri", within("fileData", part, _FILE)["fileUri"])
    else:
        raise Fault("", "must hold inlineData or fileData")


def _signed(contents: object) -> None:
    """Of each step of the turn that goes on, the first call is signed."""
    assert isinstance(contents, list)
    for index in range(len(contents) - 1, -1, -1):
        content = contents[index]
        if content["role"] == "user":
            if any("functionResponse" not in part for part in content["parts"]):
                return
            continue
        for place, part in enumerate(content["parts"]):
            if "functionCall" in part:
                if "thoughtSignature" not in part:
                    raise Fault(
                        f"contents[{index}].parts[{place}].thoughtSignature",
                        "is missing; this model refuses the first call of a step without it",
                    )
                break
