from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.answers import answer, cuts
from roles_runtime.posts.reader import PostReader


def _read(chunks: Iterable[str]) -> tuple[list[tuple[str, str, bool]], PostReader]:
    """Each value with its key, its text joined from its pieces, and whether it was whole."""
    reader = PostReader()
    values: list[tuple[str, str, bool]] = []
    for chunk in chunks:
        pieces = reader.feed(chunk)
        assert all(piece.whole is not None for piece in pieces[:-1])
        for piece in pieces:
            text = piece.text
            if values and not values[-1][2]:
                assert values[-1][0] == piece.key
                text = values.pop()[1] + text
            values.append((piece.key, text, piece.whole is not None))
            assert piece.whole is None or piece.whole == text
    assert reader.close() == []
    return values, reader


def _in_words(text: str, seed: int) -> list[str]:
    generator = random.Random(seed)
    words, chunks = text.split(" "), []
    while words:
        count = generator.randint(1, 10)
        chunks.append(" ".join(words[:count]) + (" " if len(words) > count else ""))
        words = words[count:]
    return chunks


def test_seven_string_values_come_out_of_random_chunks() -> None:  # TW-1
    fields = {
        "thought": "This is the thought",
        "python": "print('hello, \"world\"')\nx = 1",
        "text": "This is the text",
        "execution_status": "SUCCESS",
        "execution_result": "This is the execution result",
        "send_to": "Planner",
        "message": "This is the message",
    }
    for seed in range(20):
        values, reader = _read(_in_words(answer(**fields), seed))
        assert values == [(key, value, True) for key, value in fields.items()]
        assert (reader.done, reader.problem) == (True, None)


_MIXED = (
    '{"response": {"thought": "This is the thought", "python": "print(1)", '
    '"text": {"error": {"type": "t1", "content": "This is the error"}}, "execution_status": 1, '
    '"execution_result": ["This", "is the execution", "result"], "send_to": "Planner", "message": "This is the message"'
    ', "obj_in_arr": [{"key1": "value1"}, {"key2": "value2"}], '
    '"arr_in_obj": {"key1": ["value1", "value2"], "key2": ["value3", "value4"]}}}'
)


def test_values_that_are_no_strings_come_as_their_json_text() -> None:  # TW-2
    for chunks in [*cuts(_MIXED), *(_in_words(_MIXED, seed) for seed in range(10))]:
        values, _ = _read(chunks)
        assert [value for _, value, _ in values] == [
            "This is the thought",
            "print(1)",
            '{"error": {"type": "t1", "content": "This is the error"}}',
            "1",
            '["This", "is the execution", "result"]',
            "Planner",
            "This is the message",
            '[{"key1": "value1"}, {"key2": "value2"}]',
            '{"key1": ["value1", "value2"], "key2": ["value3", "value4"]}',
        ]
        assert all(whole for _, _, whole in values)


def test_an_object_left_open_swallows_what_follows_and_the_answer_is_never_whole() -> None:  # TW-3
    text = '{"response": {"thought": "t", "python": "p", "text": {"error": "e", "send_to": "Planner", "message": "m"}}'
    for chunks in cuts(text):
        values, reader = _read(chunks)
        assert values == [
            ("thought", "t", True),
            ("python", "p", True),
            ("text", '{"error": "e", "send_to": "Planner", "message": "m"}', True),
        ]
        assert (reader.done, reader.problem) == (False, 'it ends before its last "}"')


@pytest.mark.parametrize(
    ("value", "text"),
    [("true", "true"), ("false", "false"), ("null", ""), ("12.50", "12.50"), ("-3e2", "-3e2"), ('"true"', "true")],
)
def test_literals_and_numbers_are_exact(value: str, text: str) -> None:  # TW-13, TW-14
    for chunks in cuts(f'{{"response": {{"stop": {value}, "message": {value}}}}}'):
        assert _read(chunks)[0] == [("stop", text, True), ("message", text, True)]


_BODY = '{"response": {"message": "hi {x}", "send_to": "User"}}'


@pytest.mark.parametrize(
    ("before", "reasoning"),
    [
        ("", ""),
        ("\ufeff \n", ""),
        ("```json\n", ""),
        ("```\n", ""),
        ("Here is the JSON:\n", ""),
        ("Use {braces} and [lists], as in {'a': 1} or {\"a\": 1}:\n```json\n", ""),
        ("{", ""),
        ("<think>hmm</think>", "hmm"),
        ('<think>\nI could say {"response": {"message": "draft"}} or so\n</think>\n\n```json\n', None),
        ("a < b, <b>bold</b>, <thin <think>one</think> then <think>two</think>", "one\ntwo"),
        ("the opening tag was in the prompt</think>", "the opening tag was in the prompt"),
    ],
)
@pytest.mark.parametrize("after", ["", " extra text", "\n```\n", "}}}", ', "second": {"message": "no"}}', _BODY])
def test_what_stands_round_the_object_is_taken_off(before: str, reasoning: str | None, after: str) -> None:  # TW-11
    for chunks in cuts(before + _BODY + after):
        values, reader = _read(chunks)
        assert values == [("message", "hi {x}", True), ("send_to", "User", True)]
        assert (reader.done, reader.problem) == (True, None)
        if reasoning is None:
            assert reader.reasoning == 'I could say {"response": {"message": "draft"}} or so'
        else:
            assert reader.reasoning == reasoning


