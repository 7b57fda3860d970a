from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.session import Session

from roles_runtime.kernels.jupyter import Message, Wire

KEY = "k" * 64


def _frames(wire: Wire, content: str, parent: str = '{"msg_id": "p"}') -> list[bytes]:
    parts = [b'{"msg_type": "stream"}', parent.encode(), b"{}", content.encode()]
    return [b"topic", b"<IDS|MSG>", wire._signature(parts), *parts]


def _read(content: str) -> Message:
    wire = Wire(KEY)
    found = wire.read(_frames(wire, content))
    assert found is not None
    return found


def test_the_kernels_own_library_reads_what_is_composed_and_the_other_way_round() -> None:
    wire, theirs = Wire(KEY), Session(key=KEY.encode())
    message_id, frames = wire.compose("execute_request", {"code": "1 # é"}, {"traceparent": "t"})
    read = theirs.deserialize(theirs.feed_identities(frames)[1])
    assert (read["msg_id"], read["content"], read["metadata"]) == (
        message_id,
        {"code": "1 # é"},
        {"traceparent": "t"},
    )
    answer = theirs.msg("stream", {"name": "stdout", "text": "1 é"}, parent=read)
    found = wire.read([b"topic", *theirs.serialize(answer)])
    assert found is not None
    assert (found.kind, found.parent_id, found.content.text("text")) == ("stream", message_id, "1 é")


def test_what_another_key_signed_is_none() -> None:
    assert Wire(KEY).read(_frames(Wire("x" * 64), "{}")) is None


@given(st.lists(st.binary(max_size=20) | st.just(b"<IDS|MSG>"), max_size=9))
def test_no_frames_make_it_raise(frames: list[bytes]) -> None:
    assert Wire(KEY).read(frames) is None


@pytest.mark.parametrize("content", ["", "[]", "5", "null", "{", '{"a": ', "\ufeff{}", "[" * 100_000])
def test_what_is_no_object_is_no_message(content: str) -> None:
    wire = Wire(KEY)
    assert wire.read(_frames(wire, content)) is None
    assert wire.read(_frames(wire, "{}", parent=content)) is None


def test_half_a_surrogate_pair_makes_no_message_and_a_whole_one_is_text() -> None:
    wire = Wire(KEY)
    for half in (r'{"text": "\ud800"}', r'{"data": {"text/plain": "\udfff"}}', r'{"lines": ["a", "\ud83dx"]}'):
        assert wire.read(_frames(wire, half)) is None
    assert _read(r'{"text": "\ud83d\ude00"}').content.text("text") == "😀"


def test_code_with_half_a_surrogate_pair_can_be_sent() -> None:
    _, frames = Wire(KEY).compose("execute_request", {"code": "x = '\ud800'"})
    assert json.loads(frames[-1]) == {"code": "x = '\ud800'"}


@pytest.mark.parametrize("value", ["null", "5", "[1]", "{}", "[[", '["a", 5]'])
def test_a_field_of_another_kind_is_missing(value: str) -> None:
    wire = Wire(KEY)
    found = wire.read(_frames(wire, f'{{"x": {value}}}'))
    if found is not None:
        assert (found.content.text("x"), found.content.texts("x")) == ("", [])
        assert found.content.fields("x").text("y") == ""
        assert "y" not in found.content.fields("x")


def test_what_nobody_asks_for_is_not_decoded() -> None:
    found = _read(f'{{"text": "x", "bomb": {"[" * 500 + "1" * 400 + "]" * 500}, "data": {{"a": {"9" * 9_000}}}}}')
    assert found.content.text("text") == "x"
    assert found.content.fields("data").text("a") == ""
