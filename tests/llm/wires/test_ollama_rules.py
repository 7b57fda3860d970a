from __future__ import annotations

import pytest

from llm.wires.golden import PNG, golden
from llm.wires.spoiling import Spoiled, assert_refused, both, drop, insert, put
from roles_runtime.llm.validate import validate_wire

USER = {"role": "user", "content": "Hm."}
NOW = {"function": {"name": "now", "arguments": {}}}

ILLEGAL = [
    Spoiled("a model is named", drop("model"), "model", "missing"),
    Spoiled("there are messages", put("messages", []), "messages", "empty"),
    Spoiled("a setting does not stand beside the options", put("temperature", 0.5), "temperature", "no such field"),
    Spoiled("nobody chooses tools", put("tool_choice", "auto"), "tool_choice", "no such field"),
    Spoiled("roles are known", put("messages[1].role", "console"), "messages[1].role", "'console'"),
    Spoiled("a user speaks", put("messages", [{"role": "system", "content": "x"}]), "messages", "user's message"),
    Spoiled("the model does not end", drop("messages[6]"), "messages", "end"),
    Spoiled("a user says something", put("messages[6].content", ""), "messages[6].content", "empty"),
    Spoiled("the model says something", put("messages[5].content", " "), "messages[5].content", "blanks"),
    Spoiled("content is text", put("messages[6].content", [{"type": "text", "text": "x"}]), "messages[6].content",
            "a string"),
    Spoiled("pictures are not empty", put("messages[1].images", []), "messages[1].images", "empty"),
    Spoiled("pictures are bare base64", put("messages[1].images[0]", "data:image/png;base64," + PNG),
            "messages[1].images[0]", "data:"),
    Spoiled("pictures have no address", put("messages[1].images[0]", "https://example.com/a.png"),
            "messages[1].images[0]", "no base64"),
    Spoiled("pictures are not the model's", put("messages[5].images", [PNG]), "messages[5].images", "no such field"),
    Spoiled("pictures are no result", put("messages[3].images", [PNG]), "messages[3].images", "user's message"),
    Spoiled("calls are not empty", put("messages[2].tool_calls", []), "messages[2].tool_calls", "empty"),
    Spoiled("arguments are an object", put("messages[2].tool_calls[0].function.arguments", "{}"),
            "messages[2].tool_calls[0].function.arguments", "an object, not a string"),
    Spoiled("a called name is one", put("messages[2].tool_calls[0].function.name", ""),
            "messages[2].tool_calls[0].function.name", "match"),
    Spoiled("a call is answered", drop("messages[4]"), "messages[4]", "'weather' is missing"),
    Spoiled("the last call is answered",
            put("messages[6]", {"role": "assistant", "content": "", "tool_calls": [NOW]}), "messages", "'now'"),
    Spoiled("nobody speaks among the results", insert("messages[4]", USER), "messages[4]", "is missing"),
    Spoiled("a result has its call's name", put("messages[3].tool_name", "now"), "messages[3].tool_name",
            "next in order"),
    Spoiled("results keep the order", both(put("messages[2].tool_calls[0]", NOW), put("messages[4].tool_name", "now")),
            "messages[3].tool_name", "next in order"),
    Spoiled("a result names its tool", drop("messages[3].tool_name"), "messages[3].tool_name", "missing"),
    Spoiled("a result is no orphan", put("messages[5]", {"role": "tool", "tool_name": "weather", "content": "x"}),
            "messages[5].tool_name", "no call"),
    Spoiled("a tool's name is one", put("tools[0].function.name", "a b"), "tools[0].function.name", "'a b'"),
    Spoiled("tools have names of their own", put("tools", [golden("ollama")["tools"][0]] * 2),
            "tools[1].function.name", "another tool"),
    Spoiled("a schema is of an object", put("tools[0].function.parameters.type", "string"),
            "tools[0].function.parameters.type", "'string'"),
    Spoiled("a format is known", put("format", "xml"), "format", "'xml'"),
    Spoiled("thinking is known", put("think", "hard"), "think", "'hard'"),
    Spoiled("a bound lets something be said", put("options.num_predict", 0), "options.num_predict", "0"),
    Spoiled("a window is there", put("options.num_ctx", 0), "options.num_ctx", "from 1"),
    Spoiled("temperature has bounds", put("options.temperature", -1), "options.temperature", "-1"),
]  # fmt: skip


@pytest.mark.parametrize("spoiled", ILLEGAL, ids=lambda each: each.rule)
def test_refuses(spoiled: Spoiled) -> None:
    assert_refused("ollama", spoiled)


@pytest.mark.parametrize(
    "change",
    [put("format", "json"), put("think", "low"), put("options.num_predict", -1), put("keep_alive", "5m")],
    ids=["any JSON", "some thought", "no bound", "kept"],
)
def test_takes_what_the_server_takes(change: object) -> None:
    body = golden("ollama")
    assert callable(change)
    change(body)
    validate_wire("p:m", "ollama", body)
