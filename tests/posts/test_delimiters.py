from __future__ import annotations

import pytest

from roles_runtime.posts import delimiters
from roles_runtime.posts.delimiters import (
    DELIMITER_TEMPORAL,
    remove_all_delimiters,
    remove_delimiter,
    remove_parts,
    wrap_text_with_delimiter,
)

S, E = DELIMITER_TEMPORAL


def test_wrapped_text_stands_between_the_marks_and_goes_with_them() -> None:  # TW-24
    wrapped = wrap_text_with_delimiter("long result", DELIMITER_TEMPORAL)
    assert wrapped == f"{S}long result{E}"
    assert remove_delimiter(wrapped) == "long result"
    assert remove_parts(wrapped) == ""


def test_only_the_wrapped_part_goes() -> None:  # TW-24
    text = f"A. {S}x{E} B."
    assert remove_parts(text) == "A.  B."
    assert remove_all_delimiters(text) == "A. x B."


def test_a_lone_mark_is_no_part_but_is_stripped_as_a_mark() -> None:  # TW-24
    assert remove_parts(f"a{S}b") == f"a{S}b"
    assert remove_all_delimiters(f"a{S}b") == "ab"


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # TW-25
        ("aSbEc", "ac"),
        ("SaSbEcEd", "cEd"),
        ("EaSb", "EaSb"),
        ("EaSbEz", "Eaz"),
        ("aSSbE", "a"),
        ("SE", ""),
        ("aS1EbS2Ec", "abc"),
        ("aS1EbS2", "abS2"),
        ("Ex", "Ex"),
        ("", ""),
    ],
)
def test_parts_go_from_an_opening_mark_to_the_first_closing_one(text: str, expected: str) -> None:
    assert remove_parts(_marked(text)) == _marked(expected)


def _marked(text: str) -> str:
    return "".join({"S": S, "E": E}.get(char, char) for char in text)


def test_a_further_pair_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimiters, "DELIMITER_SECRET", ("<<", ">>"), raising=False)
    assert remove_all_delimiters(f"<<a>>{S}b{E}") == "ab"
    assert remove_parts("x<<a>>y", ("<<", ">>")) == "xy"
