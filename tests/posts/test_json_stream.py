from __future__ import annotations

import json
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.answers import cuts
from roles_runtime.posts.json_stream import MAX_DEPTH, JsonEvent, JsonStream, JsonWriter, Kind


def _read(chunks: Iterable[str], *, skip_after_root: bool = False) -> tuple[str, str | None]:
    """What was read, written down again, and the problem."""
    stream, writer = JsonStream(skip_after_root=skip_after_root), JsonWriter()
    for chunk in chunks:
        for event in stream.feed(chunk)[0]:
            writer.write(event)
    for event in stream.close():
        writer.write(event)
    assert stream.done is (stream.problem is None)
    return writer.text, stream.problem


def _merged(chunks: Iterable[str]) -> tuple[list[JsonEvent], str | None]:
    """The events, with the pieces of each string joined: the same for every way of cutting."""
    stream = JsonStream()
    events = [event for chunk in chunks for event in stream.feed(chunk)[0]]
    events += stream.close()
    merged: list[JsonEvent] = []
    for event in events:
        if event.kind is Kind.TEXT and merged and merged[-1].kind is Kind.TEXT:
            event = JsonEvent(Kind.TEXT, merged.pop().text + event.text)
        merged.append(event)
    return merged, stream.problem


_DOCUMENTS = [  # TW-20
    "[[[]], []]",
    "[true, false, null]",
    "123.345",
    '"a\\"b"',
    '"\\r\\n\\u1234\\f\\b\\t\\/\\\\"',
    '{"a": {"b": [{"c": {}}]}, "d": ""}',
    "{}",
    '{"\\u00e9\\n": -1.5e+10}',
    '["\\ud83d\\ude00", "é", "\U0001f600"]',
]


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_a_document_reads_as_the_standard_library_reads_it(document: str) -> None:
    for chunks in cuts(document):
        text, problem = _read(chunks)
        assert problem is None
        assert json.loads(text) == json.loads(document)


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_every_proper_prefix_is_incomplete(document: str) -> None:
    for end in range(len(document)):
        prefix = document[:end]
        problem = _read([prefix])[1]
        # The prefix of a number may be a number itself.
        assert (problem is None) is (re.fullmatch(r"[0-9]+(\.[0-9]+)?", prefix) is not None)


@pytest.mark.parametrize(
    "document",
    [  # TW-21
        " \r\n\t[ 1 ,\n2 ]\t",
        '\n{ "a" : 1 ,\r\n "b"\t:\t[ ] } ',
        ' "x" ',
        "[\n]",
        "{\t}",
    ],
)
def test_blanks_may_stand_anywhere_between(document: str) -> None:
    assert json.loads(_read([document])[0]) == json.loads(document)


_BROKEN = [  # TW-22
    " - ",
    "'abc'",
    '"\\a"',
    "\\a",
    "{} {}",
    "[[[]}]",
    '""""',
    "{'abc': 'def'}",
    "[[[[{{{{0}}}}]]]]",
    "   ",
    "",
    "((((()))))",
    '"\\"',
    '"abc',
    "[1,2,3",
    '{"abc',
    '{"abc":',
    '{"abc":}',
    '{"abc":1',
    "123,456,789",
    "undefined",
    "None",
    "{true: false}",
    "[1,]",  # TW-23
    "1.2.3",
    "NaN",
    "1.",
    "1e",
    "--1",
    '"\\u12g4"',
    '{"a" 1}',
    '{"a":1 "b":2}',
    "{,}",
    "[,]",
]


@pytest.mark.parametrize("document", _BROKEN)
def test_broken_json_is_a_problem_and_the_same_one_however_it_is_cut(document: str) -> None:
    whole = _merged([document])
    assert whole[1] is not None
    assert all(_merged(chunks) == whole for chunks in cuts(document))


