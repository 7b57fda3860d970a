"""What Ollama's stream becomes."""

from __future__ import annotations

import json

import pytest

from llm.providers.scenes import counter, read, same_however_cut
from roles_runtime.errors import ModelUnavailableError, StreamIncompleteError, StreamMalformedError
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.model import Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.ollama.stream import OllamaReader


def lines(*each: JsonObject) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in each)


def said(done: bool = False, **message: object) -> JsonObject:
    told: JsonObject = {"role": "assistant", "content": "", **message}
    return {"model": "qwen3", "created_at": "2026-10-01T00:00:00Z", "message": told, "done": done}


def end(reason: str = "stop") -> JsonObject:
    return {**said(done=True), "done_reason": reason, "prompt_eval_count": 26, "eval_count": 8, "total_duration": 1}


WHOLE = lines(
    said(thinking="天气 🌡️"),
    said(thinking="?"),
    said(content="Über "),
    said(content="東京 🗼"),
    said(
        tool_calls=[
            {"function": {"name": "weather", "arguments": {"city": "東京"}}},
            {"function": {"index": 1, "name": "now", "arguments": {}}},
        ]
    ),
    end(),
)


def reader() -> OllamaReader:
    return OllamaReader("ollama:qwen3", counter("call-"))


def test_a_stream_becomes_the_same_chunks_at_every_cut() -> None:
    assert same_however_cut(reader, WHOLE) == [
        ReasoningChunk("天气 🌡️"),
        ReasoningChunk("?"),
        ReasoningDone(Reasoning(text="天气 🌡️?", origin="ollama")),
        TextChunk("Über "),
        TextChunk("東京 🗼"),
        ToolCallChunk(ToolCall(call_id="call-1", name="weather", arguments='{"city": "東京"}')),
        ToolCallChunk(ToolCall(call_id="call-2", name="now", arguments="{}")),
        Finish("tool_calls", Usage(input_tokens=26, output_tokens=8, calls=1)),
    ]


def test_a_last_line_without_an_end_counts() -> None:
    assert same_however_cut(reader, WHOLE.rstrip(b"\n"))[-1] == read(reader(), [WHOLE])[-1]


@pytest.mark.parametrize(("reason", "told"), [("stop", "stop"), ("length", "length"), ("load", "stop"), ("x", "stop")])
def test_every_reason_has_its_meaning(reason: str, told: str) -> None:
    [finish] = read(reader(), [lines(end(reason))])
    assert isinstance(finish, Finish)
    assert finish.reason == told


def test_whatever_is_cut_off_before_the_end_is_incomplete() -> None:
    for cut in (0, 1, 100, WHOLE.rindex(b"{", 0, -300), len(WHOLE) - 2):
        with pytest.raises(StreamIncompleteError):
            read(reader(), [WHOLE[:cut]])


def test_an_error_inside_the_stream_is_the_servers() -> None:
    stream = lines(said(content="a"), {"error": "an error was encountered while running the model"})
    with pytest.raises(ModelUnavailableError, match="while running the model"):
        read(reader(), [stream])


@pytest.mark.parametrize("bad", [b"{\n", b"[1]\n", b'{"message": 7}\n', b"<html>\n"])
def test_bytes_that_are_not_of_the_format_are_an_error_of_ours(bad: bytes) -> None:
    with pytest.raises(StreamMalformedError):
        read(reader(), [bad])


def test_ids_of_calls_are_unique_in_all_answers() -> None:
    ids = [
        chunk.call.call_id
        for _ in range(3)
        for chunk in read(OllamaReader("ollama:qwen3"), [WHOLE])
        if isinstance(chunk, ToolCallChunk)
    ]
    assert len(set(ids)) == 6
