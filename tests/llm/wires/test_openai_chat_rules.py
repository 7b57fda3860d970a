from __future__ import annotations

import pytest

from llm.wires.golden import golden
from llm.wires.spoiling import Spoiled, assert_refused, both, drop, insert, put, swap
from roles_runtime.llm.validate import validate_wire

CALL = {"id": "c9", "type": "function", "function": {"name": "now", "arguments": "{}"}}
USER = {"role": "user", "content": "Hm."}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}

ILLEGAL = [
    Spoiled("a model is named", drop("model"), "model", "is missing"),
    Spoiled("its name is not empty", put("model", ""), "model", "empty"),
    Spoiled("there are messages", put("messages", []), "messages", "empty"),
    Spoiled("messages are a list", put("messages", {}), "messages", "a list, not an object"),
    Spoiled("a message is an object", put("messages[1]", "Hi"), "messages[1]", "an object, not a string"),
    Spoiled("a user speaks", put("messages", [{"role": "system", "content": "x"}]), "messages", "user's message"),
    Spoiled("roles are known", put("messages[1].role", "console"), "messages[1].role", "'console'"),
    Spoiled("a role is there", drop("messages[1].role"), "messages[1].role", "none"),
    Spoiled("the model's role is assistant", put("messages[8].role", "model"), "messages[8].role", "'model'"),
    Spoiled("instructions say something", put("messages[0].content", " "), "messages[0].content", "blanks"),
    Spoiled("a user says something", put("messages[9].content", ""), "messages[9].content", "empty"),
    Spoiled("parts are not empty", put("messages[1].content", []), "messages[1].content", "empty"),
    Spoiled("a part says something", put("messages[1].content[0].text", ""), "messages[1].content[0].text", "empty"),
    Spoiled("content beside calls is null, not empty", put("messages[2].content", ""), "messages[2].content", "empty"),
    Spoiled("content without calls is there", put("messages[8].content", None), "messages[8].content", "null"),
    Spoiled("calls are not empty", put("messages[2].tool_calls", []), "messages[2].tool_calls", "empty"),
    Spoiled(
        "an image is not the model's",
        put("messages[8].content", [IMAGE]),
        "messages[8].content[0].type",
        "'image_url'",
    ),
    Spoiled("an image is no instruction", put("messages[0].content", [IMAGE]), "messages[0].content[0].type", "text"),
    Spoiled("an image is no result", put("messages[3].content", [IMAGE]), "messages[3].content[0].type", "text"),
    Spoiled("a part's type is known", put("messages[1].content[0].type", "input_text"), "messages[1].content[0].type",
            "'input_text'"),
    Spoiled("an image is one", put("messages[1].content[1].image_url.url", "data:text/plain;base64,eA=="),
            "messages[1].content[1].image_url.url", "image/*"),
    Spoiled("an image has an address", put("messages[1].content[1].image_url.url", "file:///etc/passwd"),
            "messages[1].content[1].image_url.url", "http(s)"),
    Spoiled("an image's bytes are base64", put("messages[1].content[1].image_url.url", "data:image/png;base64,a"),
            "messages[1].content[1].image_url.url", "no base64"),
    Spoiled("an image has bytes", put("messages[1].content[1].image_url.url", "data:image/png;base64,"),
            "messages[1].content[1].image_url.url", "empty"),
    Spoiled("a sound is wav or mp3", put("messages[1].content[3].input_audio.format", "flac"),
            "messages[1].content[3].input_audio.format", "'flac'"),
    Spoiled("a sound is no URL", put("messages[1].content[3].input_audio.data", "data:audio/wav;base64,UklGRg=="),
            "messages[1].content[3].input_audio.data", "data:"),
    Spoiled("a sound has bytes", put("messages[1].content[3].input_audio.data", ""),
            "messages[1].content[3].input_audio.data", "empty"),
    Spoiled("a file has a name", drop("messages[1].content[4].file.filename"), "messages[1].content[4].file.filename",
            "string"),
    Spoiled("a file is there", drop("messages[1].content[4].file.file_data"), "messages[1].content[4].file", "either"),
    Spoiled("a call is answered", drop("messages[4]"), "messages[4]", "result of 'c2' is missing"),
    Spoiled("a call is answered at all", both(drop("messages[4]"), drop("messages[3]")), "messages[3]", "'c1'"),
    Spoiled("the last call is answered", put("messages[9]", {"role": "assistant", "tool_calls": [CALL]}), "messages",
            "'c9'"),
    Spoiled("nothing stands before the results", insert("messages[3]", USER), "messages[3]", "'c1' is missing"),
    Spoiled("nothing stands among the results", insert("messages[4]", USER), "messages[4]", "'c2' is missing"),
    Spoiled("results keep the order", swap("messages[3]", "messages[4]"), "messages[3].tool_call_id", "next in order"),
    Spoiled("a result has a call", put("messages[3].tool_call_id", "c9"), "messages[3].tool_call_id", "'c9'"),
    Spoiled("a result is no orphan", drop("messages[2]"), "messages[2].tool_call_id", "no call"),
    Spoiled("a call is answered once", insert("messages[5]", {"role": "tool", "tool_call_id": "c2", "content": "x"}),
            "messages[5].tool_call_id", "no call"),
    Spoiled("a result names its call", drop("messages[3].tool_call_id"), "messages[3].tool_call_id", "missing"),
    Spoiled("ids are unique in a message", put("messages[2].tool_calls[1].id", "c1"), "messages[2].tool_calls[1].id",
            "another call"),
    Spoiled("ids are unique in a history", put("messages[6].tool_calls[0].id", "c1"), "messages[6].tool_calls[0].id",
            "another call"),
    Spoiled("ids are not empty", put("messages[2].tool_calls[0].id", ""), "messages[2].tool_calls[0].id", "64"),
    Spoiled("ids are short", put("messages[2].tool_calls[0].id", "c" * 65), "messages[2].tool_calls[0].id", "64"),
    Spoiled("a called name is one", put("messages[2].tool_calls[0].function.name", "a b"),
            "messages[2].tool_calls[0].function.name", "'a b'"),
    Spoiled("arguments are text", put("messages[2].tool_calls[0].function.arguments", {}),
            "messages[2].tool_calls[0].function.arguments", "a string, not an object"),
    *(
        Spoiled(f"arguments are the text of an object, not {text[:20]!r}",
                put("messages[2].tool_calls[0].function.arguments", text),
                "messages[2].tool_calls[0].function.arguments", "JSON text")
        for text in ("", "[1]", "null", '{"city":"Par', '{"a":1}{"b":2}', "[" * 100_000)
    ),
    Spoiled("a tool's name is one", put("tools[0].function.name", "a.b"), "tools[0].function.name", "'a.b'"),
    Spoiled("a tool's name is short", put("tools[0].function.name", "a" * 65), "tools[0].function.name", "64"),
    Spoiled("tools have names of their own", put("tools[1].function.name", "weather"), "tools[1].function.name",
            "another tool"),
    Spoiled("a schema is of an object", put("tools[0].function.parameters.type", "array"),
            "tools[0].function.parameters.type", "'array'"),
    Spoiled("a schema is one", put("tools[0].function.parameters", []), "tools[0].function.parameters", "an object"),
    Spoiled("a tool is a function", put("tools[0].type", "custom"), "tools[0].type", "'custom'"),
    Spoiled("tools are not empty", put("tools", []), "tools", "empty"),
    Spoiled("a choice needs tools", drop("tools"), "tool_choice", "without tools"),
    Spoiled("a choice is known", put("tool_choice", "any"), "tool_choice", "'any'"),
    Spoiled("a chosen tool is declared", put("tool_choice", {"type": "function", "function": {"name": "x"}}),
            "tool_choice.function.name", "'x'"),
    Spoiled("parallel calls need tools", both(drop("tools"), drop("tool_choice"), put("parallel_tool_calls", True)),
            "parallel_tool_calls", "without tools"),
    Spoiled("a bound is positive", put("max_completion_tokens", 0), "max_completion_tokens", "from 1"),
    Spoiled("a bound is a number", put("max_completion_tokens", True), "max_completion_tokens", "a boolean"),
    Spoiled("there is one bound", put("max_tokens", 1), "max_tokens", "beside"),
    Spoiled("temperature has bounds", put("temperature", 2.5), "temperature", "2.5"),
    Spoiled("top_p has bounds", put("top_p", -0.1), "top_p", "-0.1"),
    Spoiled("options of a stream need one", drop("stream"), "stream_options", "streamed"),
    Spoiled("a format is known", put("response_format.type", "xml"), "response_format.type", "'xml'"),
    Spoiled("a schema has a name", drop("response_format.json_schema.name"), "response_format.json_schema.name",
            "missing"),
    Spoiled("a schema's name is one", put("response_format.json_schema.name", "a b"),
            "response_format.json_schema.name", "'a b'"),
    Spoiled("a format has its schema", drop("response_format.json_schema"), "response_format.json_schema", "object"),
]  # fmt: skip


@pytest.mark.parametrize("spoiled", ILLEGAL, ids=lambda each: each.rule)
def test_refuses(spoiled: Spoiled) -> None:
    assert_refused("openai-chat", spoiled)


@pytest.mark.parametrize(
    "change",
    [
        drop("messages[2].content"),
        put("tool_choice", {"type": "function", "function": {"name": "now"}}),
        put("messages[1].content[1].image_url.url", "iVBORw0KGgo="),
        put("messages[1].content[0]", {"type": "video_url", "video_url": {"url": "https://example.com/a.mp4"}}),
        put("messages[2].reasoning_content", ""),
        put("thinking", {"type": "enabled"}),
        insert("messages[9]", USER),
    ],
    ids=["no content", "a named choice", "bare base64", "a film", "no thoughts", "a server's own field", "two users"],
)
def test_takes_what_servers_of_this_wire_take(change: object) -> None:
    body = golden("openai-chat")
    assert callable(change)
    change(body)
    validate_wire("p:m", "openai-chat", body)
