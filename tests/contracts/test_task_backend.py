"""What every backend of a board promises. A maker joins by one row of `MAKERS`; one of yours, in its own tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from roles_runtime.tools.tasks.backend import INTENT, Backend, FileInfo, intent_of
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.change import Change
from roles_runtime.tools.tasks.local_files import LocalFiles
from roles_runtime.tools.tasks.memory import MemoryFiles

pytestmark = pytest.mark.anyio

Maker: TypeAlias = Callable[[Path], tuple[Backend, str]]
"""Makes an empty backend, in that folder if it needs one, and says in which folder of it a board may be."""


class FourMethods(Backend):
    """The least that a backend can be: it says nothing of its state, and lists names alone."""

    def __init__(self) -> None:
        self._files = MemoryFiles()

    async def ls_info(self, path: str) -> Sequence[FileInfo]:
        return [FileInfo(info.path.rpartition("/")[2]) for info in await self._files.ls_info(path)]

    async def read(self, path: str) -> str:
        return await self._files.read(path)

    async def write(self, path: str, content: str) -> None:
        await self._files.write(path, content)

    async def delete(self, path: str) -> None:
        await self._files.delete(path)


MAKERS: list[object] = [
    pytest.param(lambda folder: (MemoryFiles(), "tasks"), id="memory"),
    pytest.param(lambda folder: (LocalFiles(folder / "board"), str(folder / "board")), id="local files"),
    pytest.param(lambda folder: (FourMethods(), "/deep/tasks"), id="four methods"),
]


@pytest.fixture(params=MAKERS)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Backend, str]:
    maker: Maker = request.param
    return maker(tmp_path)


async def names(backend: Backend, folder: str) -> set[str]:
    listed = await backend.ls_info(folder)
    return {info.path.rpartition("/")[2] for info in listed if not info.is_dir} - {".lock"}


async def test_a_folder_that_is_not_there_lists_as_empty(made: tuple[Backend, str]) -> None:
    backend, folder = made
    assert await names(backend, folder) == set()


async def test_what_was_written_is_read_and_listed(made: tuple[Backend, str]) -> None:
    backend, folder = made
    await backend.write(f"{folder}/1.json", "first")
    await backend.write(f"{folder}/1.json", 'é \u2028 "<b>" 四\n')
    await backend.write(f"{folder}/.highwatermark", "1")
    assert await backend.read(f"{folder}/1.json") == 'é \u2028 "<b>" 四\n'
    assert await names(backend, folder) == {"1.json", ".highwatermark"}
    sizes = {info.path.rpartition("/")[2]: info.size for info in await backend.ls_info(folder)}
    assert sizes["1.json"] in (0, len('é \u2028 "<b>" 四\n'.encode()))


async def test_what_is_not_there_can_not_be_read(made: tuple[Backend, str]) -> None:
    backend, folder = made
    with pytest.raises(FileNotFoundError):
        await backend.read(f"{folder}/1.json")


async def test_the_names_of_files_are_those_that_are_listed(made: tuple[Backend, str]) -> None:
    backend, folder = made
    assert set(await backend.names(folder)) - {".lock"} == set()
    for name in ("1.json", "22.json", ".highwatermark"):
        await backend.write(f"{folder}/{name}", "x")
    assert set(await backend.names(folder)) - {".lock"} == await names(backend, folder)


async def test_many_are_read_at_once_and_each_fault_is_its_own(made: tuple[Backend, str]) -> None:
    backend, folder = made
    paths = [f"{folder}/{number}.json" for number in (1, 2, 3)]
    assert all(isinstance(each, FileNotFoundError) for each in (await backend.read_all(paths)).values())
    await backend.write(paths[0], "first")
    await backend.write(paths[2], "third")
    found = await backend.read_all(paths)
    assert [found[paths[0]], found[paths[2]]] == ["first", "third"]
    assert isinstance(found[paths[1]], FileNotFoundError)
    assert await backend.read_all([]) == {}


async def test_a_file_is_deleted_once_and_again(made: tuple[Backend, str]) -> None:
    backend, folder = made
    await backend.write(f"{folder}/1.json", "x")
    await backend.delete(f"{folder}/1.json")
    await backend.delete(f"{folder}/1.json")
    assert await names(backend, folder) == set()


async def test_its_state_tells_each_change_or_nothing(made: tuple[Backend, str]) -> None:
    backend, folder = made
    states = []
    async with backend.held():
        for text in ("a", "b"):
            await backend.write(f"{folder}/1.json", text)
            states.append(await backend.state())
        await backend.delete(f"{folder}/1.json")
        states.append(await backend.state())
    assert len(set(states)) == 3 or set(states) == {""}


async def test_several_files_change_together(made: tuple[Backend, str]) -> None:
    backend, folder = made
    async with backend.held():
        await backend.write(f"{folder}/1.json", "old")
        await backend.change(folder, {f"{folder}/1.json": None, f"{folder}/2.json": "new"})
        await backend.undo(folder)
    assert await names(backend, folder) == {"2.json"}


async def test_what_is_noted_before_a_change_is_put_back(made: tuple[Backend, str]) -> None:
    backend, folder = made
    async with backend.held():
        await backend.write(f"{folder}/1.json", "changed")
        await backend.write(f"{folder}/2.json", "made")
        note = intent_of({f"{folder}/1.json": "old", "../../elsewhere/2.json": None, f"{folder}/3.json": "gone"})
        await backend.write(f"{folder}/{INTENT}", note)
        await backend.undo(folder)
        await backend.undo(folder)
    assert await names(backend, folder) == {"1.json", "3.json"}
    assert await backend.read(f"{folder}/1.json") == "old"


@pytest.mark.parametrize("note", ["", "{", '{"1.json":"ol', "\0\0"])
async def test_a_note_that_was_cut_itself_undoes_nothing(made: tuple[Backend, str], note: str) -> None:
    backend, folder = made
    await backend.write(f"{folder}/1.json", "as it is")
    await backend.write(f"{folder}/{INTENT}", note)
    async with backend.held():
        await backend.undo(folder)
    assert await names(backend, folder) == {"1.json"}
    assert await backend.read(f"{folder}/1.json") == "as it is"


async def test_a_board_is_found_again_by_another(made: tuple[Backend, str]) -> None:
    backend, folder = made
    board = TaskBoard(backend, folder)
    for subject in ("first", "second"):
        await board.create(subject, "")
    await board.update("1", Change(add_blocks=("2",)))
    other = TaskBoard(backend, folder)
    assert (await other.get("2"))[1] == ("1",)
    await other.update("1", Change(status="completed"))
    assert (await board.get("2"))[1] == ()
    assert (await board.create("third", "")).id == "3"
