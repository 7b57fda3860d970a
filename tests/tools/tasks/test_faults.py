"""A disk that is full in the middle, a backend that is slow or lies, a call that is cut off: all of it, or nothing."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace

from roles_runtime.errors import TaskError
from roles_runtime.tools.tasks.backend import INTENT
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.change import Change
from roles_runtime.tools.tasks.local_files import LOCK, LocalFiles
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.tools import task_tools
from roles_runtime.tools.toolbox import Toolbox
from tools.calling import answer
from tools.tasks.boards import Desk, stored

pytestmark = pytest.mark.anyio

THREE = Change(subject="changed", add_blocks=("2", "3"))


def board_in(folder: Path) -> TaskBoard:
    return TaskBoard(LocalFiles(folder), str(folder))


def filled(folder: Path, count: int = 3) -> TaskBoard:
    folder.mkdir(exist_ok=True)
    for number in range(1, count + 1):
        (folder / f"{number}.json").write_text(stored(number).encode(), encoding="utf-8")
    return board_in(folder)


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {each.name: (each.stat().st_ino, each.stat().st_mtime_ns) for each in os.scandir(folder)}


def texts(folder: Path) -> dict[str, str]:
    return {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name != LOCK}


class Filling(MemoryFiles):
    """A disk that takes so many writes more."""

    place = 1_000

    async def write(self, path: str, content: str) -> None:
        if not self.place:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.place -= 1
        await super().write(path, content)


@pytest.mark.parametrize("place", [0, 1, 2, 3])
async def test_a_disk_that_is_full_after_some_of_three_writes(place: int) -> None:
    files = Filling()
    desk = Desk(files)
    for _ in range(3):
        await desk.create()
    before = dict(files.files)
    files.place = place
    problem = await desk.fail("1", subject="changed", addBlocks=["2", "3"])
    assert "No space left on device" in problem
    # What was cut can not be restored while there is no place; nobody can read the board meanwhile, and then it is.
    files.place = 1_000
    assert await desk.list() == "#1 [pending] s\n#2 [pending] s\n#3 [pending] s"
    assert files.files == before
    assert await desk.update("1", addBlocks=["2", "3"]) == "Updated task #1 blocks"


class Disk:
    """The system's calls that change a disk, of which the last ones fail."""

    def __init__(self, patch: pytest.MonkeyPatch, left: int, *, comes_back: bool) -> None:
        self.left, self.comes_back, self.failed = left, comes_back, False
        for name in ("fsync", "replace", "unlink"):
            patch.setattr(os, name, self._failing(getattr(os, name)))

    def _failing(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(*given: object, **more: object) -> None:
            self.left -= 1
            if self.left == -1 or (self.left < 0 and not self.comes_back):
                self.failed = True
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(*given, **more)

        return call


@pytest.mark.parametrize("comes_back", [True, False])
async def test_whichever_call_of_a_real_disk_fails_all_is_changed_or_nothing(tmp_path: Path, comes_back: bool) -> None:
    ways = set()
    for left in range(100):
        folder = tmp_path / f"board-{left}"
        board = filled(folder)
        await board.list()
        before = texts(folder)
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(patch, left, comes_back=comes_back)
            try:
                await board.update("1", THREE)
                told = True
            except TaskError:
                told = False
        # By the one who saw it fail, and by another process.
        for found in (board, board_in(folder)):
            first, *others = (await found.list()).tasks
            assert first.subject == ("changed" if told else "Task 1")
            assert [each.blocked_by for each in others] == [("1",) if told else ()] * 2
        assert INTENT not in texts(folder)
        assert (texts(folder) == before) != told
        ways.add(told)
        if not disk.failed:
            break
    assert ways == {True, False}
    assert not disk.failed


async def test_a_change_touches_the_files_that_it_changes_and_no_other(tmp_path: Path) -> None:
    board = filled(tmp_path, 1_000)
    await board.list()

    async def touched(change: Callable[[], object]) -> set[str]:
        before = stamps(tmp_path)
        await change()  # type: ignore[misc]
        after = stamps(tmp_path)
        return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} - {LOCK}

    assert await touched(lambda: board.create("s", "d")) == {".highwatermark", "1001.json"}
    assert await touched(lambda: board.update("7", Change(subject="x"))) == {"7.json"}
    assert await touched(lambda: board.update("7", Change(add_blocks=("900",)))) == {"7.json", "900.json"}
    assert await touched(lambda: board.update("7", Change(add_blocks=("900",)))) == set()
    assert await touched(lambda: board.update("7", Change(status="deleted"))) == {"7.json", "900.json"}
    assert await touched(board.list) == set()


async def test_more_tasks_than_may_be_open_at_once_change_together(tmp_path: Path) -> None:
    board = filled(tmp_path, 200)
    others = tuple(str(n) for n in range(2, 201))
    await board.update("1", Change(add_blocks=others))
    assert (await board_in(tmp_path).get("1"))[0].blocks == others
    for each in ("1", *others):
        done = await board.update(each, Change(status="completed"))
    assert done.finished
    assert texts(tmp_path).keys() == {".highwatermark"}


