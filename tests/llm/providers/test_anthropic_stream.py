"""What Anthropic's stream becomes."""

from __future__ import annotations

import json

import pytest

from llm.providers.scenes import read, same_however_cut
from roles_runtime.errors import (
    ContextWindowError,
    ModelError,
    ModelKeyError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelUnavailableError,
    StreamIncompleteError,
    StreamMalformedError,
)
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.model import Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.anthropic.stream import AnthropicReader


def events(*each: JsonObject) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode() for event in each
    )


def start(index: int, **block: object) -> JsonObject:
    return {"type": "content_block_start", "index": index, "content_block": dict(block)}


def delta(index: int, kind: str, **grown: str) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", **grown}}


def stop(index: int) -> JsonObject:
    return {"type": "content_block_stop", "index": index}


def begin(**usage: int) -> JsonObject:
    return {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [], "usage": {**usage}}}


def end(reason: str, **usage: object) -> tuple[JsonObject, JsonObject]:
    told: JsonObject = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": dict(usage)}
    return told, {"type": "message_stop"}


WHOLE = events(
    begin(input_tokens=10, cache_read_input_tokens=100, cache_creation_input_tokens=5, output_tokens=1),
    start(0, type="thinking", thinking="", signature=""),
    {"type": "ping"},
    delta(0, "thinking", thinking="天气 🌡️"),
    delta(0, "thinking", thinking="?"),
    delta(0, "signature", signature="Eq"),
    delta(0, "signature", signature="=="),
    stop(0),
    start(1, type="redacted_thinking", data="Zm9v"),
    stop(1),
    start(2, type="text", text=""),
    delta(2, "text", text="Über "),
    delta(2, "text", text="東京 🗼"),
    stop(2),
    start(3, type="thinking", thinking="", signature=""),
    delta(3, "signature", signature="only"),
    stop(3),
    start(4, type="tool_use", id="toolu_1", name="weather", input={}),
    delta(4, "input_json", partial_json=""),
    delta(4, "input_json", partial_json='{"city": "東'),
    delta(4, "input_json", partial_json='京"}'),
    stop(4),
    start(5, type="tool_use", id="toolu_2", name="now", input={}),
    stop(5),
    *end("tool_use", output_tokens=42, output_tokens_details={"thinking_tokens": 7}),
)


def reader() -> AnthropicReader:
    return AnthropicReader("anthropic:claude")


def test_a_stream_becomes_the_same_chunks_at_every_cut() -> None:
    assert same_however_cut(reader, WHOLE) == [
        ReasoningChunk("天气 🌡️"),
        ReasoningChunk("?"),
        ReasoningDone(
            Reasoning(
                text="天气 🌡️?",
                origin="anthropic",
                payload={"type": "thinking", "thinking": "天气 🌡️?", "signature": "Eq=="},
            )
        ),
        ReasoningDone(Reasoning(origin="anthropic", payload={"type": "redacted_thinking", "data": "Zm9v"})),
        TextChunk("Über "),
        TextChunk("東京 🗼"),
        ReasoningDone(
            Reasoning(
                origin="anthropic", payload={"type": "thinking", "thinking": "", "signature": "only"}, after_chars=9
            )
        ),
        ToolCallChunk(ToolCall(call_id="toolu_1", name="weather", arguments='{"city": "東京"}')),
        ToolCallChunk(ToolCall(call_id="toolu_2", name="now", arguments="{}")),
        Finish(
            "tool_calls",
            Usage(input_tokens=115, output_tokens=42, calls=1, cached_tokens=100, reasoning_tokens=7),
        ),
    ]


def test_usage_of_the_end_counts_from_the_beginning_and_replaces_what_was_told_before() -> None:
    stream = events(
        begin(input_tokens=10, output_tokens=3),
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}},
        *end("end_turn", input_tokens=12, output_tokens=9),
    )
    assert read(reader(), [stream]) == [Finish("stop", Usage(input_tokens=12, output_tokens=9, calls=1))]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"),
        ("refusal", "refusal"),
        ("what_nobody_knows_yet", "stop"),
    ],
)
def test_every_stop_reason_has_its_meaning(reason: str, told: str) -> None:
    [finish] = read(reader(), [events(*end(reason, output_tokens=1))])
    assert isinstance(finish, Finish)
    assert finish.reason == told


