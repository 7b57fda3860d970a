"""A board's folder on the disk: walled in, shared by processes, and read by eino."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from roles_runtime.errors import TaskError
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.local_files import LocalFiles
from tools.tasks.boards import Desk, stored

pytestmark = pytest.mark.anyio

MAKE_TEN = """
import anyio, sys
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.local_files import LocalFiles
async def main():
    board = TaskBoard(LocalFiles(sys.argv[1], lock_timeout_s=60), sys.argv[1])
    print(*[(await board.create("s", "d")).id for _ in range(10)])
anyio.run(main)
"""


def board_in(folder: Path, lock_timeout_s: float = 10.0) -> TaskBoard:
    return TaskBoard(LocalFiles(folder, lock_timeout_s=lock_timeout_s), str(folder))


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "sub/1.json", "..", ".", "", "1.json\0", ".lock"])
async def test_nothing_outside_the_folder_is_touched(tmp_path: Path, path: str) -> None:
    files = LocalFiles(tmp_path / "board")
    for call in (files.read(path), files.write(path, "x"), files.delete(path)):
        with pytest.raises(PermissionError):
            await call
    with pytest.raises(PermissionError):
        await files.ls_info("..")


async def test_a_link_is_not_followed_but_named_and_replaced_by_nothing_of_ours(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(stored(1).encode(), encoding="utf-8")
    folder = tmp_path / "board"
    folder.mkdir()
    (folder / "1.json").symlink_to(secret)
    board = board_in(folder)
    listing = await board.list()
    assert not listing.tasks
    assert listing.skipped[0].startswith("1.json")
    assert (await board.create("s", "d")).id == "2"
    assert secret.read_text(encoding="utf-8") == stored(1).encode()


async def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "board").symlink_to(tmp_path / "real")
    with pytest.raises(TaskError, match="list files failed"):
        await board_in(tmp_path / "board").create("s", "d")
    assert not os.listdir(tmp_path / "real")


async def test_a_pipe_in_the_folder_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "1.json")
    (tmp_path / "2.json").mkdir()
    listing = await board_in(tmp_path).list()
    assert [each.partition(":")[0] for each in listing.skipped] == ["1.json"]


async def test_two_processes_never_give_one_number_twice(tmp_path: Path) -> None:
    makers = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", MAKE_TEN, str(tmp_path / "board"), stdout=asyncio.subprocess.PIPE
        )
        for _ in range(2)
    ]
    told = [(await maker.communicate())[0] for maker in makers]
    assert sorted(int(each) for text in told for each in text.split()) == list(range(1, 21))
    assert len((await board_in(tmp_path / "board").list()).tasks) == 20


async def test_what_another_process_holds_is_waited_for_no_longer_than_said(tmp_path: Path) -> None:
    async with LocalFiles(tmp_path).held():
        with pytest.raises(TaskError, match="another process holds"):
            await board_in(tmp_path, lock_timeout_s=0.05).list()
    assert not (await board_in(tmp_path).list()).tasks


async def test_a_folder_that_eino_wrote_is_read_and_what_it_does_not_know_stays(tmp_path: Path) -> None:
    text = (
        '{"id":"1","subject":"A <b> & é","description":"","status":"banana","blocks":null,"blockedBy":[],'
        '"metadata":{"n":12345678901234567890123},"later":{"x":[1]}}'
    )
    (tmp_path / "1.json").write_text(text, encoding="utf-8")
    (tmp_path / "notes.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".highwatermark").write_text("4", encoding="utf-8")
    desk = Desk(LocalFiles(tmp_path))
    desk.board = board_in(tmp_path)
    assert await desk.list() == "#1 [banana] A <b> & é"
    await desk.update("1", status="pending", owner="bob")
    changed = text.replace("banana", "pending").replace("null", "[]").replace('"metadata"', '"owner":"bob","metadata"')
    assert (tmp_path / "1.json").read_text(encoding="utf-8") == changed
    assert "Task #5" in await desk.create()
    assert json.loads((tmp_path / ".highwatermark").read_text(encoding="utf-8")) == 5


async def test_what_another_hand_wrote_meanwhile_is_seen(tmp_path: Path) -> None:
    board = board_in(tmp_path)
    await board.create("s", "d")
    (tmp_path / "7.json").write_text(stored(7).encode(), encoding="utf-8")
    assert [task.id for task in (await board.list()).tasks] == ["1", "7"]