async def test_a_writer_that_is_cancelled_keeps_the_folder_until_its_thread_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, real, reached, go_on = filled(tmp_path), os.fsync, threading.Event(), threading.Event()
    await board.list()

    def slow(file: int) -> None:
        reached.set()
        assert go_on.wait(10)
        real(file)

    monkeypatch.setattr(os, "fsync", slow)
    writer = asyncio.create_task(board.update("1", THREE))
    while not reached.is_set():  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    writer.cancel()
    reader = asyncio.create_task(board_in(tmp_path).list())
    for _ in range(20):
        await asyncio.sleep(0.001)
        writer.cancel()
    assert not writer.done()
    assert not reader.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writer
    assert [task.subject for task in (await reader).tasks] == [task.subject for task in (await board.list()).tasks]
    assert INTENT not in texts(tmp_path)


async def test_whenever_a_call_is_cancelled_the_board_is_as_before_or_as_after(tmp_path: Path) -> None:
    for turns in range(40):
        folder = tmp_path / f"board-{turns}"
        board = filled(folder)
        writer = asyncio.create_task(board.update("1", THREE))
        for _ in range(turns):
            await asyncio.sleep(0)
        writer.cancel()
        await asyncio.wait([writer])
        first, *others = (await board.list()).tasks
        changed = first.subject == "changed"
        assert [each.blocked_by for each in others] == [("1",) if changed else ()] * 2
        assert (await board_in(folder).list()).tasks == (first, *others)


class Slow(MemoryFiles):
    """It never comes back from what it is told to hang in."""

    hangs = ""

    async def ls_info(self, path: str) -> list:  # type: ignore[type-arg]
        await self._hang("ls_info")
        return [*await super().ls_info(path)]

    async def write(self, path: str, content: str) -> None:
        await self._hang(path)
        await super().write(path, content)

    async def _hang(self, where: str) -> None:
        if self.hangs and where.endswith(self.hangs):
            await anyio.sleep_forever()


@pytest.mark.parametrize("hangs", ["ls_info", INTENT, "1.json", "2.json"])
async def test_a_backend_that_hangs_costs_a_call_its_time_and_no_more(hangs: str) -> None:
    files = Slow()
    for number in (1, 2):
        files.files[f"tasks/{number}.json"] = stored(number).encode()
    before = dict(files.files)
    board = TaskBoard(files)
    files.hangs = hangs
    hasty = Toolbox([replace(tool, timeout_s=0.05) for tool in task_tools(board, "Planner")])
    returned = await answer(hasty, "TaskUpdate", '{"taskId":"1","addBlocks":["2"]}')
    assert returned.is_error
    assert "within 0.05 s" in returned.result
    files.hangs = ""
    assert not (await board.list()).blockers
    assert files.files == before


@pytest.mark.parametrize("name", [".highwatermark", LOCK, INTENT])
async def test_a_link_in_place_of_a_file_of_ours_is_never_followed(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("7", encoding="utf-8")
    board = filled(tmp_path / "board")
    (tmp_path / "board" / name).symlink_to(outside)
    with pytest.raises(TaskError, match="symbolic links"):
        await board.create("s", "d")
    assert outside.read_text(encoding="utf-8") == "7"
    (tmp_path / "board" / name).unlink()
    assert (await board.create("s", "d")).id == "4"


async def test_a_file_that_is_no_text_is_named_and_a_mark_that_is_none_healed(tmp_path: Path) -> None:
    board = filled(tmp_path)
    (tmp_path / "2.json").write_bytes(b"\xff\xfe{}")
    (tmp_path / ".highwatermark").write_bytes(b"\xff")
    listing = await board.list()
    assert [task.id for task in listing.tasks] == ["1", "3"]
    assert [each.partition(":")[0] for each in listing.skipped] == ["2.json"]
    assert (await board.create("s", "d")).id == "4"
    assert (tmp_path / ".highwatermark").read_text(encoding="utf-8") == "4"


async def test_a_folder_that_is_taken_away_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "board"
    board = filled(folder)
    await board.list()
    folder.rename(tmp_path / "elsewhere")
    assert (await board.list()).tasks == ()
    assert (await board.create("s", "d")).id == "4"


async def test_where_nothing_is_open_nothing_is_read() -> None:
    files = Slow()
    board = TaskBoard(files)
    assert (await board.open_tasks(20)).tasks == ()
    files.hangs = "ls_info"
    with anyio.fail_after(5):
        assert (await board.open_tasks(20)).tasks == ()
        await board.create("s", "d")
        assert [task.id for task in (await board.open_tasks(20)).tasks] == ["1"]


async def test_open_tasks_are_told_after_those_who_were_there_before() -> None:
    files = MemoryFiles()
    board = TaskBoard(files)
    await board.list()
    async with anyio.create_task_group() as group:
        group.start_soon(board.create, "s", "d")
        await anyio.lowlevel.checkpoint()
        seen = await board.open_tasks(20)
    assert len(seen.tasks) == 1


async def test_of_open_tasks_the_first_are_told_and_the_rest_is_counted(tmp_path: Path) -> None:
    board = filled(tmp_path, 30)
    await board.update("30", Change(add_blocks=("1",)))
    await board.update("2", Change(status="completed"))
    seen = await board.open_tasks(3)
    assert [task.id for task in seen.tasks] == ["1", "3", "4"]
    assert seen.blockers == {"1": ("30",)}
    assert seen.more == 26
