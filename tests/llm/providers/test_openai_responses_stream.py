"""How a stream of OpenAI's Responses wire is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.providers.scenes import read, same_however_cut
from roles_runtime.errors import (
    ModelError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelUnavailableError,
    StreamIncompleteError,
    StreamMalformedError,
)
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.providers.openai.responses_stream import ResponsesReader

USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 15,
}
THOUGHT = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "I think 東."}],
    "encrypted_content": "gAAA==",
    "status": None,
    "content": None,
}


def reader() -> ResponsesReader:
    return ResponsesReader("openai:m", "openai-responses")


def sse(*events: dict[str, object]) -> bytes:
    return b"".join(
        f"event: {each.get('type')}\ndata: {json.dumps(each, ensure_ascii=False)}\n\n".encode() for each in events
    )


def event(kind: str, **fields: object) -> dict[str, object]:
    return {"type": f"response.{kind}", "sequence_number": 1, **fields}


def text(delta: str, index: int = 0) -> dict[str, object]:
    return event("output_text.delta", output_index=index, item_id="msg_1", content_index=0, delta=delta)


def called(call_id: str, arguments: str) -> dict[str, object]:
    item = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": "weather"}
    return {**item, "arguments": arguments, "status": "completed"}


def message(content: str) -> dict[str, object]:
    return {"type": "message", "content": [{"type": "output_text", "text": content}]}


def completed(**fields: object) -> dict[str, object]:
    return event("completed", response={"status": "completed", "output": [], "usage": USAGE, **fields})


def finish(chunks: list[Chunk]) -> Finish:
    last = chunks[-1]
    assert isinstance(last, Finish)
    return last


SPOKEN = sse(
    event("created", response={"status": "in_progress", "instructions": "x" * 50, "output": []}),
    event("output_item.added", output_index=0, item={**THOUGHT, "encrypted_content": "gAA", "summary": []}),
    event("reasoning_summary_part.added", summary_index=0, output_index=0),
    event("reasoning_summary_text.delta", delta="I think 東.", output_index=0),
    event("output_item.done", output_index=0, item=THOUGHT),
    event("output_item.added", output_index=1, item={"type": "message", "id": "msg_1", "content": []}),
    text("In 東京 ", 1),
    text("🌡️.", 1),
    event("output_text.done", output_index=1, text="In 東京 🌡️."),
    event("output_item.done", output_index=1, item=message("In 東京 🌡️.")),
    event("output_item.added", output_index=2, item=called("a", "")),
    event("output_item.added", output_index=3, item=called("b", "")),
    event("function_call_arguments.delta", output_index=2, item_id="fc_a", delta='{"city": '),
    event("function_call_arguments.delta", output_index=3, item_id="fc_b", delta='{"city": "Pa'),
    event("function_call_arguments.delta", output_index=2, item_id="fc_a", delta='"東京"}'),
    event("function_call_arguments.done", output_index=2, item_id="fc_a", arguments='{"city": "東京"}'),
    event("output_item.done", output_index=2, item=called("a", '{"city": "東京"}')),
    event("output_item.done", output_index=3, item=called("b", '{"city": "Paris"}')),
    completed(),
)  # fmt: skip


def test_a_stream_is_read_the_same_however_it_is_cut() -> None:
    payload = {key: each for key, each in THOUGHT.items() if each is not None}
    assert same_however_cut(reader, SPOKEN) == [
        ReasoningChunk("I think 東."),
        ReasoningDone(Reasoning(text="I think 東.", origin="openai-responses", payload=payload)),
        TextChunk("In 東京 "),
        TextChunk("🌡️."),
        ToolCallChunk(ToolCall(call_id="a", name="weather", arguments='{"city": "東京"}')),
        ToolCallChunk(ToolCall(call_id="b", name="weather", arguments='{"city": "Paris"}')),
        Finish("tool_calls", Usage(10, 5, 1, 4, 2)),
    ]


def test_a_thought_knows_its_place() -> None:
    stream = sse(text("One."), event("output_item.done", output_index=1, item=called("a", "{}")),
                 event("output_item.done", output_index=2, item=THOUGHT), completed())  # fmt: skip
    (done,) = [each for each in read(reader(), [stream]) if isinstance(each, ReasoningDone)]
    assert (done.reasoning.after_chars, done.reasoning.after_calls) == (4, 1)


def test_a_thought_without_its_encrypted_content_is_wanted_back_by_nobody() -> None:
    bare = {**THOUGHT, "encrypted_content": None}
    chunks = read(reader(), [sse(event("output_item.done", output_index=0, item=bare), completed())])
    assert chunks[0] == ReasoningDone(Reasoning(text="I think 東."))


def test_several_summaries_are_told_apart() -> None:
    stream = sse(
        *(each for part in (0, 1) for each in (
            event("reasoning_summary_part.added", summary_index=part),
            event("reasoning_summary_text.delta", summary_index=part, delta=f"{part}"),
        )),
        completed(),
    )  # fmt: skip
    thoughts = [each.text for each in read(reader(), [stream]) if isinstance(each, ReasoningChunk)]
    assert "".join(thoughts) == "0\n\n1"


@pytest.mark.parametrize(
    ("reason", "ours"),
    [("max_output_tokens", "length"), ("max_messages", "length"), ("content_filter", "refusal"), (None, "length")],
)
def test_an_answer_that_is_not_complete_says_why(reason: str | None, ours: str) -> None:
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}, "usage": USAGE}
    assert finish(read(reader(), [sse(text("x"), event("incomplete", response=response))])).reason == ours


def test_a_refusal_is_told_and_known() -> None:
    chunks = read(reader(), [sse(event("refusal.delta", output_index=0, delta="I will not."), completed())])
    assert chunks[0] == TextChunk("I will not.")
    assert finish(chunks).reason == "refusal"


def test_what_a_server_did_not_stream_is_taken_from_its_items() -> None:
    chunks = read(reader(), [sse(
        event("output_item.done", output_index=0, item=message("Hello.")),
        completed(output=[message("Hello."), called("a", "{}")]),
    )])  # fmt: skip
    assert chunks[:2] == [TextChunk("Hello."), ToolCallChunk(ToolCall(call_id="a", name="weather", arguments="{}"))]


def test_arguments_that_only_grew_are_kept() -> None:
    added = event("output_item.added", output_index=0, item=called("a", ""))
    grown = event("function_call_arguments.delta", output_index=0, delta='{"x":1}')
    chunks = read(reader(), [sse(added, grown, completed())])
    assert chunks[0] == ToolCallChunk(ToolCall(call_id="a", name="weather", arguments='{"x":1}'))


def test_an_unknown_event_and_missing_usage_change_nothing() -> None:
    stream = sse(event("something.new", delta={"a": 1}), {"type": "keepalive"}, text("x"), event("completed"))
    assert read(reader(), [stream]) == [TextChunk("x"), Finish("stop", Usage(calls=1))]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "Slow."}, ModelRateLimitError),
        ({"type": "error", "error": {"type": "server_error", "message": "Oh."}}, ModelUnavailableError),
        ({"type": "error", "code": None, "message": "No."}, ModelRefusedError),
        ({"error": {"code": 503, "message": "Oh."}}, ModelUnavailableError),
        (event("failed", response={"error": {"code": "server_error", "message": "Oh."}}), ModelUnavailableError),
        (event("failed", response={"error": {"code": "invalid_prompt", "message": "No."}}), ModelRefusedError),
        (event("failed", response={"error": None}), ModelUnavailableError),
        (event("cancelled", response={}), ModelUnavailableError),
    ],
)
def test_an_error_inside_a_stream_is_what_it_would_have_been_outside(
    said: dict[str, object], kind: type[ModelError]
) -> None:
    with pytest.raises(kind) as raised:
        read(reader(), [sse(text("x"), said)])
    assert type(raised.value) is kind


@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        (b"", StreamIncompleteError),
        (sse(text("x")), StreamIncompleteError),
        (sse(text("x")) + b"data: [DONE]\n\n", StreamIncompleteError),
        (b"no stream", StreamMalformedError),
        (b"data: {\n\n", StreamMalformedError),
        (sse(event("output_item.done", item=7)), StreamMalformedError),
        (sse(event("completed", response="x")), StreamMalformedError),
    ],
)
def test_what_is_no_whole_answer_is_never_taken_for_one(stream: bytes, kind: type[ModelError]) -> None:
    with pytest.raises(kind) as raised:
        read(reader(), [stream])
    assert type(raised.value) is kind


@given(st.integers(0, len(SPOKEN)), st.binary(max_size=4))
def test_a_stream_with_junk_inside_is_read_or_an_error_of_ours(place: int, junk: bytes) -> None:
    try:
        chunks = read(reader(), [SPOKEN[:place] + junk + SPOKEN[place:]])
    except ModelError:
        return
    assert isinstance(chunks[-1], Finish)
