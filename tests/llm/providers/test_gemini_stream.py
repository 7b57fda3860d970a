"""What Gemini's stream becomes."""

from __future__ import annotations

import json

import pytest

from llm.providers.scenes import counter, read, same_however_cut
from roles_runtime.errors import (
    ModelError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelUnavailableError,
    StreamIncompleteError,
    StreamMalformedError,
)
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.model import Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.gemini.stream import GeminiReader


def responses(*each: JsonObject) -> bytes:
    return b"".join(f"data: {json.dumps(response, ensure_ascii=False)}\r\n\r\n".encode() for response in each)


def parts(*each: JsonObject, reason: str | None = None, usage: JsonObject | None = None) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": [*each]}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], **({"usageMetadata": usage} if usage is not None else {})}


USAGE: JsonObject = {
    "promptTokenCount": 20,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 7,
    "cachedContentTokenCount": 4,
    "toolUsePromptTokenCount": 3,
    "totalTokenCount": 35,
}

WHOLE = responses(
    parts({"text": "考える 🌡️", "thought": True}),
    parts({"text": "!", "thought": True}, {"text": "Über "}),
    parts({"text": "東京 🗼", "thoughtSignature": "c2ln"}),
    parts({"text": "", "thoughtSignature": "ZW5k"}),
    parts(
        {"functionCall": {"name": "weather", "args": {"city": "東京"}}, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {"id": "fc-2", "name": "now"}},
        reason="STOP",
        usage=USAGE,
    ),
)


def reader() -> GeminiReader:
    return GeminiReader("gemini:gemini-3-pro", counter("gemini-"))


def test_a_stream_becomes_the_same_chunks_at_every_cut() -> None:
    assert same_however_cut(reader, WHOLE) == [
        ReasoningChunk("考える 🌡️"),
        ReasoningChunk("!"),
        ReasoningDone(Reasoning(text="考える 🌡️!", origin="gemini", payload={"place": "thought"})),
        TextChunk("Über "),
        ReasoningDone(
            Reasoning(origin="gemini", payload={"place": "text", "thoughtSignature": "c2ln", "chars": 4}, after_chars=5)
        ),
        TextChunk("東京 🗼"),
        ReasoningDone(
            Reasoning(origin="gemini", payload={"place": "text", "thoughtSignature": "ZW5k", "chars": 0}, after_chars=9)
        ),
        ReasoningDone(
            Reasoning(origin="gemini", payload={"place": "call", "thoughtSignature": "Y2FsbA=="}, after_chars=9)
        ),
        ToolCallChunk(ToolCall(call_id="gemini-1", name="weather", arguments='{"city": "東京"}')),
        ToolCallChunk(ToolCall(call_id="fc-2", name="now", arguments="{}")),
        Finish("tool_calls", Usage(input_tokens=23, output_tokens=12, calls=1, cached_tokens=4, reasoning_tokens=7)),
    ]


def test_a_thought_with_a_signature_of_its_own_is_a_piece_of_its_own() -> None:
    stream = responses(
        parts({"text": "a", "thought": True, "thoughtSignature": "QQ=="}, {"text": "b", "thought": True}),
        parts(reason="STOP", usage=USAGE),
    )
    done = [chunk.reasoning for chunk in read(reader(), [stream]) if isinstance(chunk, ReasoningDone)]
    assert [(each.text, each.payload) for each in done] == [
        ("a", {"place": "thought", "thoughtSignature": "QQ=="}),
        ("b", {"place": "thought"}),
    ]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "refusal"),
        ("RECITATION", "refusal"),
        ("LANGUAGE", "refusal"),
        ("BLOCKLIST", "refusal"),
        ("PROHIBITED_CONTENT", "refusal"),
        ("SPII", "refusal"),
        ("MODEL_ARMOR", "refusal"),
        ("IMAGE_SAFETY", "refusal"),
        ("FINISH_REASON_UNSPECIFIED", "stop"),
        ("WHAT_NOBODY_KNOWS_YET", "stop"),
    ],
)
def test_every_finish_reason_has_its_meaning(reason: str, told: str) -> None:
    [finish] = read(reader(), [responses(parts(reason=reason, usage=USAGE))])
    assert isinstance(finish, Finish)
    assert finish.reason == told


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("MALFORMED_FUNCTION_CALL", ModelUnavailableError),
        ("UNEXPECTED_TOOL_CALL", ModelUnavailableError),
        ("TOO_MANY_TOOL_CALLS", ModelUnavailableError),
        ("MALFORMED_RESPONSE", ModelUnavailableError),
        ("OTHER", ModelUnavailableError),
        ("MISSING_THOUGHT_SIGNATURE", ModelRefusedError),
    ],
)
def test_a_reason_that_is_a_fault_is_an_error(reason: str, error: type[ModelError]) -> None:
    with pytest.raises(error, match=reason) as caught:
        read(reader(), [responses(parts(reason=reason, usage=USAGE))])
    assert caught.value.transient is (error is ModelUnavailableError)


def test_a_prompt_that_is_blocked_is_refused() -> None:
    stream = responses({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}})
    assert read(reader(), [stream]) == [Finish("refusal", Usage(input_tokens=4, calls=1))]


def test_usage_may_come_behind_the_reason_or_not_at_all() -> None:
    behind = responses(parts({"text": "a"}, reason="STOP"), {"usageMetadata": {"promptTokenCount": 4}})
    assert read(reader(), [behind])[-1] == Finish("stop", Usage(input_tokens=4, calls=1))
    without = responses(parts({"text": "a"}, reason="STOP"))
    assert read(reader(), [without]) == [TextChunk("a"), Finish("stop", Usage(calls=1))]


def test_whatever_is_cut_off_before_the_reason_is_incomplete() -> None:
    for cut in (0, 1, 100, WHOLE.rindex(b"data:"), len(WHOLE) - 2):
        with pytest.raises(StreamIncompleteError):
            read(reader(), [WHOLE[:cut]])


def test_an_error_inside_the_stream_is_the_error_it_names() -> None:
    error: JsonObject = {"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"}}
    with pytest.raises(ModelRateLimitError, match="Slow down"):
        read(reader(), [responses(parts({"text": "a"}), error)])


@pytest.mark.parametrize("bad", [b"data: {\n\n", b"data: [1]\n\n", b'data: {"candidates": 7}\n\n'])
def test_bytes_that_are_not_of_the_format_are_an_error_of_ours(bad: bytes) -> None:
    with pytest.raises(StreamMalformedError):
        read(reader(), [bad])
