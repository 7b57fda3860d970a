"""The writer thread: group commit, cancelled waiters, loops that end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextlib import aclosing
from pathlib import Path

import apsw
import pytest

from roles_runtime.errors import SessionBusyError, StoreError
from roles_runtime.posts.event import Entry, TurnFinished
from roles_runtime.stores import sqlite_writer
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.stores.sqlite_schema import open_for_writing
from roles_runtime.stores.sqlite_writer import Append, Call, Writer

pytestmark = pytest.mark.anyio


def ended(seq: int) -> Entry:
    return Entry(seq, f"k{seq}", seq, TurnFinished("round-1", "Planner", ("post-1",), 900))


def row(seq: int, body: object = b"{}") -> tuple[int, str, int, bytes]:
    return seq, f"k{seq}", seq, body  # type: ignore[return-value]


async def opened(path: Path) -> Writer:
    return Writer(str(path), open_for_writing(str(path), 5))


def written(path: Path) -> list[tuple[str, int]]:
    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT id, seq FROM entry JOIN session ON number = session ORDER BY position")
    found = [(str(session_id), int(seq)) for session_id, seq in rows]
    connection.close()
    return found


async def test_those_who_wait_together_share_a_commit(tmp_path: Path) -> None:
    writer = await opened(tmp_path / "s.db")
    commits: list[str] = []

    def counted() -> bool:
        commits.append("commit")
        return False

    writer._journal._connection.set_commit_hook(counted)

    await asyncio.gather(*(writer.do(Append(f"s{number}", [row(1)])) for number in range(100)))

    assert len(commits) == 1
    await writer.aclose()
    assert len(written(tmp_path / "s.db")) == 100


async def test_one_that_can_not_be_written_harms_no_other_of_its_batch(tmp_path: Path) -> None:
    writer = await opened(tmp_path / "s.db")

    outcomes = await asyncio.gather(
        writer.do(Append("good", [row(1)])),
        writer.do(Append("bad", [row(1), row(2, "text is no blob")])),
        writer.do(Append("bad", [row(3)])),
        writer.do(Append("good", [row(2)])),
        return_exceptions=True,
    )

    assert [type(each) for each in outcomes] == [type(None), StoreError, StoreError, type(None)]
    await writer.do(Append("bad", [row(1)]))
    await writer.aclose()
    assert written(tmp_path / "s.db") == [("good", 1), ("good", 2), ("bad", 1)]


async def test_a_refusal_reaches_its_caller_alone(tmp_path: Path) -> None:
    writer = await opened(tmp_path / "s.db")

    def refuse(connection: apsw.Connection) -> str:
        raise SessionBusyError("taken")

    outcomes = await asyncio.gather(
        writer.do(Call(refuse)), writer.do(Call(lambda connection: "done")), return_exceptions=True
    )

    assert isinstance(outcomes[0], SessionBusyError)
    assert outcomes[1] == "done"
    await writer.aclose()


async def test_more_sessions_than_are_remembered_are_written_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "_SESSIONS_REMEMBERED", 2)
    monkeypatch.setattr(sqlite_writer, "MAX_BATCH", 3)
    writer = await opened(tmp_path / "s.db")

    for seq in (1, 2, 3):
        await asyncio.gather(*(writer.do(Append(f"s{number}", [row(seq)])) for number in range(7)))

    await writer.aclose()
    assert sorted(written(tmp_path / "s.db")) == [(f"s{number}", seq) for number in range(7) for seq in (1, 2, 3)]


async def test_the_log_is_copied_into_the_file_and_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "CHECKPOINT_PAGES", 20)
    writer = await opened(tmp_path / "s.db")

    for seq in range(400):
        await writer.do(Append("s", [row(seq, b"x" * 2_000)]))

    assert (tmp_path / "s.db-wal").stat().st_size < 400_000
    await writer.aclose()
    assert len(written(tmp_path / "s.db")) == 400


async def test_a_thousand_cancelled_waiters_leave_a_whole_journal(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as store:
        tasks = []
        for number in range(1_000):
            tasks.append(asyncio.create_task(store.append(f"s{number % 10}", [ended(number), ended(number + 5_000)])))
            if number % 7 == 0:
                await asyncio.sleep(0)
            if number % 3 == 0:
                tasks[number // 2].cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)

        found = 0
        for number in range(10):
            async with aclosing(store.read(f"s{number}")) as entries:
                seqs = [entry.seq async for entry in entries]
            assert [seq + 5_000 for seq in seqs[::2]] == seqs[1::2]
            found += len(seqs[::2])
    assert any(isinstance(each, asyncio.CancelledError) for each in outcomes)
    assert found >= sum(each is None for each in outcomes)


async def test_closing_waits_for_what_was_handed_over_by_the_cancelled(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as store:
        task = asyncio.create_task(store.append("s", [ended(1)]))
        await asyncio.sleep(0)
        task.cancel()

    assert written(tmp_path / "s.db") == [("s", 1)]


async def test_closing_ends_the_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    for _ in range(3):
        async with SqliteStore(tmp_path / "s.db") as store:
            await store.append("s", [ended(1)])
            assert any("journal of" in thread.name for thread in threading.enumerate())

    assert not any("journal of" in thread.name for thread in threading.enumerate())
    assert threading.active_count() <= before + 4


async def test_a_disk_that_hangs_is_told_to_all_who_wait_and_forgiven_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "STALL_S", 0.05)
    writer = await opened(tmp_path / "s.db")
    hangs = threading.Event()

    outcomes = await asyncio.gather(
        writer.do(Call(lambda connection: hangs.wait(30))), writer.do(Append("s", [row(1)])), return_exceptions=True
    )

    assert [str(each).count("did not answer") for each in outcomes] == [1, 1]
    with pytest.raises(StoreError, match="did not answer"):
        await writer.do(Append("s", [row(2)]))
    monkeypatch.setattr(sqlite_writer, "STALL_S", 30)
    writer._idle.clear()
    hangs.set()
    await writer._idle.wait()
    await writer.do(Append("s", [row(3)]))
    await writer.aclose()
    assert written(tmp_path / "s.db") == [("s", 1), ("s", 3)]


async def test_another_event_loop_is_told_to_open_its_own(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as store:
        with pytest.raises(StoreError, match="another event loop"):
            await asyncio.to_thread(asyncio.run, store.append("s", [ended(1)]))


async def test_two_loops_write_one_file_side_by_side(tmp_path: Path) -> None:
    async def many(name: str) -> None:
        async with SqliteStore(tmp_path / "s.db") as store:
            for seq in range(1, 51):
                await store.append(name, [ended(seq)])

    await asyncio.gather(
        asyncio.to_thread(asyncio.run, many("one")), asyncio.to_thread(asyncio.run, many("two")), many("three")
    )

    rows = written(tmp_path / "s.db")
    for name in ("one", "two", "three"):
        assert [seq for session, seq in rows if session == name] == list(range(1, 51))


def test_an_interpreter_whose_loop_ended_early_exits_and_keeps_what_it_was_given(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from roles_runtime.posts.event import Entry, TurnFinished
from roles_runtime.stores.sqlite import SqliteStore

async def main():
    store = await SqliteStore(sys.argv[1]).__aenter__()
    entry = Entry(1, "k1", 1, TurnFinished("round-1", "Planner", ("post-1",), 900))
    await store.claim("s")
    task = asyncio.create_task(store.append("s", [entry]))
    await asyncio.sleep(0)
    keep.append((store, task))

keep = []
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "s.db")], timeout=60, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert written(tmp_path / "s.db") == [("s", 1)]
