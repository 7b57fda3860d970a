from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import DocumentError
from roles_runtime.posts.documents import MAX_BYTES, parse_yaml, read_yaml, write_yaml


def test_only_the_types_of_json_are_read() -> None:
    text = "a: yes\nb: 2024-01-01\nc: 12:30:45\nd: 0o17\ne: 1_000\nf: 1e5\ng: 017\nh: =\n"
    assert parse_yaml(text, "x") == {
        "a": "yes", "b": "2024-01-01", "c": "12:30:45", "d": "0o17", "e": "1_000", "f": "1e5", "g": "017", "h": "=",
    }  # fmt: skip
    assert parse_yaml("a: True\nb: null\nc:\nd: -12\ne: 1.50\nf: 'true'\n", "x") == {
        "a": True, "b": None, "c": None, "d": -12, "e": 1.5, "f": "true",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: &x [1]\n", r"^doc, line 2: anchors and aliases"),
        ("a: 1\nb: *x\n", r"^doc, line 2: .*(alias|anchor)"),
        ("a: 1\nb: !!python/object/apply:os.system ['id']\n", r"^doc, line 2: tags"),
        ("a: 1\nb: !!timestamp x\n", r"^doc, line 2: tags"),
        ("a: 1\n\nb: [1, 2\nc: 3", r"^doc, line [34]: "),
        ("a: 1\na: 2\n", r"^doc, line 2: a key must be text, and stand once"),
        ("? [a]\n: 1\n", r"^doc, line 1: a key must be text"),
        ("a: 1\n--- \nb: 2\n", r"^doc, line 2: "),
        ("- a\n- b\n", "it must be a mapping"),
        ("", "it must be a mapping"),
        ("just text", "it must be a mapping"),
        ("a: \x07\n", "it is no YAML"),
        ("a: " + "9" * 5000 + "\n", "it is no YAML"),
        ("a: " + "[" * 200 + "]" * 200, r"nested deeper than 100 levels"),
        ("a: " + "[" * 500_000, "nest"),
    ],
)
def test_what_is_hostile_or_broken_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        parse_yaml(text, "doc")


def test_a_missing_file_a_folder_and_a_pipe_are_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, problem in [("missing", "No such file"), (".", "regular file|directory"), ("pipe", "no regular file")]:
        with pytest.raises(DocumentError, match=problem) as caught:
            read_yaml(tmp_path / name)
        assert str(tmp_path) in caught.value.where


def test_a_file_above_a_mebibyte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text("a: " + "x" * (MAX_BYTES - 3), encoding="utf-8")
    assert len(str(read_yaml(path)["a"])) == MAX_BYTES - 3
    path.write_text("a: " + "x" * (MAX_BYTES - 2), encoding="utf-8")
    with pytest.raises(DocumentError, match=f"larger than {MAX_BYTES} bytes"):
        read_yaml(path)


def test_a_byte_order_mark_is_taken_and_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "chinese.yaml"
    path.write_bytes("\ufeffa: 预算\n".encode())
    assert read_yaml(path) == {"a": "预算"}
    path.write_bytes("a: 1\nb: 预算\n".encode("gb18030"))
    with pytest.raises(DocumentError, match=r"chinese\.yaml, line 2: it is not UTF-8"):
        read_yaml(path)


def test_several_lines_are_written_as_a_block_and_nothing_is_written_as_an_alias(tmp_path: Path) -> None:
    path, shared = tmp_path / "out.yaml", ["x"]
    write_yaml(path, {"message": "第一行\nsecond", "one": [*shared], "two": list(shared), "none": None})
    assert path.read_text(encoding="utf-8") == ("message: |-\n  第一行\n  second\none:\n- x\ntwo:\n- x\nnone: null\n")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "out.yaml"
    write_yaml(path, {"a": "old"})
    path_of_a_folder = tmp_path / "folder"
    path_of_a_folder.mkdir()
    with pytest.raises(OSError):  # noqa: PT011
        write_yaml(path_of_a_folder, {"a": "new"})
    with pytest.raises(DocumentError, match="surrogate"):
        write_yaml(path, {"a": "\ud83d"})
    with pytest.raises(FileNotFoundError):
        write_yaml(tmp_path / "missing" / "out.yaml", {"a": "new"})
    assert read_yaml(path) == {"a": "old"}
    assert sorted(os.listdir(tmp_path)) == ["folder", "out.yaml"]


_ODD = " \n\t-:#|>'\"{}[],&*!%@`~0123.eE+yno\u2028\x85\r\x07"
_TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text(alphabet=_ODD)
_JSON = st.recursive(
    _TEXT | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(_TEXT, _JSON, max_size=3))
def test_whatever_is_written_reads_back(tmp_path_factory: pytest.TempPathFactory, document: dict[str, object]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    write_yaml(path, document)  # type: ignore[arg-type]
    assert read_yaml(path) == document
