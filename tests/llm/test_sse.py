"""Events and lines are the same, however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.llm import sse
from roles_runtime.llm.sse import EventDecoder, LineDecoder, ServerSentEvent, TooLongError

STREAM = (
    "\ufeff: a comment\r\n"
    "event: first\r\n"
    'data: {"text": "é😀"}\r\n'
    "\r\n"
    "data\n"
    "data: two\n"
    "data:three\n"
    "id: 7\n"
    "retry: 10\n"
    "\n"
    "event: nothing\n"
    "\n"
    "data: [DONE]\r\r"
    "data: cut off"
).encode()

EVENTS = [
    ServerSentEvent("first", '{"text": "é😀"}'.encode()),
    ServerSentEvent("message", b"\ntwo\nthree"),
    ServerSentEvent("message", b"[DONE]"),
]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def events(pieces: list[bytes]) -> list[ServerSentEvent]:
    decoder = EventDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)]


def test_events_follow_the_standard() -> None:
    assert events([STREAM]) == EVENTS


def test_every_cut_in_two_and_byte_by_byte_gives_the_same_events() -> None:
    for place in range(len(STREAM) + 1):
        assert events([STREAM[:place], STREAM[place:]]) == EVENTS
    assert events([STREAM[at : at + 1] for at in range(len(STREAM))]) == EVENTS


@given(st.lists(st.integers(min_value=0, max_value=10_000)))
def test_any_way_of_cutting_gives_the_same_events(places: list[int]) -> None:
    assert events(cut(STREAM, places)) == EVENTS


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b""]), max_size=30), st.lists(st.integers(0, 100)))
def test_lines_do_not_depend_on_the_cut(pieces: list[bytes], places: list[int]) -> None:
    data = b"".join(pieces)

    def lines(parts: list[bytes]) -> list[bytes]:
        decoder = LineDecoder()
        return [*(line for part in parts for line in decoder.feed(part)), *decoder.close()]

    assert lines(cut(data, places)) == lines([data])
    assert lines([data]) == _split(data)


def _split(data: bytes) -> list[bytes]:
    *lines, rest = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return [*lines, rest] if rest else lines


def test_what_never_ends_is_refused_and_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    with pytest.raises(TooLongError, match="a line of more than 100 bytes"):
        list(LineDecoder().feed(b"x" * 101))
    decoder = EventDecoder()
    many = b"data: xxxxxxxxxx\n" * 5
    list(decoder.feed(many))
    with pytest.raises(TooLongError, match="an event of more than 100 bytes"):
        list(decoder.feed(many))
