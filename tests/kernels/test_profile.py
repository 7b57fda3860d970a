from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.tables import TABLES, load_table, write_table
from roles_runtime.errors import KernelError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.profile import profile_code, read_profiles
from roles_runtime.posts.shared import FileProfile

pytestmark = pytest.mark.anyio


async def profiled(session: Callable, *names: str) -> list[FileProfile]:
    done = await session(profile_code(names))
    assert (done.outcome, done.output, done.artifacts) == ("ok", "", ())
    return list(read_profiles(done).files)


async def one(session: Callable, name: str, content: bytes) -> FileProfile:
    given = session.workspace.write(name, content)
    (profile,) = await profiled(session, given)
    assert profile.name == given
    if profile.read_call:
        # What is handed on must read the same table again.
        assert (await session(f"len({profile.read_call})")).output == str(profile.rows)
    return profile


async def test_columns_types_and_values_are_seen(walled: Callable) -> None:
    profile = await one(
        walled, "sales.csv", b"city,n,x,when,ok\nBonn,1,1.5,2024-01-02,True\nBonn,2,,2024-02-03,False\n"
    )
    assert (profile.format, profile.rows, profile.problem) == ("csv", 2, "")
    assert [column.dtype for column in profile.columns] == ["text", "integer", "number", "date", "boolean"]
    city, number, x, when, _ = profile.columns
    assert (city.distinct, city.distinct_count, city.missing) == (("Bonn",), 1, 0)
    assert (number.minimum, number.maximum) == ("1", "2")
    assert (x.missing, x.distinct) == (1, ("1.5",))
    assert (when.minimum, when.maximum) == ("2024-01-02", "2024-02-03")
    assert profile.first_rows[0] == ("Bonn", "1", "1.5", "2024-01-02", "True")
    assert "parse_dates=['when']" in profile.read_call


@pytest.mark.parametrize(
    ("name", "content", "part", "first"),
    [
        ("gb.csv", "城市,销售\n北京,1\n上海,2\n".encode("gb18030"), "encoding='gb18030'", "北京"),
        ("bom.csv", "城市,n\n北京,1\n".encode("utf-8-sig"), "encoding='utf-8-sig'", "北京"),
        ("u16.csv", "a,n\nx,1\n".encode("utf-16"), "encoding='utf-16'", "x"),
        ("latin.csv", "name,n\ncafé,1\nnaïve,2\n".encode("cp1252"), "encoding='cp1252'", "café"),
        ("semi.csv", b"a;n\nx;1\n", "sep=';'", "x"),
        ("tabs.tsv", b"a\tn\nx\t1\n", "sep='\\t'", "x"),
        ("lines.jsonl", b'{"a": "x", "n": 1}\n', "lines=True", "x"),
        ("list.json", b'[{"a": "x", "n": 1}]', "read_json", "x"),
        ("days.csv", b"d,n\n13/02/2024,1\n01/02/2024,2\n", "dayfirst=True", "2024-02-13"),
    ],
)
async def test_encodings_and_separators_are_found(
    walled: Callable, name: str, content: bytes, part: str, first: str
) -> None:
    profile = await one(walled, name, content)
    assert part in profile.read_call
    assert profile.first_rows[0][0] == first
    assert profile.problem == ""


@pytest.mark.parametrize("values", [b"03/04/2024\n05/06/2024", b"20240102\n20240103", b"2024-01-02\nsoon", b"1-2\n3-4"])
async def test_what_may_be_no_date_stays_as_it_is(walled: Callable, values: bytes) -> None:
    profile = await one(walled, "doubt.csv", b"d\n" + values + b"\n")
    assert profile.columns[0].dtype != "date"


async def test_ragged_rows_are_left_out_and_it_is_said(walled: Callable) -> None:
    profile = await one(walled, "ragged.csv", b"a,b\n1,2\n3,4,5\n6,7\n")
    assert profile.rows == 2
    assert "left out" in profile.problem


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("empty.csv", b"", "empty"),
        ("blank.csv", b"\n\n", "no text"),
        ("binary.csv", bytes(range(256)) * 4, "binary"),
        ("binary.bin", b"\x00\x01\x02", "binary"),
        ("notes.txt", b"Dear all,\nthis is a letter.\n", "no table"),
        ("broken.json", b'{"a": ', "Expected"),
        ("fake.xlsx", b"not a zip", "could not be read"),
        ("fake.parquet", b"not parquet", "could not be read"),
    ],
)
async def test_what_is_no_table_says_why(walled: Callable, name: str, content: bytes, problem: str) -> None:
    profile = await one(walled, name, content)
    assert (profile.format, profile.read_call, profile.columns) == ("other", "", ())
    assert problem.lower() in profile.problem.lower()


async def test_a_missing_file_and_hostile_names_do_no_harm(walled: Callable) -> None:
    name = "x'); import os; os.mkdir('owned') #.csv"
    given = walled.workspace.write(name, b"a,b\n1,2\n")
    missing, hostile = await profiled(walled, "nowhere.csv", given)
    assert missing.problem == "there is no such file"
    assert hostile.rows == 1
    assert (await walled(f"len({hostile.read_call})")).output == "1"
    assert not (walled.workspace.files / "owned").exists()


async def test_it_leaves_no_name_behind_and_is_no_output(walled: Callable) -> None:
    look = "sorted(name for name in globals() if name[0] != '_')"
    before = (await walled(look)).output
    await one(walled, "quiet.csv", b"a\n1\n")
    assert (await walled(look)).output == before


async def test_distinct_values_are_listed_up_to_two_hundred(walled: Callable) -> None:
    rows = "\n".join(f"v{i % 201},v{i % 200}" for i in range(1000))
    profile = await one(walled, "many.csv", f"a,b\n{rows}\n".encode())
    assert (profile.columns[0].distinct_count, profile.columns[0].distinct) == (201, ())
    assert len(profile.columns[1].distinct) == 200


async def test_real_tables_are_read_as_what_they_are(walled: Callable, tmp_path: Path) -> None:
    names = [walled.workspace.add(write_table(table, tmp_path)) for table in TABLES]
    for table, profile in zip(TABLES, await profiled(walled, *names), strict=True):
        frame = load_table(table)
        assert profile.problem == ""
        assert (profile.rows, [column.name for column in profile.columns]) == (
            len(frame),
            list(map(str, frame.columns)),
        )


async def test_a_huge_file_is_looked_at_in_part(walled: Callable, tmp_path: Path) -> None:
    line = b"x" * 1000 + b",1\n"
    with (tmp_path / "huge.csv").open("wb") as file:
        file.write(b"a,n\n")
        for _ in range(220):
            file.write(line * 1000)
    assert os.stat(tmp_path / "huge.csv").st_size > 200 << 20
    (profile,) = await profiled(walled, walled.workspace.add(tmp_path / "huge.csv"))
    (walled.workspace.files / "huge.csv").unlink()
    assert profile.rows == 220_000
    assert "large" in profile.problem


def test_a_cell_that_did_not_end_has_no_profiles() -> None:
    with pytest.raises(KernelError, match="MemoryError"):
        read_profiles(Execution("e", "c", error="Traceback\nMemoryError", outcome="error"))
    with pytest.raises(KernelError):
        read_profiles(Execution("e", "c", True, stdout=("file profiles: {\n",)))