@pytest.mark.parametrize(
    ("document", "value"), [('{"a":1,}', {"a": 1}), ("01", 1), ("-0", 0), ("1.5e3", 1500.0), ("-007.5", -7.5)]
)
def test_careless_numbers_and_commas_are_taken(document: str, value: object) -> None:  # TW-23
    text, problem = _read([document])
    assert problem is None
    assert json.loads(text) == value


def test_what_follows_the_root_is_skipped_where_asked() -> None:  # TW-23
    for chunks in cuts("{} {}"):
        assert _read(chunks, skip_after_root=True) == ("{}", None)


def test_feed_says_where_it_stopped() -> None:
    stream = JsonStream(skip_after_root=True)
    assert stream.feed('..{"a":1} rest', 2)[1] == 9
    broken = JsonStream()
    assert broken.feed("[1 x]")[1] == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\\ud83d\\ude00", "\U0001f600"),
        ("\\uD83D\\uDE00!", "\U0001f600!"),
        ("a\\ud83d", "a\ufffd"),
        ("\\ud83dx", "\ufffdx"),
        ("\\ude00", "\ufffd"),
        ("\\ud83d\\ud83d\\ude00", "\ufffd\U0001f600"),
        ("\\ud83d\\n", "\ufffd\n"),
        ("\\ud83d\\u0041", "\ufffdA"),
        ("\ud83d", "\ufffd"),
        ("\ud83d\ude00", "\ufffd\ufffd"),
        ("raw\n\ttab\x00", "raw\n\ttab\x00"),
    ],
)
def test_escapes_are_exact_and_half_a_pair_becomes_the_replacement_character(text: str, value: str) -> None:
    for chunks in cuts(f'"{text}"'):
        written, problem = _read(chunks)
        assert problem is None
        assert json.loads(written) == value
        json.loads(written).encode("utf-8")


def test_nesting_is_bounded_without_recursion() -> None:
    assert _read(["[" * MAX_DEPTH + "]" * MAX_DEPTH])[1] is None
    assert _read(["[" * 1_000_000])[1] == f"it is nested deeper than {MAX_DEPTH} levels"


def test_a_number_of_any_length_keeps_its_digits() -> None:
    assert _read(["9" * 100_000])[0] == "9" * 100_000


def test_a_fault_ends_the_reading() -> None:
    stream = JsonStream()
    stream.feed("[1 x")
    assert stream.feed("]") == ([], 0)
    assert stream.problem == "'x' stands where ',' or ']' must be"


def _values() -> st.SearchStrategy[object]:
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
    )


@st.composite
def _cut(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@given(st.data(), _values(), st.booleans(), st.sampled_from([None, 2]))
def test_any_document_reads_as_the_standard_library_writes_it(
    data: st.DataObject, value: object, ascii_only: bool, indent: int | None
) -> None:
    document = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    text, problem = _read(data.draw(_cut(document)))
    assert problem is None
    assert text == json.dumps(value)


@given(st.data(), st.dictionaries(st.text(), _values(), max_size=4))
def test_any_prefix_of_an_object_is_incomplete_and_never_raises(data: st.DataObject, value: dict[str, object]) -> None:
    document = json.dumps(value)
    prefix = document[: data.draw(st.integers(0, len(document) - 1))]
    assert _merged(data.draw(_cut(prefix)))[1] is not None


@given(st.data(), st.text(alphabet='{}[]",:\\u01dea8tfn.-+ \n', max_size=40))
def test_any_text_is_judged_the_same_however_it_is_cut(data: st.DataObject, text: str) -> None:
    assert _merged(data.draw(_cut(text))) == _merged([text])


@given(st.text(alphabet='{}[]",:\\u01dea8tfn.-+ \n', max_size=30))
def test_what_the_standard_library_accepts_is_accepted(text: str) -> None:
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        return
    assert _read([text])[1] is None
    if isinstance(value, list | dict):
        return
    assert json.loads(_read([text])[0]) == value or isinstance(value, str)
