"""Whatever a provider's JSON is, it is an object, or one kind of error; and a count is a count."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.llm.decoding import MAX_TOKENS, decoded, json_text, raw_text, text_of, tokens


class Said(msgspec.Struct):
    text: str = ""
    number: object = None


class Kept(msgspec.Struct):
    text: str = ""
    raw: msgspec.Raw = msgspec.Raw(b"{}")


SAID, KEPT = msgspec.json.Decoder(Said), msgspec.json.Decoder(Kept)
NESTED = b"[" * 100_000


def test_half_of_a_sign_stays_for_the_other_to_come() -> None:
    assert decoded(SAID, b'{"text":"a\\ud83d"}').text == "a\ud83d"
    assert decoded(SAID, b'{"text":"\\ude00b"}').text == "\ude00b"
    assert decoded(SAID, b'{"text":"\\ud83d\\ude00"}').text == "😀"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"\\ud83d", "\ufffd"),
        (b"\\ude00\\ud83d", "\ufffd\ufffd"),
        (b"\\ud83d\\ud83d\\ude00", "\ufffd😀"),
        (b"\\\\ud83d\\ud83d", "\\ud83d\ufffd"),
        (b"\\\\\\ud83d", "\\\ufffd"),
    ],
)
def test_half_of_a_sign_is_replaced_where_bytes_are_kept_as_they_came(written: bytes, text: str) -> None:
    said = decoded(KEPT, b'{"text":"%b","raw":{"q":"%b"}}' % (written, written))
    assert said.text == text
    assert json.loads(raw_text(said.raw)) == {"q": text}


@given(st.text(st.characters(codec=None)))
def test_every_text_that_json_can_write_is_read(text: str) -> None:
    assert decoded(SAID, json.dumps({"text": text}).encode()).text == json.loads(json.dumps(text))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"text":7}',
        b'{"text":"\\ud8"}',
        b'{"text":"\xff"}',
        b'{"text":"\xff\\ud83d"}',
        b'{"text":"\\ud83d","number":' + NESTED,
        b'{"number":' + NESTED,
        b'{"text":"\\ud83d","number":NaN}',
        b'{"text":"\\ud83d","number":-Infinity}',
        b'{"text":"\\ud83d","number":1e999}',
        b'{"text":"\\ud83d","number":' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_such_json_is_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decoded(SAID, data)


def test_a_number_is_the_same_with_half_a_sign_beside_it() -> None:
    for number in (b"7", b"-1.5", b"123456789012345678", b"1" * 30):
        whole, halved = (decoded(SAID, b'{"text":"%b","number":%b}' % (text, number)) for text in (b"", b"\\ud83d"))
        assert halved.number == whole.number


def test_bytes_that_nobody_looked_at_are_told_to_be_no_utf8() -> None:
    with pytest.raises(msgspec.DecodeError, match="UTF-8"):
        raw_text(decoded(KEPT, b'{"raw":{"q":"\xff"}}').raw)


@pytest.mark.parametrize(
    ("usage", "count"),
    [
        ({"a": {"b": 7}}, 7),
        ({"a": {"b": 7.9}}, 7),
        ({"a": {"b": "12"}}, 12),
        ({"a": {"b": -1}}, 0),
        ({"a": {"b": True}}, 0),
        ({"a": {"b": "many"}}, 0),
        ({"a": {"b": "٣"}}, 0),
        ({"a": {"b": "9" * 5000}}, 0),
        ({"a": {"b": 10**30}}, MAX_TOKENS),
        ({"a": {"b": float("inf")}}, MAX_TOKENS),
        ({"a": {"b": float("nan")}}, 0),
        ({"a": [7]}, 0),
        ({"a": None}, 0),
        ([], 0),
        ("7", 0),
        (None, 0),
    ],
)
def test_a_count_of_tokens_is_a_count_whatever_was_said(usage: object, count: int) -> None:
    assert tokens(usage, "a", "b") == count


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("a", "a"),
        ("\ud83d", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        (7, "7"),
        (1.5, "1.5"),
        ({"a": ["东"]}, '{"a":["东"]}'),
        ({"a": "\ud83d"}, '{"a":"\ufffd"}'),
    ],
)
def test_what_stands_where_a_text_should_is_a_text(value: object, text: str) -> None:
    assert text_of(value) == text
    _ = text_of(value).encode()


def test_what_is_nested_too_deep_to_be_written_is_an_error_or_no_text() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(msgspec.DecodeError, match="too deep"):
        json_text(value)
    assert text_of(value) == ""
    while value:  # taken apart from outside, since it is too deep to be freed at once
        value = value.pop()  # type: ignore[assignment]
