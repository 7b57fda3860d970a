from __future__ import annotations

import pytest

from llm.wires.golden import PNG, golden
from llm.wires.spoiling import Spoiled, assert_refused, both, drop, insert, put, swap
from roles_runtime.llm.validate import validate_wire

USER = {"role": "user", "content": "Hm."}
TEXT = {"type": "text", "text": "x"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}

ILLEGAL = [
    Spoiled("a model is named", drop("model"), "model", "missing"),
    Spoiled("an answer has a bound", drop("max_tokens"), "max_tokens", "missing"),
    Spoiled("the bound is positive", put("max_tokens", 0), "max_tokens", "from 1"),
    Spoiled("there are messages", put("messages", []), "messages", "empty"),
    Spoiled("fields are known", put("tool_config", {}), "tool_config", "no such field"),
    *(
        Spoiled(f"{key} is not given", put(key, 1), key, "this version")
        for key in ("temperature", "top_p", "top_k")
    ),
    Spoiled("instructions say something", put("system", ""), "system", "empty"),
    Spoiled("blocks of instructions say something", put("system[0].text", " "), "system[0].text", "blanks"),
    Spoiled("instructions are text", put("system[0]", IMAGE), "system[0].type", "'image'"),
    Spoiled("roles are known", put("messages[3].role", "tool"), "messages[3].role", "'tool'"),
    Spoiled("a user begins", both(drop("messages[0]"), drop("messages[0]")), "messages[0].role", "'assistant'"),
    Spoiled("instructions do not begin", drop("messages[0]"), "messages[0].role", "'system'"),
    Spoiled("users take turns", insert("messages[6]", USER), "messages[6].role", "twice"),
    Spoiled("the model takes turns", insert("messages[4]", {"role": "assistant", "content": "x"}), "messages[5].role",
            "twice"),
    Spoiled("instructions stand after the user", insert("messages[5]", {"role": "system", "content": "x"}),
            "messages[5].role", "right after"),
    Spoiled("no user stands after instructions", insert("messages[2]", USER), "messages[2].role", "'system'"),
    Spoiled("a user ends", drop("messages[5]"), "messages", "end"),
    Spoiled("a turn has no name", put("messages[0].name", "x"), "messages[0].name", "no such field"),
    Spoiled("content is not null", put("messages[4].content", None), "messages[4].content", "not null"),
    Spoiled("content is not empty", put("messages[4].content", []), "messages[4].content", "empty"),
    Spoiled("a text is not empty", put("messages[5].content", ""), "messages[5].content", "empty"),
    Spoiled("a block of text is not empty", put("messages[4].content[0].text", ""), "messages[4].content[0].text",
            "empty"),
    Spoiled("a block of text is not blank", put("messages[4].content[0].text", " \n"), "messages[4].content[0].text",
            "blanks"),
    Spoiled("only the model cites", put("messages[0].content[0].citations", [{}]), "messages[0].content[0].citations",
            "model"),
    Spoiled("blocks are known", put("messages[0].content[0].type", "input_text"), "messages[0].content[0].type",
            "'input_text'"),
    Spoiled("a picture is not the model's", insert("messages[4].content[0]", IMAGE), "messages[4].content[0].type",
            "'image'"),
    Spoiled("a document is not the model's", insert("messages[4].content[0]", DOCUMENT), "messages[4].content[0].type",
            "'document'"),
    Spoiled("a picture's type is seen", put("messages[0].content[1].source.media_type", "image/bmp"),
            "messages[0].content[1].source.media_type", "'image/bmp'"),
    Spoiled("a picture's bytes are base64", put("messages[0].content[1].source.data", "?"),
            "messages[0].content[1].source.data", "no base64"),
    Spoiled("a picture has bytes", put("messages[0].content[1].source.data", ""), "messages[0].content[1].source.data",
            "empty"),
    Spoiled("a picture's bytes are bare", put("messages[0].content[1].source.data", "data:image/png;base64," + PNG),
            "messages[0].content[1].source.data", "data:"),
    Spoiled("a picture's address is one", put("messages[0].content[2].source.url", "data:image/png;base64," + PNG),
            "messages[0].content[2].source.url", "http(s)"),
    Spoiled("a picture is no text", put("messages[0].content[1].source", DOCUMENT["source"]),
            "messages[0].content[1].source.type", "picture"),
    Spoiled("a document is a PDF", put("messages[0].content[3].source.media_type", "application/zip"),
            "messages[0].content[3].source.media_type", "'application/zip'"),
    Spoiled("a thought is signed", drop("messages[2].content[0].signature"), "messages[2].content[0].signature",
            "missing"),
    Spoiled("a signature is not empty", put("messages[2].content[0].signature", ""),
            "messages[2].content[0].signature", "empty"),
    Spoiled("a hidden thought has its data", put("messages[2].content[1].data", ""), "messages[2].content[1].data",
            "empty"),
    Spoiled("a thought is not the user's", put("messages[5].content", [{"type": "thinking"}]),
            "messages[5].content[0].type", "'thinking'"),
    Spoiled("a budget is not too low", put("thinking.budget_tokens", 1023), "thinking.budget_tokens", "1023"),
    Spoiled("a budget leaves room", put("thinking.budget_tokens", 4096), "thinking.budget_tokens", "4096"),
    Spoiled("a way of thinking is known", put("thinking.type", "deep"), "thinking.type", "'deep'"),
    Spoiled("what thinks is not forced", put("tool_choice.type", "any"), "tool_choice", "thinking"),
    Spoiled("a loop of calls goes on with its thoughts",
            both(drop("messages[5]"), drop("messages[4]"), drop("messages[3].content[2]"),
                 drop("messages[2].content[0]"), drop("messages[2].content[0]")),
            "messages[2].content[0]", "thought"),
    Spoiled("a call is answered", drop("messages[3].content[1]"), "messages[3].content[1]", "'c2' is missing"),
    Spoiled("a call is answered at all", put("messages[3].content", [TEXT]), "messages[3].content[0]", "'c1'"),
    Spoiled("a call is answered by more than words", put("messages[3].content", "Well?"), "messages[3]", "'c1'"),
    Spoiled("results stand in one turn",
            put("messages[3].content", golden("anthropic")["messages"][3]["content"][:1]), "messages[3]", "'c2'"),
    Spoiled("results stand first", insert("messages[3].content[0]", TEXT), "messages[3].content[0]", "'c1'"),
    Spoiled("results stand together", swap("messages[3].content[1]", "messages[3].content[2]"),
            "messages[3].content[1]", "'c2'"),
    Spoiled("results keep the order", swap("messages[3].content[0]", "messages[3].content[1]"),
            "messages[3].content[0].tool_use_id", "next in order"),
    Spoiled("a result is no orphan",
            put("messages[5].content", [{"type": "tool_result", "tool_use_id": "c9", "content": "x"}]),
            "messages[5].content[0].tool_use_id", "no call"),
    Spoiled("a call is answered once", insert("messages[3].content[2]", {"type": "tool_result", "tool_use_id": "c2"}),
            "messages[3].content[2].tool_use_id", "no call"),
    Spoiled("a result says something in its parts", put("messages[3].content[0].content[0].text", ""),
            "messages[3].content[0].content[0].text", "empty"),
    Spoiled("a result holds no result", put("messages[3].content[0].content[0].type", "tool_result"),
            "messages[3].content[0].content[0].type", "'tool_result'"),
    Spoiled("ids are unique", put("messages[2].content[4].id", "c1"), "messages[2].content[4].id", "another call"),
    Spoiled("ids have plain signs", put("messages[2].content[3].id", "functions.f:0"), "messages[2].content[3].id",
            "'functions.f:0'"),
    Spoiled("ids are not empty", put("messages[2].content[3].id", ""), "messages[2].content[3].id", "match"),
    Spoiled("a called name is one", put("messages[2].content[3].name", "天气"), "messages[2].content[3].name", "天气"),
    Spoiled("arguments are an object", put("messages[2].content[3].input", "{}"), "messages[2].content[3].input",
            "an object, not a string"),
    Spoiled("a tool's name is one", put("tools[0].name", "a.b"), "tools[0].name", "'a.b'"),
    Spoiled("a tool has a schema", drop("tools[0].input_schema"), "tools[0].input_schema", "missing"),
    Spoiled("a schema is of an object", put("tools[0].input_schema.type", "string"), "tools[0].input_schema.type",
            "'string'"),
    Spoiled("tools have names of their own", put("tools", [golden("anthropic")["tools"][0]] * 2), "tools[1].name",
            "another tool"),
    Spoiled("a choice needs tools", drop("tools"), "tool_choice", "without tools"),
    Spoiled("a choice is known", put("tool_choice.type", "required"), "tool_choice.type", "'required'"),
    Spoiled("a chosen tool is declared", put("tool_choice", {"type": "tool", "name": "x"}), "tool_choice.name", "'x'"),
    Spoiled("a format is a schema", put("output_config.format.type", "json_object"), "output_config.format.type",
            "'json_object'"),
    Spoiled("a format has its schema", drop("output_config.format.schema"), "output_config.format.schema", "missing"),
    Spoiled("an effort is known", put("output_config.effort", "none"), "output_config.effort", "'none'"),
    Spoiled("a cache is known", put("system[0].cache_control.type", "eternal"), "system[0].cache_control.type",
            "'eternal'"),
]  # fmt: skip


@pytest.mark.parametrize("spoiled", ILLEGAL, ids=lambda each: each.rule)
def test_refuses(spoiled: Spoiled) -> None:
    assert_refused("anthropic", spoiled)


@pytest.mark.parametrize(
    "change",
    [
        put("thinking", {"type": "adaptive"}),
        both(drop("thinking"), drop("messages[2].content[0]"), drop("messages[2].content[0]")),
        both(drop("messages[2].content[0]"), drop("messages[2].content[0]")),
        drop("messages[3].content[0].content"),
        both(drop("messages[5]"), drop("messages[4]"), drop("messages[3].content[2]")),
    ],
    ids=["adaptive", "no thoughts", "a loop that is over without thoughts", "a silent result", "a loop that goes on"],
)
def test_takes_what_the_provider_takes(change: object) -> None:
    body = golden("anthropic")
    assert callable(change)
    change(body)
    validate_wire("p:m", "anthropic", body)
