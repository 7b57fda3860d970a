"""Whatever a provider sends, all five readers make the same of it: an answer, or one clear error, within bounds."""

from __future__ import annotations

import json

import pytest

from llm.providers.hostile import KEY, WIRES, Wire
from llm.providers.played import Answer, playing
from llm.providers.scenes import asked, read, same_however_cut
from roles_runtime.errors import ModelError, StreamIncompleteError, StreamMalformedError
from roles_runtime.llm import provider_model, sse
from roles_runtime.llm.call_gathering import MAX_CALLS
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.decoding import MAX_TOKENS
from roles_runtime.llm.faults import PIECE_CHARS
from roles_runtime.llm.model import Chunk, Finish, ReasoningChunk, TextChunk, ToolCallChunk
from roles_runtime.llm.provider_model import ProviderModel

pytestmark = pytest.mark.anyio


@pytest.fixture(params=list(WIRES))
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[str(request.param)]


def text_of(chunks: list[Chunk]) -> str:
    return "".join(each.text for each in chunks if isinstance(each, TextChunk))


def calls_of(chunks: list[Chunk]) -> list[ToolCall]:
    return [each.call for each in chunks if isinstance(each, ToolCallChunk)]


def malformed(wire: Wire, *pieces: bytes) -> str:
    with pytest.raises(StreamMalformedError) as caught:
        read(wire.reader(), pieces)
    return str(caught.value)


async def failed(model: ProviderModel) -> str:
    with pytest.raises(ModelError) as caught:
        _ = [chunk async for chunk in model.stream(asked())]
    await model.aclose()
    assert isinstance(caught.value, StreamMalformedError)
    return str(caught.value)


def test_halves_of_a_sign_that_two_events_hold_are_joined(wire: Wire) -> None:
    stream = wire.says(b'"a\\ud83d"') + wire.says(b'"\\ude00b"') + wire.says(b'"\\ud83d"') + wire.ends()
    chunks = same_however_cut(wire.reader, stream)
    assert text_of(chunks) == "a😀b\ufffd"
    assert isinstance(chunks[-1], Finish)


def test_halves_of_a_sign_in_a_thought_are_joined(wire: Wire) -> None:
    stream = wire.thinks(b'"a\\ud83d"') + wire.thinks(b'"\\ude00"') + wire.says(b'"b"') + wire.ends()
    chunks = read(wire.reader(), [stream])
    assert [each.text for each in chunks if isinstance(each, ReasoningChunk)] == ["a", "😀"]
    assert text_of(chunks) == "b"


def test_half_a_sign_alone_in_a_thought_is_no_chunk(wire: Wire) -> None:
    chunks = read(wire.reader(), [wire.thinks(b'"\\ud83d"') + wire.ends()])
    assert not any(isinstance(each, ReasoningChunk) for each in chunks)


def test_arguments_with_half_a_sign_can_be_written_down(wire: Wire) -> None:
    (call,) = calls_of(read(wire.reader(), [wire.calls(b'"a"', b'{"q":"\\ud83d"}') + wire.ends()]))
    _ = call.arguments.encode()
    assert call.arguments.startswith('{"q":"')


def test_fields_that_are_null_are_passed_over(wire: Wire) -> None:
    nothing = wire.says_nothing()
    chunks = read(wire.reader(), [nothing + wire.says(b'"a"') + nothing + wire.ends(b"null")])
    assert [type(each) for each in chunks] == [TextChunk, Finish]


@pytest.mark.parametrize("call_id", [b"7", b'"7"'])
def test_an_id_may_be_a_number(wire: Wire, call_id: bytes) -> None:
    (call,) = calls_of(read(wire.reader(), [wire.calls(call_id, b"{}") + wire.ends()]))
    assert (call.name, call.arguments) == ("f", "{}")
    # Ollama's are ours.
    assert call.call_id == "7" or wire is WIRES["ollama"]


@pytest.mark.parametrize(
    ("count", "read_as"),
    [
        (b"null", 0),
        (b'"many"', 0),
        (b'"12"', 12),
        (b"[]", 0),
        (b"-5", 0),
        (b"true", 0),
        (b"5.5", 5),
        (b"1e30", MAX_TOKENS),
        (b"9" * 40, MAX_TOKENS),
    ],
)
def test_a_bill_that_can_not_be_read_spoils_no_answer(wire: Wire, count: bytes, read_as: int) -> None:
    last = read(wire.reader(), [wire.says(b'"a"') + wire.ends(count)])[-1]
    assert isinstance(last, Finish)
    assert (last.usage.input_tokens, last.usage.output_tokens, last.usage.calls) == (read_as, read_as, 1)