def test_the_first_response_counts_and_other_root_keys_are_skipped() -> None:  # TW-11
    text = '{"note": {"response": {"message": "no"}}, "response": {"message": "yes"}, "response": {"message": "late"}}'
    for chunks in cuts(text):
        assert _read(chunks)[0] == [("message", "yes", True)]


_NO_OBJECT = 'it is no JSON object with the key "response"'


@pytest.mark.parametrize(
    ("text", "problem"),
    [  # TW-10, TW-12, TW-16
        ("", "it is empty"),
        (" \n\t", "it is empty"),
        ("Hello there", _NO_OBJECT),
        ("<b", _NO_OBJECT),
        ('{"message": "hi"}', _NO_OBJECT),
        ('{"Response": {}}', _NO_OBJECT),
        ("{}", _NO_OBJECT),
        ('"response"', _NO_OBJECT),
        ("{" * 2000, _NO_OBJECT),
        ('{"response": "hello"}', 'its "response" is no JSON object'),
        ('{"response": null}', 'its "response" is no JSON object'),
        ('{"response": [{"type": "plan", "content": "x"}]}', 'its "response" is no JSON object'),
        ('[{"response": {"message": "a"}}]', 'it is a list; it must be one JSON object with the key "response"'),
        ("<think>hmm", "it ends inside its <think> block"),
        ("<think>hmm</thi", "it ends inside its <think> block"),
        ("<think>hmm</think>\n", f"it is reasoning only, and {_NO_OBJECT}"),
        ('{"resp', 'it ends before the key "response"'),
        ('{"response"', 'it ends before the key "response"'),
        ('{"response": {', 'it ends before its "response" is closed'),
        ('{"response": {"mess', 'it ends before its "response" is closed'),
        ('{"response": {"message": "a"', 'it ends before its "response" is closed'),
        ('{"response": {"message"', 'it ends inside "message"'),
        ('{"response": {"message": "This is ', 'it ends inside "message"'),
        ('{"response": {"stop": tru', 'it ends inside "stop"'),
        ('{"response": {"stop": 12', 'it ends inside "stop"'),
        ('{"response": {"plan": [1, {"a": "', 'it ends inside "plan"'),
        ('{"response": {"message": "a"}', 'it ends before its last "}"'),
        ('{"response": {"message": "a"}, "x": [1', 'it ends before its last "}"'),
        ('{"response": {"message": "a"}]', "it is no valid JSON: ']' stands where ',' or '}' must be"),
        ('{"response": {"plan": yes}}', "it is no valid JSON in \"plan\": 'yes' is no JSON value"),
        ('{"response": {"plan": "a\\qb"}}', "it is no valid JSON in \"plan\": '\\\\q' is no JSON escape"),
        ('{"response": {"a": "b" "c"}}', "it is no valid JSON: '\"' stands where ',' or '}' must be"),
        ('{"message" "hi"}', "it is no valid JSON: '\"' stands where ':' must be"),
    ],
)
def test_a_bad_answer_says_exactly_what_is_wrong_however_it_is_cut(text: str, problem: str) -> None:
    for chunks in cuts(text) if len(text) < 200 else [[text], list(text)]:
        _, reader = _read(chunks)
        assert (reader.done, reader.problem) == (False, problem)


def test_what_came_before_a_fault_is_kept_however_it_is_cut() -> None:
    for chunks in cuts('{"response": {"thought": "whole", "plan": "half\\q lost", "message": "lost"}}'):
        assert _read(chunks)[0] == [("thought", "whole", True), ("plan", "half", False)]


def test_no_proper_prefix_of_an_answer_is_whole() -> None:
    text = answer(thought="a", stop=None, plan=[1, {}], message="b\n")
    for end in range(len(text)):
        _, reader = _read([text[:end]])
        assert (reader.done, reader.problem is None) == (False, False)


_TEXTS = st.text(max_size=20) | st.text(alphabet='{}[]":,\\<>/think`\n\ud83d\ude00 ', max_size=20)


@given(st.dictionaries(st.text(min_size=1, max_size=8), _TEXTS | st.integers() | st.none(), max_size=5), st.data())
def test_any_answer_reads_the_same_however_it_is_cut(fields: dict[str, object], data: st.DataObject) -> None:
    text = answer(**fields)
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5)))
    chunks = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    values, reader = _read(chunks)
    assert reader.done
    expected = [str(value) if value is not None else "" for value in fields.values()]
    assert [key for key, _, _ in values] == [_valid(key) for key in fields]
    assert [value for _, value, _ in values] == [_valid(value) for value in expected]


@given(st.text(alphabet='{}"response:,<think>/\\ \n[', max_size=60), st.data())
def test_any_text_is_judged_the_same_however_it_is_cut(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5)))
    chunks = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    cut, whole = _read(chunks), _read([text])
    assert cut[0] == whole[0]
    assert (cut[1].problem, cut[1].reasoning) == (whole[1].problem, whole[1].reasoning)


def _valid(text: str) -> str:
    """The text with whole surrogate pairs joined, and halves replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
