from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.apps.text import MAX_SHOWN_CHARS, clean, json_text, one_line, shortened

ANYTHING = st.text(st.characters(codec=None) | st.sampled_from("\x1b[]31m;\x07\x9b\\P\u202e\r\n"))
HARMLESS = {"\n", "\t"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("\x1bPqsixel\x1b\\after", "after"),
        ("\x1b[2", "[2"),
        ("a\x08b\x7fc", "abc"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("one\rtwo\r\nthree\u2028four", "one\ntwo\nthree\nfour"),
        ("half \ud800 a pair", "half  a pair"),
        ("[red]markup[/red] :smile:", "[red]markup[/red] :smile:"),
        ("中文 \N{WOMAN}\u200d\N{ROCKET} é", "中文 \N{WOMAN}\u200d\N{ROCKET} é"),
    ],
)
def test_what_a_terminal_would_obey_is_taken_out_and_the_rest_stays(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(ANYTHING)
def test_clean_text_never_holds_a_control_character_or_what_no_file_can_keep(text: str) -> None:
    cleaned = clean(text)

    assert all(unicodedata.category(each) != "Cc" or each in HARMLESS for each in cleaned)
    cleaned.encode("utf-8")
    assert not set(cleaned) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


@given(ANYTHING)
def test_one_line_is_one_line(text: str) -> None:
    line = one_line(text, 20)

    assert "\n" not in line
    assert "\t" not in line
    assert len(line) <= 20


def test_a_text_of_ten_megabytes_is_shortened_and_says_so() -> None:
    shown = shortened("x" * 10_000_000)

    assert len(shown) < MAX_SHOWN_CHARS + 100
    assert shown.endswith("and 9,980,000 more characters.")


@given(ANYTHING)
def test_json_is_the_same_document_and_safe_to_show(text: str) -> None:
    line = json_text({"text": text})

    assert clean(line) == line
    assert json.loads(line) == {"text": text}
    line.encode("utf-8")
