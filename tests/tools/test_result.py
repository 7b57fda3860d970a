"""What a tool gives back is always a text that can be written down, with pictures and files beside it, and bounded."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import PurePosixPath

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from roles_runtime.llm.calls import ToolReturn
from roles_runtime.llm.parts import FilePart, ImagePart, Media, TextPart
from roles_runtime.tools.result import (
    MAX_ATTACHMENT_BYTES,
    MAX_RESULT_BYTES,
    ToolResult,
    capped,
    parts_of,
    result_of,
    words_of,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
PICTURE = Media(data=PNG)


class Book(BaseModel):
    title: str


class Shelf(msgspec.Struct):
    books: int
    since: datetime


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("mute")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("as it is", "as it is"),
        (None, "null"),
        ([float("nan"), float("inf"), -float("inf")], '["NaN","Infinity","-Infinity"]'),
        ({"raw": b"\xff\x00"}, '{"raw":"_wA="}'),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), '"2026-01-02T03:00:00Z"'),
        ({"wait": timedelta(seconds=90), "price": Decimal("1.50")}, '{"wait":"PT1M30S","price":"1.50"}'),
        ({1: "one", (2, 3): "two"}, '{"1":"one","2,3":"two"}'),
        (Book(title="Emma"), '{"title":"Emma"}'),
        ([Shelf(2, datetime(2026, 1, 2, tzinfo=UTC))], '[{"books":2,"since":"2026-01-02T00:00:00Z"}]'),
        ([PurePosixPath("a/b"), 1j], '["a/b","1j"]'),
        (Mute(), '"<Mute>"'),
        (["half \ud83d"], "['half \\ud83d']"),
    ],
)
def test_whatever_is_no_text_is_told_as_json(value: object, told: str) -> None:
    assert result_of(value) == told


def test_an_object_that_holds_itself_is_told() -> None:
    ring: list[object] = []
    ring.append(ring)
    assert "..." in str(result_of(ring))


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.binary()
    | st.datetimes()
    | st.builds(object),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner),
)


@given(value=values)
def test_whatever_a_tool_gives_back_can_be_written_down_and_read_again(value: object) -> None:
    result = result_of(value)
    assert isinstance(result, str)
    returned = ToolReturn(call_id="1", name="give", result=capped(result))
    assert ToolReturn.model_validate_json(returned.model_dump_json()) == returned


@given(value=st.recursive(st.none() | st.integers() | st.booleans(), lambda inner: st.lists(inner)))
def test_what_json_knows_is_told_as_it_is(value: object) -> None:
    assert json.loads(str(result_of(value))) == value


@pytest.mark.parametrize("make", [lambda: PICTURE, lambda: ImagePart(media=PICTURE), lambda: [PICTURE]])
def test_a_picture_is_an_attachment_and_the_text_names_it(make: Callable[[], object]) -> None:
    assert result_of(make()) == ToolResult("Attached: image/png", (ImagePart(media=PICTURE),))


def test_texts_and_media_of_a_list_are_told_apart_and_keep_their_order() -> None:
    page = Media(data=b"%PDF-1.7")
    result = result_of(["first", PICTURE, {"n": 1}, TextPart(text="last"), page])
    assert result == ToolResult('first\n{"n":1}\nlast', (ImagePart(media=PICTURE), FilePart(media=page)))


def test_attachments_beyond_the_bound_are_left_out_and_said() -> None:
    large = Media(data=PNG + bytes(MAX_ATTACHMENT_BYTES))
    result = result_of([large, PICTURE])
    assert isinstance(result, ToolResult)
    assert result.attachments == (ImagePart(media=PICTURE),)
    assert "left out: image of 8,388,624 bytes" in result.text


@given(text=st.text(st.characters(codec=None), max_size=50), times=st.integers(1, 3000))
def test_a_text_is_cut_to_its_bound_and_says_so(text: str, times: int) -> None:
    told = capped(text * times)
    size_bytes = len((text * times).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())
    assert (size_bytes > MAX_RESULT_BYTES) == ("[cut off:" in told)
    assert len(told.encode()) <= MAX_RESULT_BYTES + 100


def test_what_was_told_has_a_text_and_maybe_attachments() -> None:
    assert parts_of("text") == ("text", ())
    assert parts_of(ToolResult("seen", (ImagePart(media=PICTURE),))) == ("seen", (ImagePart(media=PICTURE),))


def test_an_error_is_told_by_its_kind_and_its_words() -> None:
    assert words_of(KeyError("price")) == "KeyError: 'price'"
    assert words_of(ValueError()) == "ValueError"
