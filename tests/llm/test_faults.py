"""What a provider says is told on a line, and never the key, whole or in pieces."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from roles_runtime.errors import ContextWindowError, ModelError, ModelRateLimitError
from roles_runtime.llm.faults import (
    MAX_CODE,
    MAX_WORDS,
    MIN_KEY_CHARS,
    PIECE_CHARS,
    fault_by_words,
    masked,
    one_line,
    without_key,
)

KEY = "Zx9.odd+value/123=="


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"Your key {KEY}.", "Your key [key]."),
        (f"{KEY}{KEY}", "[key]"),
        (f"Your key {KEY[:10]}… is bad", "Your key [key]… is bad"),
        (f"Your key {KEY[:8]}***{KEY[-8:]}", "Your key [key]***[key]"),
        (f"Your key {KEY[:9]}\n{KEY[9:]}", "Your key [key]\n[key]"),
        (f"/v1?key={quote(KEY, safe='')}&x=1", "/v1?key=[key]&x=1"),
        (f"It begins with {KEY[:7]}", f"It begins with {KEY[:7]}"),
        ("", ""),
    ],
)
def test_a_key_is_taken_out_whole_and_in_pieces(said: str, told: str) -> None:
    assert masked(said, KEY) == told


@given(
    st.text("abc=", min_size=MIN_KEY_CHARS, max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.text("ab c", max_size=4))),
)
def test_no_piece_of_a_key_is_left_however_it_was_cut(key: str, cuts: list[tuple[int, int, str]]) -> None:
    said = "".join(key[start:end] + between for start, end, between in cuts)
    told = masked(said, key)
    size = min(PIECE_CHARS, len(key))
    assert not any(key[at : at + size] in told for at in range(len(key) - size + 1))


def test_an_error_is_rid_of_the_key_in_all_it_holds() -> None:
    error = without_key(ModelError("openai:m", f"Bad: {KEY[3:]}"), SecretStr(f" {KEY}\n"))
    assert (error.problem, str(error)) == ("Bad: [key]", "Model openai:m: Bad: [key]")


def test_a_key_that_is_a_mere_word_spoils_nothing() -> None:
    said = "Model openai:m: it takes no key"
    for key in (None, SecretStr(""), SecretStr("takes")):
        assert str(without_key(ModelError("openai:m", "it takes no key"), key)) == said


def test_words_are_one_line_of_whole_letters_and_bounded() -> None:
    assert one_line("a\r\n b\ud83d\ude00\ud83d") == "a b😀\ufffd"
    assert one_line("x" * 10_000_000) == "x" * MAX_WORDS + "…"
    assert one_line("abcdef", 3) == "abc…"


def test_a_code_is_bounded_as_words_are() -> None:
    error = fault_by_words("openai:m", 0, "c\n" * 1_000_000, "no")
    assert len(str(error)) < 3 * MAX_CODE
    assert "\n" not in str(error)


def test_a_code_and_words_say_which_error_it_is() -> None:
    assert type(fault_by_words("openai:m", 0, "rate_limit_exceeded", "no")) is ModelRateLimitError
    assert type(fault_by_words("openai:m", 400, "", "x" * 5000 + " prompt is too long")) is ContextWindowError
