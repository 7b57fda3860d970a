"""What a model may write into a call, and what may stand in a folder: the board is whole after all of it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from roles_runtime.errors import TaskError
from roles_runtime.tools.tasks.backend import FileInfo
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.task import Task, decode_task, file_of
from roles_runtime.tools.tasks.tools import NAMES
from tools.tasks.boards import Desk, desk_with, stored

pytestmark = pytest.mark.anyio

FIELDS = ("addBlocks", "addBlockedBy", "removeBlocks", "removeBlockedBy")
NO_IDS = (
    "../x",
    "/etc/passwd",
    "1\n",
    "٣",
    "１",
    "1.json",
    "-1",
    "+1",
    "1e3",
    "0x1",
    "",
    " 1",
    "1\0",
    "1" * 201,
)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("task_id", NO_IDS)
async def test_what_is_no_id_is_refused_in_an_edge_whole(field: str, task_id: str) -> None:
    desk = await desk_with(stored(1), stored(2))
    before = dict(desk.files.files)  # type: ignore[attr-defined]
    assert "invalid format: " in await desk.fail("1", subject="other", **{field: ["2", task_id]})
    assert desk.files.files == before  # type: ignore[attr-defined]


@pytest.mark.parametrize("field", ["addBlocks", "addBlockedBy"])
@pytest.mark.parametrize("task_id", ["01", "0", "1" + "0" * 30, "9" * 200])
async def test_an_id_that_nobody_has_is_no_edge(field: str, task_id: str) -> None:
    desk = await desk_with(stored(1), stored(2))
    assert f"target Task #{task_id} not found" in await desk.fail("1", **{field: [task_id]})
    assert await desk.file("1.json") == stored(1).encode()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "arguments",
    ["nonsense", "[]", '"1"', "{", "null", "1", '{"a":1,"a":2}', '{"taskId":"1"} trailing', "[" * 100_000, '{"a":NaN}'],
)
async def test_arguments_that_are_no_object_are_told_by_all_four(name: str, arguments: str) -> None:
    desk = await desk_with(stored(1))
    assert f"{name} was not called" in await desk.refused(name, arguments)
    assert await desk.names() == {"1.json"}


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("TaskCreate", {"Subject": "s", "description": "d"}, "subject"),
        ("TaskCreate", {"subject": 1, "description": "d"}, "subject"),
        ("TaskCreate", {"subject": "s"}, "description"),
        ("TaskCreate", {"subject": "s", "description": "d", "metadata": [1]}, "metadata"),
        ("TaskCreate", {"subject": "s", "description": "d", "active_form": "a"}, "active_form"),
        ("TaskGet", {"taskID": "1"}, "taskID"),
        ("TaskUpdate", {"taskId": "1", "Status": "completed"}, "Status"),
        ("TaskUpdate", {"taskId": "1", "status": ["completed"]}, "status"),
        ("TaskUpdate", {"taskId": "1", "addblocks": ["2"]}, "addblocks"),
        ("TaskUpdate", {"taskId": "1", "metadata": "x"}, "metadata"),
    ],
)
async def test_another_case_or_type_is_named(name: str, arguments: object, told: str) -> None:
    desk = await desk_with(stored(1), stored(2))
    assert told in await desk.refused(name, arguments)
    assert await desk.names() == {"1.json", "2.json"}
    assert await desk.file("1.json") == stored(1).encode()


async def test_a_key_that_is_said_twice_is_refused_also_within_metadata() -> None:
    desk = await desk_with(stored(1))
    for arguments in (
        '{"taskId":"1","status":"pending","status":"completed"}',
        '{"taskId":"1","metadata":{"k":1,"k":2}}',
    ):
        assert "twice" in await desk.refused("TaskUpdate", arguments)
    assert await desk.file("1.json") == stored(1).encode()


@pytest.mark.parametrize("name", NAMES)
async def test_arguments_of_five_megabytes_are_refused(name: str) -> None:
    desk = await desk_with(stored(1))
    arguments = {"taskId": "1", "subject": "s", "description": "x" * (5 << 20)}
    assert "bytes" in await desk.refused(name, arguments)
    assert await desk.names() == {"1.json"}


async def test_a_description_that_is_just_allowed_is_kept_whole() -> None:
    desk = Desk()
    text = "é\u2028" * 200_000
    await desk.told("TaskCreate", json.dumps({"subject": "s", "description": text}, ensure_ascii=False))
    assert (await desk.task("1"))["description"] == text


async def test_metadata_however_deep_is_kept_or_refused() -> None:
    desk = Desk()
    for depth in (100, 400, 900, 5_000, 50_000):
        arguments = '{"subject":"s","description":"d","metadata":' + '{"a":' * depth + "1" + "}" * (depth + 1)
        await desk.call("TaskCreate", arguments)
    found = await desk.board.list()
    assert not found.skipped
    assert found.tasks
    fresh = Desk(desk.files)
    assert await fresh.list() == await desk.list()


async def test_what_no_file_can_hold_is_mended() -> None:
    desk = Desk()
    await desk.call("TaskCreate", {"subject": "\ud800", "description": "d"})
    await desk.board.create("\ud800 a\0b", "d")
    assert [(await desk.task(each))["subject"] for each in "12"] == ["\ufffd", "\ufffd a\0b"]


class Lying(MemoryFiles):
    """Lists its files by paths of its own, and some that are not there."""

    async def ls_info(self, path: str) -> Sequence[FileInfo]:
        listed = await super().ls_info(path)
        elsewhere = [FileInfo(f"../../elsewhere/{info.path.rpartition('/')[2]}") for info in listed]
        strange = [
            "",
            "/",
            ".json",
            "x.json",
            "01.json",
            "٣.json",
            "1.json.bak",
            "../../../etc/passwd",
            f"{'9' * 300}.json",
        ]
        return [*elsewhere, *map(FileInfo, strange), FileInfo("away/8.json"), FileInfo("7.json", is_dir=True)]


async def test_of_what_a_backend_lists_only_the_last_part_of_a_path_is_trusted() -> None:
    files = Lying()
    await files.write("tasks/1.json", stored(1).encode())
    await files.write("elsewhere/1.json", stored(1, owner="stranger").encode())
    desk = Desk(files)
    lines = (await desk.list()).splitlines()
    assert lines[0] == "#1 [pending] Task 1"
    assert [each.split(": ")[1] for each in lines[1:]] == ["01.json", "8.json"]
    await desk.update("1", owner="bob")
    assert set(files.files) == {"tasks/1.json", "elsewhere/1.json"}
    assert "Task #9 created" in await desk.create()


async def test_ten_thousand_tasks_are_a_board() -> None:
    files = MemoryFiles()
    for number in range(1, 10_001):
        files.files[f"tasks/{number}.json"] = stored(number).encode()
    desk = Desk(files)
    before = dict(files.files)
    assert "Task #10001 created" in await desk.create()
    await desk.update("5000", addBlocks=["9999"], status="in_progress")
    changed = {path for path, text in files.files.items() if before.get(path) != text}
    assert changed == {"tasks/.highwatermark", "tasks/10001.json", "tasks/5000.json", "tasks/9999.json"}
    listing = await desk.board.list()
    assert len(listing.tasks) == 10_001
    assert listing.blockers == {"9999": ("5000",)}


async def test_a_chain_five_thousand_deep_is_built_deleted_from_and_completed() -> None:
    length = 5_000
    chain = [stored(n, [n + 1] if n < length else [], [n - 1] if n > 1 else []) for n in range(1, length + 1)]
    desk = await desk_with(*chain)
    assert await desk.update("2500", status="deleted") == "Updated task #2500 deleted\nNow unblocked: #2501"
    assert await desk.update("2499", addBlocks=["2501"]) == "Updated task #2499 blocks"
    assert "cyclic dependency" in await desk.fail("1", addBlockedBy=[str(length)])
    assert await desk.update("1", status="completed") == "Updated task #1 status\nNow unblocked: #2"


@pytest.mark.parametrize(
    "text",
    [
        '{"id":"2","subject":"s","subject":1}',
        '{"id":"2","blocks":[1]}',
        '{"id":"2","metadata":[]}',
        '{"id":"2","status":{}}',
        '{"id":"02"}',
        '{"id":"' + "9" * 5_000 + '"}',
        "[" * 100_000,
        "\x00" * 64,
        '{"id":"2","subject":"\\ud800"',
    ],
)
async def test_a_file_that_is_no_task_is_named_kept_and_counted(text: str) -> None:
    desk = await desk_with(stored(1))
    await desk.files.write("tasks/2.json", text)
    assert "2.json" in (await desk.list()).splitlines()[1]
    assert "2.json" in await desk.fail("2", status="deleted")
    assert "not found" in await desk.fail("1", addBlocks=["2"])
    assert "Task #3 created" in await desk.create()
    assert await desk.file("2.json") == text


async def test_what_a_file_says_beside_a_task_survives_a_change() -> None:
    desk = Desk()
    document = {**json.loads(stored(1).encode()), "later": {"x": [1, None]}}
    await desk.files.write("tasks/1.json", json.dumps(document))
    await desk.update("1", subject="other")
    assert (await desk.task("1"))["later"] == {"x": [1, None]}
    assert Task(id="1", subject="", description="").unknown == {}


@pytest.mark.parametrize("task_id", ["", "one", "-1", "1_0", "٣"])
def test_a_file_whose_name_and_id_are_no_number_holds_no_task(task_id: str) -> None:
    with pytest.raises(TaskError, match="says to be task"):
        decode_task(file_of(task_id), json.dumps({"id": task_id}))


@pytest.mark.parametrize(("status", "state"), [("completed", "completed"), ("Done", "pending"), ("", "pending")])
def test_a_status_that_nobody_knows_is_shown_as_pending(status: str, state: str) -> None:
    task = decode_task("1.json", json.dumps({"id": "1", "status": status}))
    assert (task.status, task.state) == (status or "pending", state)
