from __future__ import annotations

import pytest

from llm.wires.golden import PNG, golden
from llm.wires.spoiling import Spoiled, assert_refused, both, drop, insert, put, swap
from roles_runtime.llm.validate import validate_wire

NAME = "gemini:gemini-3-pro"
BLOB = {"inlineData": {"mimeType": "image/png", "data": PNG}}
USER = {"role": "user", "parts": [{"text": "Hm."}]}
GOES_ON = both(drop("contents[5]"), drop("contents[4]"), drop("contents[3]"))

ILLEGAL = [
    Spoiled("there are contents", drop("contents"), "contents", "missing"),
    Spoiled("contents are not empty", put("contents", []), "contents", "empty"),
    Spoiled("fields are known", put("system_instruction", {}), "system_instruction", "no such field"),
    Spoiled("instructions are text", put("systemInstruction.parts[0]", BLOB), "systemInstruction.parts[0].inlineData",
            "no such field"),
    Spoiled("instructions say something", put("systemInstruction.parts[0].text", ""),
            "systemInstruction.parts[0].text", "empty"),
    Spoiled("instructions have parts", put("systemInstruction.parts", []), "systemInstruction.parts", "empty"),
    Spoiled("roles are known", put("contents[1].role", "assistant"), "contents[1].role", "'assistant'"),
    Spoiled("a role is there", drop("contents[0].role"), "contents[0].role", "missing"),
    Spoiled("a user begins", drop("contents[0]"), "contents[0].role", "'model'"),
    Spoiled("a user ends", drop("contents[5]"), "contents", "end"),
    Spoiled("users take turns", insert("contents[5]", USER), "contents[6].role", "twice"),
    Spoiled("the model takes turns", insert("contents[5]", {"role": "model", "parts": [{"text": "x"}]}),
            "contents[5].role", "twice"),
    Spoiled("parts are not empty", put("contents[5].parts", []), "contents[5].parts", "empty"),
    Spoiled("a part holds something", put("contents[5].parts[0]", {}), "contents[5].parts[0]", "one of"),
    Spoiled("a part holds one thing", put("contents[0].parts[0].inlineData", BLOB["inlineData"]),
            "contents[0].parts[0]", "one thing alone"),
    Spoiled("a user's text is not empty", put("contents[5].parts[0].text", ""), "contents[5].parts[0].text", "empty"),
    Spoiled("the model's text is not empty", put("contents[4].parts[0].text", ""), "contents[4].parts[0].text",
            "empty"),
    Spoiled("a picture is not the model's", put("contents[4].parts[0]", BLOB), "contents[4].parts[0].inlineData",
            "model"),
    Spoiled("a thought is not the user's", put("contents[5].parts[0].thought", True), "contents[5].parts[0].thought",
            "user"),
    Spoiled("a signature is not empty", put("contents[1].parts[1].thoughtSignature", ""),
            "contents[1].parts[1].thoughtSignature", "empty"),
    Spoiled("bytes are bare base64", put("contents[0].parts[1].inlineData.data", "data:image/png;base64," + PNG),
            "contents[0].parts[1].inlineData.data", "data:"),
    Spoiled("bytes are there", put("contents[0].parts[1].inlineData.data", ""),
            "contents[0].parts[1].inlineData.data", "empty"),
    Spoiled("bytes have a type", drop("contents[0].parts[1].inlineData.mimeType"),
            "contents[0].parts[1].inlineData.mimeType", "missing"),
    Spoiled("a type is one", put("contents[0].parts[1].inlineData.mimeType", "png"),
            "contents[0].parts[1].inlineData.mimeType", "'png'"),
    Spoiled("a file has an address", put("contents[0].parts[2].fileData.fileUri", ""),
            "contents[0].parts[2].fileData.fileUri", "empty"),
    Spoiled("a call is answered", drop("contents[2].parts[1]"), "contents[2]", "'now' is missing"),
    Spoiled("a call is answered at all", drop("contents[2]"), "contents[2].parts[0]", "'weather c1' is missing"),
    Spoiled("the last call is answered",
            both(GOES_ON, drop("contents[2]")), "contents", "end"),
    Spoiled("results stand in one content", both(drop("contents[2].parts[1]"), insert("contents[3]", {"role": "user",
            "parts": [{"functionResponse": {"name": "now", "response": {}}}]})), "contents[2]", "'now' is missing"),
    Spoiled("results stand first", insert("contents[2].parts[0]", {"text": "x"}), "contents[2].parts[0]", "'weather"),
    Spoiled("results keep the order", swap("contents[2].parts[0]", "contents[2].parts[1]"),
            "contents[2].parts[0].functionResponse", "next in order"),
    Spoiled("a result has its call's name", put("contents[2].parts[0].functionResponse.name", "now"),
            "contents[2].parts[0].functionResponse", "'now c1'"),
    Spoiled("a result has its call's id", drop("contents[2].parts[0].functionResponse.id"),
            "contents[2].parts[0].functionResponse", "'weather'"),
    Spoiled("a result is no orphan", drop("contents[1].parts[3]"), "contents[2].parts[1].functionResponse", "no call"),
    Spoiled("pictures stand inside a result", put("contents[2].parts", [*golden("gemini")["contents"][2]["parts"],
            BLOB]), "contents[2].parts[2].inlineData", "beside results"),
    Spoiled("a result is an object", put("contents[2].parts[0].functionResponse.response", "rain"),
            "contents[2].parts[0].functionResponse.response", "an object"),
    Spoiled("ids are unique", put("contents[1].parts[3].functionCall.id", "c1"), "contents[1].parts[3].functionCall.id",
            "another call"),
    Spoiled("a called name is one", put("contents[1].parts[2].functionCall.name", "9 lives"),
            "contents[1].parts[2].functionCall.name", "'9 lives'"),
    Spoiled("arguments are an object", put("contents[1].parts[2].functionCall.args", "{}"),
            "contents[1].parts[2].functionCall.args", "an object, not a string"),
    Spoiled("the first call of a step is signed", both(GOES_ON, drop("contents[1].parts[2].thoughtSignature")),
            "contents[1].parts[2].thoughtSignature", "without it"),
    Spoiled("a tool's name is one", put("tools[0].functionDeclarations[0].name", "9"),
            "tools[0].functionDeclarations[0].name", "'9'"),
    Spoiled("tools have names of their own", put("tools[0].functionDeclarations[1].name", "weather"),
            "tools[0].functionDeclarations[1].name", "another tool"),
    Spoiled("a schema is of an object", put("tools[0].functionDeclarations[0].parametersJsonSchema.type", "OBJECT"),
            "tools[0].functionDeclarations[0].parametersJsonSchema.type", "'OBJECT'"),
    Spoiled("a tool has one schema", put("tools[0].functionDeclarations[0].parameters", {}),
            "tools[0].functionDeclarations[0].parameters", "beside"),
    Spoiled("a choice needs tools", drop("tools"), "toolConfig.functionCallingConfig", "without tools"),
    Spoiled("a mode is known", put("toolConfig.functionCallingConfig.mode", "any"),
            "toolConfig.functionCallingConfig.mode", "'any'"),
    Spoiled("allowed tools are declared", put("toolConfig.functionCallingConfig.allowedFunctionNames[0]", "x"),
            "toolConfig.functionCallingConfig.allowedFunctionNames[0]", "'x'"),
    Spoiled("allowed tools are for a forced call", put("toolConfig.functionCallingConfig.mode", "AUTO"),
            "toolConfig.functionCallingConfig.allowedFunctionNames", "forced"),
    Spoiled("a bound is positive", put("generationConfig.maxOutputTokens", 0), "generationConfig.maxOutputTokens",
            "from 1"),
    Spoiled("temperature has bounds", put("generationConfig.temperature", 2.1), "generationConfig.temperature", "2.1"),
    Spoiled("settings are known", put("generationConfig.max_tokens", 1), "generationConfig.max_tokens",
            "no such field"),
    Spoiled("a schema is for JSON", drop("generationConfig.responseMimeType"), "generationConfig.responseMimeType",
            "application/json"),
    Spoiled("there is one schema", put("generationConfig.responseSchema", {}), "generationConfig.responseSchema",
            "beside"),
    Spoiled("thinking has a budget or a level", put("generationConfig.thinkingConfig.thinkingLevel", "LOW"),
            "generationConfig.thinkingConfig", "not both"),
]  # fmt: skip


@pytest.mark.parametrize("spoiled", ILLEGAL, ids=lambda each: each.rule)
def test_refuses(spoiled: Spoiled) -> None:
    assert_refused("gemini", spoiled, NAME)


@pytest.mark.parametrize(
    "change",
    [
        GOES_ON,
        drop("contents[1].parts[2].thoughtSignature"),
        drop("contents[3]"),
        both(drop("contents[3]"), put("contents[2].parts", [*golden("gemini")["contents"][2]["parts"], {"text": "x"}])),
    ],
    ids=["a turn that goes on", "an earlier turn without a signature", "results alone", "words beside results"],
)
def test_takes_what_the_provider_takes(change: object) -> None:
    body = golden("gemini")
    assert callable(change)
    change(body)
    validate_wire(NAME, "gemini", body)


def test_an_older_model_wants_no_signatures() -> None:
    body = golden("gemini")
    both(GOES_ON, drop("contents[1].parts[2].thoughtSignature"))(body)
    validate_wire("gemini:gemini-2.5-flash", "gemini", body)