def test_whatever_is_cut_off_before_the_end_is_incomplete() -> None:
    terminal = WHOLE.rindex(b"event: message_stop")
    for cut in (0, 1, 100, terminal, len(WHOLE) - 1):
        with pytest.raises(StreamIncompleteError):
            read(reader(), [WHOLE[:cut]])


def test_an_end_that_does_not_say_why_is_incomplete() -> None:
    with pytest.raises(StreamIncompleteError, match="without saying why"):
        read(reader(), [events({"type": "message_stop"})])


@pytest.mark.parametrize(
    ("kind", "words", "error"),
    [
        ("overloaded_error", "Overloaded", ModelUnavailableError),
        ("api_error", "Internal server error", ModelUnavailableError),
        ("rate_limit_error", "Too many", ModelRateLimitError),
        ("authentication_error", "invalid bearer token", ModelKeyError),
        ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", ContextWindowError),
        ("invalid_request_error", "messages.1: bad", ModelRefusedError),
        ("new_error", "?", ModelUnavailableError),
    ],
)
def test_an_error_inside_the_stream_is_the_error_it_names(kind: str, words: str, error: type[ModelError]) -> None:
    stream = WHOLE[: WHOLE.index(b"event: content_block_stop")]
    stream += events({"type": "error", "error": {"type": kind, "message": words}})
    with pytest.raises(error, match=words.split(":")[0].replace("?", r"\?")):
        read(reader(), [stream])


@pytest.mark.parametrize("bad", [b"data: {\n\n", b"data: [1]\n\n", b'data: {"type": 7}\n\n', b'data: "\xff"\n\n'])
def test_bytes_that_are_not_of_the_format_are_an_error_of_ours(bad: bytes) -> None:
    with pytest.raises(StreamMalformedError):
        read(reader(), [bad])


def test_events_and_blocks_that_nobody_knows_are_passed_over() -> None:
    stream = events(
        start(0, type="server_tool_use", id="x", name="web_search", input={}),
        delta(0, "input_json", partial_json="{}"),
        stop(0),
        delta(7, "citations", text="stray"),
        {"type": "new_event"},
        *end("end_turn", output_tokens=1),
    )
    assert [type(chunk) for chunk in read(reader(), [stream])] == [Finish]


def test_text_that_a_block_begins_with_is_not_lost() -> None:
    stream = events(start(0, type="text", text="Hi"), stop(0), *end("end_turn", output_tokens=1))
    assert read(reader(), [stream])[0] == TextChunk("Hi")


def test_arguments_that_stand_in_the_block_are_taken_from_there() -> None:
    stream = events(
        start(0, type="tool_use", id="t", name="f", input={"a": 1}), stop(0), *end("tool_use", output_tokens=1)
    )
    [call, _] = read(reader(), [stream])
    assert isinstance(call, ToolCallChunk)
    assert json.loads(call.call.arguments) == {"a": 1}


def test_a_block_that_nobody_ended_is_whole_at_the_end() -> None:
    stream = events(
        start(0, type="tool_use", id="a", name="f", input={}),
        delta(0, "input_json", partial_json='{"x":'),
        delta(0, "input_json", partial_json="1}"),
        *end("tool_use", output_tokens=1),
    )
    first, last = read(reader(), [stream])
    assert first == ToolCallChunk(ToolCall(call_id="a", name="f", arguments='{"x":1}'))
    assert isinstance(last, Finish)


def test_blocks_may_be_numbered_by_texts() -> None:
    stream = events(
        {**start(0, type="tool_use", id="a", name="f", input={}), "index": "0"},
        {**delta(0, "input_json", partial_json="{}"), "index": "0"},
        {**stop(0), "index": "0"},
        *end("tool_use"),
    )
    assert read(reader(), [stream])[0] == ToolCallChunk(ToolCall(call_id="a", name="f", arguments="{}"))
