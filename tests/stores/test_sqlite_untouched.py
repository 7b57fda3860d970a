"""Reading alone: where nothing may or can be written, beside writers, and without a trace."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import apsw
import pytest

from roles_runtime.errors import StoreCorruptError, StoreError, StoreLockedError, StoreVersionError
from roles_runtime.posts.event import Entry, TurnFinished
from roles_runtime.stores import sqlite_untouched
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.stores.sqlite_schema import MIGRATIONS
from roles_runtime.stores.sqlite_untouched import UntouchedReader

pytestmark = pytest.mark.anyio

READS = """
import asyncio, sys
from roles_runtime.errors import StoreError
from roles_runtime.stores.sqlite import SqliteStore

async def main():
    async with SqliteStore(sys.argv[1], read_only=True) as store:
        for info in await store.sessions():
            print(info.session_id, len([entry async for entry in store.read(info.session_id)]))

try:
    asyncio.run(main())
except StoreError as error:
    print(type(error).__name__, error)
"""

WRITES = """
import asyncio, sys
from roles_runtime.posts.event import Entry, RoundOpened
from roles_runtime.stores.sqlite import SqliteStore

async def main():
    for number in range(0, 400, 4):
        async with SqliteStore(sys.argv[1]) as store:
            for seq in range(number + 1, number + 5):
                await store.append("s", [Entry(seq, f"k{seq}", seq, RoundOpened("r", "x" * 3000))])

