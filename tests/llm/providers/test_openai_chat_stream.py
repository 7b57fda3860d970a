"""How a stream of OpenAI's chat wire is read, from servers of every kind."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.providers.scenes import read, same_however_cut
from roles_runtime.errors import (
    ContextWindowError,
    ModelError,
    ModelQuotaError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelUnavailableError,
    StreamIncompleteError,
    StreamMalformedError,
)
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, ReasoningDone, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.providers.openai.chat_stream import ChatReader

DONE = b"data: [DONE]\n\n"


def reader(origin: str = "") -> ChatReader:
    return ChatReader("openai:m", origin)


def sse(*events: object, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(each, ensure_ascii=False)}\n\n".encode() for each in events]
    return b"".join(lines) + (DONE if done else b"")


def delta(**fields: object) -> dict[str, object]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields}]}


def call(index: int | None = None, id: str | None = None, name: str | None = None, arguments: object = None) -> object:
    function = {key: each for key, each in (("name", name), ("arguments", arguments)) if each is not None}
    return {"index": index, "id": id, "type": "function", "function": function}


def end(reason: str = "stop") -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def usage(**fields: object) -> dict[str, object]:
    return {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, **fields}}


def calls(chunks: list[Chunk]) -> list[ToolCall]:
    return [each.call for each in chunks if isinstance(each, ToolCallChunk)]


SPOKEN = sse(
    delta(role="assistant", content="", reasoning_content=None),
    delta(content="In 東"),
    delta(content="京 🌡️."),
    delta(tool_calls=[call(0, "a", "weather", "")]),
    delta(tool_calls=[call(0, None, None, '{"city": "東')]),
    delta(tool_calls=[call(1, "b", "weather", '{"city"')]),
    delta(tool_calls=[call(0, None, None, '京"}'), call(1, None, None, ': "Paris"}')]),
    end("tool_calls"),
    usage(prompt_tokens_details={"cached_tokens": 4}, completion_tokens_details={"reasoning_tokens": 2}),
)


def test_a_stream_is_read_the_same_however_it_is_cut() -> None:
    assert same_however_cut(reader, SPOKEN) == [
        TextChunk("In 東"),
        TextChunk("京 🌡️."),
        ToolCallChunk(ToolCall(call_id="a", name="weather", arguments='{"city": "東京"}')),
        ToolCallChunk(ToolCall(call_id="b", name="weather", arguments='{"city": "Paris"}')),
        Finish("tool_calls", Usage(10, 5, 1, 4, 2)),
    ]


@given(st.lists(st.integers(1, len(SPOKEN) - 1)).map(sorted))
def test_a_stream_is_read_the_same_at_many_cuts_at_once(cuts: list[int]) -> None:
    pieces = [SPOKEN[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(SPOKEN)], strict=True)]
    assert read(reader(), pieces) == read(reader(), [SPOKEN])


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_of_a_compatible_server_are_told_and_kept_for_it(field: str) -> None:
    stream = sse(
        delta(**{field: "I think "}), delta(**{field: "hard."}), delta(content="Hm"), delta(**{field: "More."}),
        delta(tool_calls=[call(0, "a", "f", "{}")]), end("tool_calls"),
    )  # fmt: skip
    chunks = read(reader("zhipu"), [stream])
    assert chunks[:2] == [ReasoningChunk("I think "), ReasoningChunk("hard.")]
    assert [each.reasoning for each in chunks if isinstance(each, ReasoningDone)] == [
        Reasoning(text="I think hard.", origin="zhipu"),
        Reasoning(text="More.", origin="zhipu", after_chars=2),
    ]
    assert not any(isinstance(each, ReasoningDone) for each in read(reader(), [stream]))


@pytest.mark.parametrize(
    ("reason", "has_calls", "finish"),
    [
        ("stop", False, "stop"),
        ("stop", True, "tool_calls"),
        ("tool_calls", True, "tool_calls"),
        ("tool_calls", False, "stop"),
        ("function_call", True, "tool_calls"),
        ("length", False, "length"),
        ("length", True, "length"),
        ("content_filter", False, "refusal"),
        ("sensitive", False, "refusal"),
        ("eos_token", False, "stop"),
        ("eos_token", True, "tool_calls"),
    ],
)
def test_every_reason_to_end_is_one_of_ours(reason: str, has_calls: bool, finish: str) -> None:
    said = delta(tool_calls=[call(0, "a", "f", "{}")]) if has_calls else delta(content="x")
    last = read(reader(), [sse(said, end(reason))])[-1]
    assert isinstance(last, Finish)
    assert last.reason == finish


@pytest.mark.parametrize("reason", ["network_error", "insufficient_system_resource"])
def test_an_answer_that_the_server_broke_off_is_none(reason: str) -> None:
    with pytest.raises(ModelUnavailableError, match=reason):
        read(reader(), [sse(delta(content="x"), end(reason))])


def test_a_refusal_is_told_and_known() -> None:
    assert read(reader(), [sse(delta(refusal="I will not."), end())])[::1] == [
        TextChunk("I will not."),
        Finish("refusal", Usage(calls=1)),
    ]


@pytest.mark.parametrize(
    "stream", [sse(delta(content="x"), end(), done=False), sse(delta(content="x"), end(), usage(), done=False)]
)
def test_what_has_a_reason_to_end_is_complete_without_done(stream: bytes) -> None:
    assert isinstance(read(reader(), [stream])[-1], Finish)


def test_usage_is_read_wherever_a_server_puts_it() -> None:
    beside = {**end(), "usage": {"prompt_tokens": 7, "completion_tokens": 1, "prompt_cache_hit_tokens": 3}}
    inside = {"choices": [{"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 7}}]}
    assert read(reader(), [sse(beside)])[-1] == Finish("stop", Usage(7, 1, 1, 3))
    assert read(reader(), [sse(inside, done=False)])[-1] == Finish("stop", Usage(7, calls=1))
    assert read(reader(), [sse(end(), {"choices": None, "usage": None})])[-1] == Finish("stop", Usage(calls=1))


def test_fragments_find_their_call_whichever_way_a_server_keys_them() -> None:
    all_zero = sse(
        delta(tool_calls=[call(0, "a", "f", "{}")]), delta(tool_calls=[call(0, "b", "g", '{"x"')]),
        delta(tool_calls=[call(0, None, None, ":1}")]), end(),
    )  # fmt: skip
    repeated = sse(
        delta(tool_calls=[call(None, "a", "f", '{"x"')]), delta(tool_calls=[call(None, "a", "f", ":1}")]), end()
    )
    objects = sse(delta(tool_calls=[call(0, None, "f", {"x": "東"})]), end())
    assert [(each.name, each.arguments) for each in calls(read(reader(), [all_zero]))] == [
        ("f", "{}"),
        ("g", '{"x":1}'),
    ]
    assert [(each.name, each.arguments) for each in calls(read(reader(), [repeated]))] == [("f", '{"x":1}')]
    (made,) = calls(read(reader(), [objects]))
    assert (made.call_id, made.arguments) == ("call-0", '{"x":"東"}')


@pytest.mark.parametrize("arguments", ["", '{"city":"Par', '{"a":1}{"b":2}', "[1]", "null"])
def test_arguments_come_as_the_model_wrote_them(arguments: str) -> None:
    (made,) = calls(read(reader(), [sse(delta(tool_calls=[call(0, "a", "f", arguments)]), end())]))
    assert made.arguments == arguments


def test_halves_of_a_sign_that_two_events_hold_are_joined() -> None:
    stream = (
        b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"\\ude00b"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"\\ud83d"},"finish_reason":"stop"}]}\n\n'
    )
    assert same_however_cut(reader, stream)[:-1] == [TextChunk("a"), TextChunk("😀b"), TextChunk("\ufffd")]


def test_comments_names_and_other_ends_of_lines_change_nothing() -> None:
    stream = b": ping\r\n\r\nevent: message\r\n" + SPOKEN.replace(b"\n", b"\r\n")
    assert read(reader(), [stream]) == read(reader(), [SPOKEN])


def test_parts_of_text_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "reference"}]
    assert read(reader(), [sse(delta(content=parts), end())])[0] == TextChunk("ab")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "Slow down.", "code": 429}, ModelRateLimitError),
        ({"message": "Slow down.", "code": "rate_limit_exceeded"}, ModelRateLimitError),
        ({"message": "The server had an error.", "type": "server_error", "code": None}, ModelUnavailableError),
        ({"message": "Upstream", "code": 502}, ModelUnavailableError),
        ({"message": "too long", "code": "context_length_exceeded"}, ContextWindowError),
        ({"message": "pay", "code": "insufficient_quota"}, ModelQuotaError),
        ({"message": "messages illegal", "code": "1214"}, ModelRefusedError),
        ("broken", ModelRefusedError),
        ({}, ModelRefusedError),
    ],
)
def test_an_error_inside_a_stream_is_what_it_would_have_been_outside(error: object, kind: type[ModelError]) -> None:
    with pytest.raises(kind) as raised:
        read(reader(), [sse(delta(content="x"), {"error": error})])
    assert type(raised.value) is kind


@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        (b"", StreamIncompleteError),
        (b"\n\n", StreamIncompleteError),
        (DONE, StreamIncompleteError),
        (sse(delta(content="x")), StreamIncompleteError),
        (sse(delta(content="x"), done=False), StreamIncompleteError),
        (SPOKEN[:-40].rpartition(b"data: {")[0].rpartition(b"data: {")[0], StreamIncompleteError),
        (b"no stream at all", StreamMalformedError),
        (b'{"choices": [{"message": {"content": "x"}}]}', StreamMalformedError),
        (b'{"error": {"message": "busy", "code": 503}}', ModelUnavailableError),
        (b"data: {\n\n", StreamMalformedError),
        (b"data: <html>\n\n", StreamMalformedError),
        (b'data: "x"\n\n', StreamMalformedError),
        (b'data: {"choices": 7}\n\n', StreamMalformedError),
        (b'data: {"choices": [{"delta": {"content": "\\ud83d', StreamIncompleteError),
        (b'data: {"choices": [{"delta": {"content": "\\ud8', StreamIncompleteError),
        (b'data: {"choices": [{"delta": {"content": "\\ud8"}}]}\n\n', StreamMalformedError),
        (b'data: {"choices": [{"delta": {"content": "\\ud83d\n\n', StreamMalformedError),
        (b'data: {"choices": "\\ud83d}\n\n', StreamMalformedError),
        (b"data: " + b"[" * 100_000 + b"\n\n", StreamMalformedError),
        (b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n', StreamMalformedError),
    ],
)
def test_what_is_no_whole_answer_is_never_taken_for_one(stream: bytes, kind: type[ModelError]) -> None:
    with pytest.raises(kind) as raised:
        read(reader(), [stream])
    assert type(raised.value) is kind


@given(st.binary())
def test_junk_is_an_error_of_ours(junk: bytes) -> None:
    with pytest.raises(ModelError):
        read(reader(), [junk])


@given(st.integers(0, len(SPOKEN)), st.binary(max_size=4))
def test_a_stream_with_junk_inside_is_read_or_an_error_of_ours(place: int, junk: bytes) -> None:
    try:
        chunks = read(reader(), [SPOKEN[:place] + junk + SPOKEN[place:]])
    except ModelError:
        return
    assert isinstance(chunks[-1], Finish)
