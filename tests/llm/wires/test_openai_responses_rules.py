from __future__ import annotations

import pytest

from llm.wires.golden import golden
from llm.wires.spoiling import Spoiled, assert_refused, both, drop, insert, put, swap
from roles_runtime.llm.validate import validate_wire

USER = {"role": "user", "content": "Hm."}
PICTURE = {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"}

ILLEGAL = [
    Spoiled("a model is named", drop("model"), "model", "missing"),
    Spoiled("there is an input", drop("input"), "input", "missing"),
    Spoiled("the input is not empty", put("input", []), "input", "empty"),
    Spoiled("the input's text is not empty", put("input", ""), "input", "empty"),
    Spoiled("fields are known", put("messages", []), "messages", "no such field"),
    Spoiled("an item is an object", put("input[0]", 1), "input[0]", "object"),
    Spoiled("an item has a type", put("input[0]", {}), "input[0].type", "none"),
    Spoiled("an item's type is known", put("input[2].type", "tool_call"), "input[2].type", "'tool_call'"),
    Spoiled("an item's fields are known", put("input[6].is_error", True), "input[6].is_error", "no such field"),
    Spoiled("roles are known", put("input[9].role", "tool"), "input[9].role", "'tool'"),
    Spoiled("a user speaks", put("input", [{"role": "developer", "content": "x"}]), "input", "user's message"),
    Spoiled("a message says something", put("input[9].content", "\n"), "input[9].content", "blanks"),
    Spoiled("parts are not empty", put("input[1].content", []), "input[1].content", "empty"),
    Spoiled("a part says something", put("input[1].content[0].text", ""), "input[1].content[0].text", "empty"),
    Spoiled("the model's parts are output", put("input[8].content[0]", {"type": "input_text", "text": "x"}),
            "input[8].content[0].type", "'input_text'"),
    Spoiled("the user's parts are input", put("input[1].content[0].type", "output_text"), "input[1].content[0].type",
            "'output_text'"),
    Spoiled("a picture is no instruction", put("input[0].content", [PICTURE]), "input[0].content[0].type",
            "'input_image'"),
    Spoiled("a picture is not the model's", put("input[8].content", [PICTURE]), "input[8].content[0].type",
            "'input_image'"),
    Spoiled("a picture has a detail", drop("input[1].content[1].detail"), "input[1].content[1].detail", "missing"),
    Spoiled("a picture's detail is known", put("input[1].content[1].detail", "big"), "input[1].content[1].detail",
            "'big'"),
    Spoiled("a picture's type is seen", put("input[1].content[1].image_url", "data:image/bmp;base64,Qk0="),
            "input[1].content[1].image_url", "'image/bmp'"),
    Spoiled("a picture is there", drop("input[1].content[1].image_url"), "input[1].content[1].image_url", "null"),
    Spoiled("a sound is no input", put("input[1].content[0]", {"type": "input_audio"}), "input[1].content[0].type",
            "'input_audio'"),
    Spoiled("a file is there", drop("input[1].content[2].file_data"), "input[1].content[2]", "one of"),
    Spoiled("a file is one", put("input[1].content[2].file_id", "f"), "input[1].content[2]", "one of"),
    Spoiled("a file's address is one", put("input[1].content[3].file_url", "ftp://x"), "input[1].content[3].file_url",
            "http(s)"),
    Spoiled("a call is answered", drop("input[7]"), "input[7]", "'c2' is missing"),
    Spoiled("the last call is answered",
            put("input[9]", {"type": "function_call", "call_id": "c9", "name": "weather", "arguments": "{}"}),
            "input", "'c9'"),
    Spoiled("nobody speaks before the results", insert("input[6]", USER), "input[6]", "'c1' is missing"),
    Spoiled("nobody speaks among the results", insert("input[7]", USER), "input[7]", "'c2' is missing"),
    Spoiled("the model does not go on among the results",
            insert("input[7]", {"role": "assistant", "content": "So."}), "input[7]", "'c2' is missing"),
    Spoiled("no call stands among the results",
            insert("input[7]", {"type": "function_call", "call_id": "c9", "name": "weather", "arguments": "{}"}),
            "input[7]", "'c2' is missing"),
    Spoiled("results keep the order", swap("input[6]", "input[7]"), "input[6].call_id", "next in order"),
    Spoiled("a result is no orphan", put("input[9]", {"type": "function_call_output", "call_id": "c9", "output": "x"}),
            "input[9].call_id", "no call"),
    Spoiled("ids are unique", put("input[5].call_id", "c1"), "input[5].call_id", "another call"),
    Spoiled("ids are short", put("input[4].call_id", "c" * 65), "input[4].call_id", "64"),
    Spoiled("a called name is one", put("input[4].name", ""), "input[4].name", "match"),
    Spoiled("arguments are the text of an object", put("input[4].arguments", "[1]"), "input[4].arguments", "JSON text"),
    Spoiled("arguments are text", put("input[4].arguments", {}), "input[4].arguments", "a string"),
    Spoiled("a result is told", drop("input[6].output"), "input[6].output", "missing"),
    Spoiled("a result's parts are input", put("input[7].output", [{"type": "text", "text": "x"}]),
            "input[7].output[0].type", "'text'"),
    Spoiled("a call's own id is the provider's", put("input[5].id", "call_2"), "input[5].id", "'fc'"),
    Spoiled("a thought's own id is the provider's", put("input[2].id", "x"), "input[2].id", "'rs'"),
    Spoiled("own ids are unique", insert("input[3]", {"type": "reasoning", "id": "rs_1", "summary": [],
            "encrypted_content": "g"}), "input[3].id", "another item"),
    Spoiled("a thought is encrypted where nothing is stored", put("input[2].encrypted_content", None),
            "input[2].encrypted_content", "store nothing"),
    Spoiled("a thought has a summary", drop("input[2].summary"), "input[2].summary", "missing"),
    Spoiled("a thought is followed by the model", both(drop("input[8]"), insert("input[8]", {"type": "reasoning",
            "id": "rs_2", "summary": [], "encrypted_content": "g"})), "input[9]", "after it is missing"),
    Spoiled("a thought is followed by something", put("input[9]", {"type": "reasoning", "id": "rs_2", "summary": [],
            "encrypted_content": "g"}), "input", "nothing follows"),
    Spoiled("a tool's name is one", put("tools[0].name", "a.b"), "tools[0].name", "'a.b'"),
    Spoiled("a tool is flat", put("tools[0].function", {}), "tools[0].function", "no such field"),
    Spoiled("a tool says whether it is strict", drop("tools[0].strict"), "tools[0].strict", "missing"),
    Spoiled("tools have names of their own", put("tools", [golden("openai-responses")["tools"][0]] * 2),
            "tools[1].name", "another tool"),
    Spoiled("a schema is of an object", put("tools[0].parameters", {}), "tools[0].parameters.type", "'object'"),
    Spoiled("a choice needs tools", drop("tools"), "tool_choice", "without tools"),
    Spoiled("a chosen tool is declared", put("tool_choice.name", "x"), "tool_choice.name", "'x'"),
    Spoiled("a choice is known", put("tool_choice", "any"), "tool_choice", "'any'"),
    Spoiled("a bound is not too low", put("max_output_tokens", 15), "max_output_tokens", "from 16"),
    Spoiled("temperature has bounds", put("temperature", 3), "temperature", "3"),
    Spoiled("a format is known", put("text.format.type", "xml"), "text.format.type", "'xml'"),
    Spoiled("a format has a name", drop("text.format.name"), "text.format.name", "match"),
    Spoiled("a format has a schema", drop("text.format.schema"), "text.format.schema", "missing"),
]  # fmt: skip


@pytest.mark.parametrize("spoiled", ILLEGAL, ids=lambda each: each.rule)
def test_refuses(spoiled: Spoiled) -> None:
    assert_refused("openai-responses", spoiled)


@pytest.mark.parametrize(
    "change",
    [
        put("input", "Hello"),
        both(put("store", True), put("input[2].encrypted_content", None)),
        insert("input[5]", {"role": "assistant", "content": "And again."}),
        put("input[7].output", ""),
    ],
    ids=["text alone", "thoughts that are stored", "words among calls", "an empty result"],
)
def test_takes_what_the_provider_takes(change: object) -> None:
    body = golden("openai-responses")
    assert callable(change)
    change(body)
    validate_wire("p:m", "openai-responses", body)
