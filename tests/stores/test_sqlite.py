"""SqliteStore where the world is not kind: kills, locks, full disks, wrong files, other owners."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import aclosing
from pathlib import Path

import apsw
import pytest

from roles_runtime.errors import (
    SessionBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreVersionError,
)
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.event import Entry, PostSent, TurnFinished
from roles_runtime.posts.post import Post
from roles_runtime.stores.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


def ended(seq: int, problem: str = "") -> Entry:
    return Entry(seq, f"k{seq}", seq, TurnFinished("round-1", "Planner", ("post-1",), 900, problem=problem))


async def seqs(store: SqliteStore, session_id: str) -> list[int]:
    async with aclosing(store.read(session_id)) as entries:
        return [entry.seq async for entry in entries]


def child(program: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PRELUDE + program, *(str(each) for each in arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload, no-any-return]


PRELUDE = """
import asyncio, os, resource, signal, sys
from roles_runtime.errors import *
from roles_runtime.posts.event import Entry, TurnFinished
from roles_runtime.stores.sqlite import SqliteStore

def ended(seq, problem=""):
    return Entry(seq, f"k{seq}", seq, TurnFinished("round-1", "Planner", ("post-1",), 900, problem=problem))

def say(*words):
    print(*words, flush=True)
"""

APPENDS_FOR_EVER = """
async def session(store, name):
    seq = 0
    while True:
        await store.append(name, [ended(seq + 1), ended(seq + 2)])
        seq += 2
        say(name, seq)

async def main():
    async with SqliteStore(sys.argv[1]) as store:
        await store.claim("a")
        async with asyncio.TaskGroup() as group:
            for name in "abcd":
                group.create_task(session(store, name))

asyncio.run(main())
"""


async def test_all_that_was_acknowledged_outlives_kill_9(tmp_path: Path) -> None:
    for round_number in range(4):
        path = tmp_path / f"{round_number}.db"
        acknowledged: dict[str, int] = {}
        with child(APPENDS_FOR_EVER, path) as process:
            assert process.stdout is not None
            for count, line in enumerate(process.stdout):
                if count == 40 + 150 * round_number:
                    process.send_signal(signal.SIGKILL)
                if line.endswith("\n"):
                    name, seq = line.split()
                    acknowledged[name] = int(seq)

        async with SqliteStore(path) as store:
            for session_id, acknowledged_seq in acknowledged.items():
                there = await seqs(store, session_id)
                assert len(there) >= acknowledged_seq
                assert len(there) % 2 == 0, "an append is there whole or not at all"
                assert there == list(range(1, len(there) + 1))
            await store.claim("a")
            await store.append("a", [ended(10_000)])


async def test_two_stores_of_one_process_exclude_each_other_from_a_session(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as mine, SqliteStore(tmp_path / "s.db") as other:
        await mine.claim("s")
        await mine.append("s", [ended(1)])

        with pytest.raises(SessionBusyError, match=rf"open in pid {os.getpid()} on \S+, since \d{{4}}-"):
            await other.claim("s")

        await other.claim("another")
        assert await seqs(other, "s") == [1]
        [info] = await other.sessions()
        assert info.owner.startswith(f"pid {os.getpid()} on ")
        await other.release("s")
        with pytest.raises(SessionBusyError):
            await other.claim("s")
        await mine.release("s")
        await other.claim("s")


async def test_closing_gives_up_all_claims_and_leaves_one_file(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as store:
        await store.claim("s")
        await store.append("s", [ended(1)])
    async with SqliteStore(tmp_path / "s.db") as store:
        await store.claim("s")

    assert os.listdir(tmp_path) == ["s.db"]
    assert (tmp_path / "s.db").stat().st_mode & 0o777 == 0o600


async def test_a_living_process_keeps_its_claim_and_a_dead_one_loses_it(tmp_path: Path) -> None:
    holds = """
async def main():
    async with SqliteStore(sys.argv[1]) as store:
        await store.claim("s")
        await store.append("s", [ended(1)])
        say("held")
        await asyncio.sleep(60)