@pytest.mark.parametrize("page", [b"<!doctype html>\n<title>Log in</title>\n<p>\n", b"<html><title>Log in</title>"])
def test_a_page_for_a_browser_is_told_with_what_to_do(wire: Wire, page: bytes) -> None:
    for pieces in ([page], [page[at : at + 1] for at in range(len(page))]):
        told = malformed(wire, *pieces)
        assert "it answered with what is no stream: an HTML page" in told
        assert told.endswith(". Check the base_url.")


@pytest.mark.parametrize("error", [b'"gone mad"', b'{"message":"gone mad"}', b'{"message":"gone mad","code":7}'])
def test_an_error_may_be_a_text_or_an_object(wire: Wire, error: bytes) -> None:
    with pytest.raises(ModelError, match="gone mad"):
        read(wire.reader(), [wire.says(b'"a"') + wire.fails(error)])


@pytest.mark.parametrize(
    "error",
    [
        b"{}",
        b'{"message":{"q":"\\ud83d"}}',
        b'{"code":"' + b"9" * 5000 + b'"}',
        b'{"type":[],"code":{},"status":false}',
    ],
)
def test_an_error_is_one_whatever_is_in_it(wire: Wire, error: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        read(wire.reader(), [wire.fails(error)])
    _ = str(caught.value).encode()
    assert len(str(caught.value)) < 1000
    assert not isinstance(caught.value, StreamMalformedError | StreamIncompleteError)


@pytest.mark.parametrize("before", [b"", b'"half":"\\ud83d",'])
def test_what_is_nested_too_deep_is_malformed(wire: Wire, before: bytes) -> None:
    assert "not of its own format" in malformed(wire, wire.event(b"{" + before + b'"x":' + b"[" * 100_000))


def test_arguments_that_are_no_utf8_are_malformed(wire: Wire) -> None:
    assert "UTF-8" in malformed(wire, wire.calls(b'"a"', b'{"q":"\xff"}') + wire.ends())


def test_an_event_or_a_line_without_an_end_is_malformed(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 1000)
    assert "more than 1,000 bytes" in malformed(wire, b"x" * 1001)


def test_a_stream_cut_inside_its_first_event_is_incomplete(wire: Wire) -> None:
    whole = wire.says(b'"a\\ud83d\\ude00"')
    for cut in range(1, len(whole) - 1):
        with pytest.raises(StreamIncompleteError):
            read(wire.reader(), [whole[:cut]])


async def test_calls_are_bounded(wire: Wire) -> None:
    many = [b"".join(wire.calls(b'"c%d"' % (at + n), b"{}") for n in range(100)) for at in range(0, 5_000, 100)]
    async with playing(Answer((*many, wire.ends()))) as served:
        assert f"more than {MAX_CALLS:,} tool calls" in await failed(wire.model(served.url))


async def test_an_answer_is_bounded_though_it_says_nothing(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_model, "MAX_ANSWER_BYTES", 100_000)
    pings = (wire.ping() * 5_000,) * 30
    async with playing(Answer((wire.says(b'"a"'), *pings), end="hang")) as served:
        assert "an answer of more than 100,000 bytes" in await failed(wire.model(served.url))


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_a_key_is_repeated_in_no_piece(wire: Wire, status: int) -> None:
    key = KEY.get_secret_value()
    words = f"Bad {key[:12]}… and {key[:9]}***{key[-9:]} and {key}"
    error = wire.fails(json.dumps({"message": words, "type": key, "code": key[2:]}).encode())
    async with playing(Answer((error,), status)) as served:
        model = wire.model(served.url)
        with pytest.raises(ModelError) as caught:
            _ = [chunk async for chunk in model.stream(asked())]
        await model.aclose()
    told = f"{caught.value} {caught.value!r} {caught.value.problem} {caught.value.__cause__}"
    if wire is not WIRES["ollama"]:  # it has none
        assert not any(key[at : at + PIECE_CHARS] in told for at in range(len(key) - PIECE_CHARS + 1))
        assert "[key]" in told
