"""A stream's events are objects, or what they are instead is told."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import (
    ModelError,
    ModelRateLimitError,
    ModelRefusedError,
    StreamIncompleteError,
    StreamMalformedError,
)
from roles_runtime.llm import sse
from roles_runtime.llm.events import Events, Halves, format_of
from roles_runtime.llm.parts import mend_surrogates


class Said(msgspec.Struct):
    text: str = ""


def events() -> Events[Said]:
    return Events("openai:m", msgspec.json.Decoder(Said))


def ended(stream: bytes) -> ModelError:
    read = events()
    for at in range(len(stream)):
        assert list(read.feed(stream[at : at + 1])) == []
    return read.ended()


def test_events_are_decoded_and_done_is_none() -> None:
    assert list(events().feed(b': ping\n\ndata: {"text":"a"}\n\ndata:  [DONE] \n\n')) == [Said("a"), None]


@pytest.mark.parametrize("data", [b"data: {\n\n", b"data: 7\n\n", b'data: {"text":"\xff"}\n\n', b"data: <html>\n\n"])
def test_an_event_that_is_broken_is_an_error_of_its_stream(data: bytes) -> None:
    with pytest.raises(StreamMalformedError, match="not of its own format"), format_of("openai:m"):
        list(events().feed(data))


def test_an_event_without_an_end_is_an_error_of_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    with pytest.raises(StreamMalformedError, match="more than 100 bytes"), format_of("openai:m"):
        list(events().feed(b"data: " + b"x" * 100))


@pytest.mark.parametrize(
    "stream",
    [b"", b"\n\n", b"d", b"data", b'data: {"te', b'data: {"text":"\\ud83d', b"event: x\n", b": ping\n\n" * 9],
)
def test_a_stream_that_ends_before_its_first_event_does_is_incomplete(stream: bytes) -> None:
    assert type(ended(stream)) is StreamIncompleteError


def test_a_stream_that_ends_after_an_event_is_incomplete() -> None:
    read = events()
    list(read.feed(b"data: {}\n\n<html>"))
    assert type(read.ended()) is StreamIncompleteError


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>\n<head><title>Log in</title>\n\n</html>", "no stream: an HTML page: Log in. Check the base_url."),
        (b"Nothing is here.\n", "no stream: Nothing is here. Check the base_url."),
        (b'{"choices":[]}', 'no stream: {"choices":[]}. Check the base_url.'),
        (b"\xff\xfe", "no stream: \ufffd\ufffd. Check the base_url."),
    ],
)
def test_what_is_no_stream_is_told_with_what_to_do(body: bytes, told: str) -> None:
    error = ended(body)
    assert type(error) is StreamMalformedError
    assert str(error) == f"Model openai:m: it answered with what is {told}"


def test_what_is_no_stream_is_told_within_a_bound() -> None:
    assert len(str(ended(b"x" * 70_000))) < 500


def test_a_complaint_in_place_of_a_stream_is_the_error_it_stands_for() -> None:
    assert type(ended(b'{"error":{"message":"busy","code":429}}')) is ModelRateLimitError
    assert type(ended(b'{"error":"no"}')) is ModelRefusedError


@given(st.lists(st.sampled_from(["a", "东", "😀", "\ud83d", "\ude00", ""])))
def test_halves_are_joined_wherever_a_text_was_cut(pieces: list[str]) -> None:
    halves = Halves()
    joined = [*(halves.join(each) for each in pieces), halves.rest()]
    assert "".join(joined) == mend_surrogates("".join(pieces))
    for each in joined:
        _ = each.encode()