asyncio.run(main())
"""
    async with SqliteStore(tmp_path / "s.db") as store:
        with child(holds, tmp_path / "s.db") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            with pytest.raises(SessionBusyError, match=f"pid {process.pid} on "):
                await store.claim("s")
            assert [info.owner.split()[1] for info in await store.sessions()] == [str(process.pid)]
            process.kill()

        assert [info.owner for info in await store.sessions()] == [""]
        await store.claim("s")
        assert len([name for name in os.listdir(tmp_path) if "-owner-" in name]) == 1


async def test_what_a_dead_owner_left_is_swept_by_the_next_one(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as store:
        (tmp_path / "s.db-owner-dead").touch()
        (tmp_path / "other.db-owner-dead").touch()

        await store.claim("s")

        assert not (tmp_path / "s.db-owner-dead").exists()
        assert (tmp_path / "other.db-owner-dead").exists()


@pytest.mark.parametrize("mode", ["normal", "exclusive"])
async def test_a_file_locked_by_another_is_waited_for_within_the_bound(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "s.db"
    async with SqliteStore(path, lock_timeout_s=0.1) as store:
        await store.append("s", [ended(1)])
    other = apsw.Connection(str(path))
    other.pragma("locking_mode", mode)
    other.execute("BEGIN EXCLUSIVE")
    store = SqliteStore(path, lock_timeout_s=0.1)
    if mode == "exclusive":
        with pytest.raises(StoreLockedError, match=r"s\.db is locked by another process"):
            await store.__aenter__()
        other.close()
    else:
        async with store:
            results = await asyncio.gather(
                *(store.append("s", [ended(seq)]) for seq in range(2, 9)), return_exceptions=True
            )
            assert {type(each) for each in results} == {StoreLockedError}
            assert await seqs(store, "s") == [1]
            other.close()
            await store.append("s", [ended(2)])

    async with SqliteStore(path) as store:
        assert (await seqs(store, "s"))[0] == 1


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be one" * 30, b"SQLite format 3\0" + b"\xff" * 4096]
)
async def test_a_file_that_is_no_sqlite_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(content)

    with pytest.raises(StoreCorruptError, match=r"s\.db is no store that can be read"):
        await SqliteStore(path).__aenter__()

    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["s.db"]


async def test_a_damaged_store_says_so_when_the_damage_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    async with SqliteStore(path) as store:
        await store.append("s", [ended(seq, "x" * 500) for seq in range(1, 200)])
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))

    async with SqliteStore(path) as store:
        with pytest.raises(StoreCorruptError):
            await seqs(store, "s")
        with pytest.raises(StoreCorruptError):
            await store.append("s", [ended(200)])


async def test_an_entry_that_is_none_is_reported_and_hides_no_session(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    async with SqliteStore(path) as store:
        await store.append("s", [ended(1)])
        other = apsw.Connection(str(path))
        other.execute("UPDATE entry SET body = ?", (b'{"seq": 1, "format_version": 99}',))
        other.close()

        with pytest.raises(StoreVersionError, match="format 99"):
            await seqs(store, "s")
        assert [info.session_id for info in await store.sessions()] == ["s"]


async def test_the_file_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE bookmark (url)")
    other.close()
    before = path.read_bytes()

    with pytest.raises(StoreCorruptError, match="another program"):
        await SqliteStore(path).__aenter__()

    assert path.read_bytes() == before


async def test_a_store_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    async with SqliteStore(path) as store:
        await store.append("s", [ended(1)])
    newer = apsw.Connection(str(path))
    newer.pragma("user_version", 99)
    newer.close()
    before = path.read_bytes()

    with pytest.raises(StoreVersionError, match="version 99"):
        await SqliteStore(path).__aenter__()

    assert path.read_bytes() == before


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "s.db").touch()

    async with SqliteStore(tmp_path / "s.db") as store:
        await store.append("s", [ended(1)])
        assert await seqs(store, "s") == [1]


async def test_missing_folders_are_made_for_this_user_alone(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "a" / "b" / "s.db"):
        pass

    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")] == [0o700, 0o700]


async def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    os.mkfifo(tmp_path / "fifo")
    for path, problem in (
        (tmp_path, "can not be a store"),
        (tmp_path / "file" / "s.db", "can not be a store"),
        (tmp_path / "fifo", "no regular file"),
        (Path("/dev/null"), "no regular file"),
        (tmp_path / ("x" * 300), "can not be opened"),
        (tmp_path / "a\0b", "is no path"),
    ):
        with pytest.raises(StoreError, match=problem):
            await SqliteStore(path).__aenter__()


async def test_a_disk_that_is_full_refuses_the_append_alone_and_works_again_with_room(tmp_path: Path) -> None:
    fills = """