asyncio.run(main())
"""

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def ended(seq: int) -> Entry:
    return Entry(seq, f"k{seq}", seq, TurnFinished("round-1", "Planner", ("post-1",), 900))


def obey_permissions() -> None:
    """Root goes on without the capabilities by which it overrules them."""
    if os.geteuid() == 0:
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            assert ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0


def find_the_disk_full() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def read_in_another_process(path: Path, first: Callable[[], None]) -> str:
    done = subprocess.run(
        [sys.executable, "-B", "-c", READS, path], stdout=subprocess.PIPE, text=True, preexec_fn=first, check=True
    )
    return done.stdout


def write_in_another_process(path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-B", "-c", WRITES, path])


@contextmanager
def nothing_may_be_written(folder: Path) -> Iterator[None]:
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o700)


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def closed(folder: Path) -> None:
    async with SqliteStore(folder / "s.db") as store:
        await store.append("s", [ended(1)])


async def abandoned(folder: Path) -> None:
    """As after a crash: a log that nobody has copied into the file yet, and its index."""
    async with SqliteStore(folder / "live.db") as store:
        await store.append("s", [ended(1)])
        for suffix in ("", "-wal", "-shm"):
            shutil.copy(folder / f"live.db{suffix}", folder / f"s.db{suffix}")
    os.unlink(folder / "live.db")


async def with_an_empty_log(folder: Path) -> None:
    await closed(folder)
    (folder / "s.db-wal").write_bytes(b"")


async def with_an_empty_log_and_index(folder: Path) -> None:
    await with_an_empty_log(folder)
    (folder / "s.db-shm").write_bytes(b"")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("prepare", [closed, abandoned, with_an_empty_log, with_an_empty_log_and_index])
async def test_a_store_is_read_where_nothing_may_be_written(folder: Path, prepare: Callable) -> None:
    await prepare(folder)
    before = kept(folder)

    with nothing_may_be_written(folder):
        said = read_in_another_process(folder / "s.db", obey_permissions)

    assert said == "s 1\n"
    assert kept(folder) == before


@pytest.mark.parametrize("prepare", [closed, abandoned, with_an_empty_log, with_an_empty_log_and_index])
async def test_a_store_is_read_while_the_disk_is_full(folder: Path, prepare: Callable) -> None:
    await prepare(folder)

    assert read_in_another_process(folder / "s.db", find_the_disk_full) == "s 1\n"


@pytest.mark.parametrize("first", [obey_permissions, find_the_disk_full])
async def test_a_store_that_another_has_open_is_read_where_nothing_can_be_written(
    folder: Path, first: Callable[[], None]
) -> None:
    async with SqliteStore(folder / "s.db") as store:
        await store.claim("s")
        await store.append("s", [ended(1), ended(2)])
        with nothing_may_be_written(folder):
            said = read_in_another_process(folder / "s.db", first)
        assert said == "s 2\n"
        await store.append("s", [ended(3)])
    assert os.listdir(folder) == ["s.db"]


async def test_a_log_that_can_not_be_read_is_told_with_what_to_do(folder: Path) -> None:
    await abandoned(folder)
    (folder / "s.db-shm").unlink()
    before = kept(folder)

    with nothing_may_be_written(folder):
        said = read_in_another_process(folder / "s.db", obey_permissions)

    assert said.startswith(f"StoreError {folder}/s.db can not be read here: what was written last stands in s.db-wal")
    assert "copy" in said
    assert kept(folder) == before
    copied = shutil.copytree(folder, folder.parent / "own")
    assert read_in_another_process(copied / "s.db", obey_permissions) == "s 1\n", "the advice holds"


async def test_a_file_that_may_not_be_read_is_told_with_what_to_do(folder: Path) -> None:
    await closed(folder)
    (folder / "s.db").chmod(0)

    said = read_in_another_process(folder / "s.db", obey_permissions)

    assert said == (
        f"StoreError {folder}/s.db can not be opened; "
        "give this user the right to it and to its folder, or name another store.\n"
    )


async def test_reading_leaves_the_folder_as_it_was(folder: Path) -> None:
    await closed(folder)
    before = kept(folder)

    async with SqliteStore(folder / "s.db", read_only=True) as store:
        assert [info.entries for info in await store.sessions()] == [1]
        assert kept(folder) == before
    assert kept(folder) == before


@pytest.mark.parametrize("content", [None, b""])
async def test_a_file_that_is_missing_or_empty_has_no_sessions_and_stays_so(
    folder: Path, content: bytes | None
) -> None:
    if content is not None:
        (folder / "s.db").write_bytes(content)
    before = kept(folder)

    async with SqliteStore(folder / "s.db", read_only=True) as store:
        assert await store.sessions() == []
        assert kept(folder) == before
        await closed(folder)
        assert [info.session_id for info in await store.sessions()] == ["s"]


async def test_a_file_that_is_just_being_made_has_no_sessions(folder: Path) -> None:
    making = apsw.Connection(str(folder / "s.db"))
    making.pragma("journal_mode", "wal")

    async with SqliteStore(folder / "s.db", read_only=True) as store:
        assert await store.sessions() == []
        making.close()
        assert (folder / "s.db").stat().st_size > 0
        assert await store.sessions() == []


def newer(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE bookmark (url)")
    connection.pragma("application_id", 0x524F4C45)
    connection.pragma("user_version", 99)
    connection.close()


def of_another_program(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE bookmark (url)")
    connection.close()


@pytest.mark.parametrize(
    ("make", "kind", "told"),
    [
        (lambda path: path.write_bytes(b"no database at all, but long enough" * 30), StoreCorruptError, "no store"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096), StoreCorruptError, "no store"),
        (of_another_program, StoreCorruptError, "another program"),
        (newer, StoreVersionError, "version 99"),
        (Path.mkdir, StoreError, "no regular file"),
        (os.mkfifo, StoreError, "no regular file"),
    ],
)
async def test_what_is_no_store_that_can_be_read_is_refused_and_left_alone(
    folder: Path, make: Callable[[Path], None], kind: type[StoreError], told: str
) -> None:
    path = folder / "s.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(kind, match=told):
        await SqliteStore(path, read_only=True).__aenter__()

    assert os.listdir(folder) == ["s.db"]
    assert before is None or path.read_bytes() == before


async def test_what_is_no_path_to_a_file_is_refused(folder: Path) -> None:
    (folder / "file").touch()
    for name, told in (("file/s.db", "can not be a store"), ("a\0b", "is no path"), ("x" * 300, "can not be looked")):
        with pytest.raises(StoreError, match=told):
            await SqliteStore(folder / name, read_only=True).__aenter__()


async def test_a_store_of_an_older_version_is_told_how_it_comes_up_to_date(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await closed(folder)
    monkeypatch.setattr(sqlite_untouched, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE note (text TEXT);"))

    with pytest.raises(StoreVersionError, match=r"version 1, and .* reads version 2; .* by opening a chat"):
        await SqliteStore(folder / "s.db", read_only=True).__aenter__()


async def test_a_name_that_means_something_in_a_url_is_a_name(folder: Path) -> None:
    path = folder / "what? 50% #1 é.db"
    async with SqliteStore(path) as store:
        await store.append("s", [ended(1)])

    async with SqliteStore(path, read_only=True) as store:
        assert [info.session_id for info in await store.sessions()] == ["s"]


async def test_a_link_to_a_store_reads_also_what_stands_in_the_log_beside_the_file(folder: Path) -> None:
    (folder.parent / "link.db").symlink_to(folder / "s.db")
    async with SqliteStore(folder / "s.db") as writing:
        await writing.append("s", [ended(1)])

        async with SqliteStore(folder.parent / "link.db", read_only=True) as store:
            assert [info.session_id for info in await store.sessions()] == ["s"]


async def test_what_is_written_to_while_it_is_read_without_a_lock_is_read_again(folder: Path) -> None:
    await closed(folder)
    reader = UntouchedReader(str(folder / "s.db"), lock_timeout_s=60.0)
    asked = 0

    def question(connection: apsw.Connection) -> int:
        nonlocal asked
        asked += 1
        if asked == 1:
            os.utime(folder / "s.db", ns=(asked, asked))
        if asked == 2:
            os.utime(folder / "s.db", ns=(asked, asked))
            connection.execute("SELECT 1 FROM torn")
        return asked

    assert reader._ask(question) == 3


async def test_what_is_written_to_all_the_time_is_given_up_within_the_bound(folder: Path) -> None:
    await closed(folder)
    reader = UntouchedReader(str(folder / "s.db"), lock_timeout_s=0.05)
    times = iter(range(1, 1_000_000))

    with pytest.raises(StoreLockedError, match="again and again"):
        reader._ask(lambda connection: os.utime(folder / "s.db", ns=(0, next(times))))


async def test_a_store_that_is_replaced_while_it_is_read_says_so(folder: Path) -> None:
    async with SqliteStore(folder / "s.db") as store:
        await store.append("s", [ended(seq) for seq in range(1, 601)])

    async with SqliteStore(folder / "s.db", read_only=True) as store, aclosing(store.read("s")) as entries:
        await anext(entries)
        (folder / "s.db").unlink()
        with pytest.raises(StoreError, match="replaced while it was being read"):
            async for _ in entries:
                pass


async def test_whoever_reads_beside_one_that_writes_opens_and_closes_sees_whole_journals(folder: Path) -> None:
    seen = 0
    with write_in_another_process(folder / "s.db") as writing:
        while writing.poll() is None:
            async with SqliteStore(folder / "s.db", read_only=True) as store, aclosing(store.read("s")) as entries:
                seqs = [entry.seq async for entry in entries]
            assert seqs == list(range(1, len(seqs) + 1))
            assert len(seqs) >= seen
            seen = len(seqs)

    assert writing.returncode == 0
    async with SqliteStore(folder / "s.db", read_only=True) as store:
        assert [info.entries for info in await store.sessions()] == [400]