async def main():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    async with SqliteStore(sys.argv[1]) as store:
        await store.append("s", [ended(1)])
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
        big = [store.append("s", [ended(2), ended(3, "x" * 1_000_000)]), store.append("t", [ended(1)])]
        for outcome in await asyncio.gather(*big, return_exceptions=True):
            say(type(outcome).__name__)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await store.append("s", [ended(2), ended(3, "x" * 1_000_000)])
asyncio.run(main())
"""
    with child(fills, tmp_path / "s.db") as process:
        said, _ = process.communicate(timeout=60)

    assert said.split() == ["StoreFullError", "NoneType"]
    assert process.returncode == 0
    async with SqliteStore(tmp_path / "s.db") as store:
        assert (await seqs(store, "s"), await seqs(store, "t")) == ([1, 2, 3], [1])


async def test_a_file_that_may_not_grow_refuses_and_works_again_when_it_may(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as store:
        await store.append("s", [ended(1)])
        assert store._opened is not None
        writing = store._opened.writer._journal._connection
        writing.pragma("max_page_count", writing.pragma("page_count"))

        with pytest.raises(StoreFullError, match="disk is full"):
            await store.append("s", [ended(2, "x" * 100_000)])

        assert await seqs(store, "s") == [1]
        writing.pragma("max_page_count", 1_000_000)
        await store.append("s", [ended(2)])
        assert await seqs(store, "s") == [1, 2]


@pytest.mark.parametrize("exists", [True, False])
async def test_a_folder_without_write_right_is_refused(tmp_path: Path, exists: bool) -> None:
    tries = """
async def main():
    # Opened once before, so that nothing is left to import for the user who may read nothing.
    async with SqliteStore(sys.argv[2]):
        pass
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        await SqliteStore(sys.argv[1]).__aenter__()
    except StoreError as error:
        say(type(error).__name__, error)
asyncio.run(main())
"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.db")
        if exists:
            async with SqliteStore(path) as store:
                await store.append("s", [ended(1)])
            os.chmod(path, 0o444)
        os.chmod(folder, 0o555)
        with child(tries, path, tmp_path / "other.db") as process:
            said, _ = process.communicate(timeout=60)
        os.chmod(folder, 0o700)

    assert said.startswith("StoreFullError")
    assert f"{path} can not be written to" in said


async def test_an_entry_that_is_no_json_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as store:
        lone = Post.create("half a pair: \ud83d", "A", "B")
        odd = Post.create("", "A", "B", [Attachment.create(AttachmentType.text, "", extra=object())])  # type: ignore[arg-type]
        for post in (lone, odd):
            with pytest.raises(StoreError, match="can not be written as JSON"):
                await store.append("s", [ended(1), Entry(2, "k2", 2, PostSent("round-1", post))])

        assert await store.sessions() == []


async def test_bodies_larger_than_a_page_of_reading_come_whole(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "s.db") as store:
        await store.append("s", [ended(seq, "x" * 3_000_000) for seq in range(1, 8)])

        assert await seqs(store, "s") == [1, 2, 3, 4, 5, 6, 7]


async def test_reading_a_store_that_is_closed_meanwhile_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    async with store:
        await store.append("s", [ended(seq) for seq in range(1, 400)])
        entries = store.read("s")
        await anext(entries)
    with pytest.raises(StoreError, match="closed while it was being read"):
        async for _ in entries:
            pass


async def test_a_path_may_be_relative_and_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteStore.from_url("sqlite:///sub/roles 50%.db")
    monkeypatch.chdir("/")

    async with store:
        pass

    assert (tmp_path / "sub" / "roles 50%.db").is_file()
