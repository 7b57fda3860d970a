"""What eino's own tests say of the four tools (EI-n), and where ours are mended (EX-n)."""

from __future__ import annotations

import pytest

from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.tools import NAMES, task_tools
from tools.tasks.boards import LEADER, Desk, desk_with, stored

pytestmark = pytest.mark.anyio

OUTSIDE = "../../../etc/passwd"


def test_ei_4_there_are_four_tools_in_order() -> None:
    assert tuple(tool.name for tool in task_tools(Desk().board, LEADER)) == NAMES


async def test_ei_5_and_6_a_task_is_made_and_its_number_noted() -> None:
    desk = Desk()
    arguments = {"subject": "Test Task", "description": "Test description", "activeForm": "Testing"}
    told = await desk.call("TaskCreate", arguments)
    assert told.result == '{"result":"Task #1 created successfully: Test Task"}'
    assert await desk.file("1.json") == (
        '{"id":"1","subject":"Test Task","description":"Test description","status":"pending",'
        '"blocks":[],"blockedBy":[],"activeForm":"Testing"}'
    )
    assert await desk.file(".highwatermark") == "1"
    second = await desk.call("TaskCreate", {"subject": "Second Task", "description": "d"})
    assert second.result == '{"result":"Task #2 created successfully: Second Task"}'
    assert await desk.file(".highwatermark") == "2"


async def test_ei_7_metadata_is_stored() -> None:
    desk = Desk()
    await desk.create(metadata={"key1": "value1", "key2": "value2", "none": None})
    assert (await desk.task("1"))["metadata"] == {"key1": "value1", "key2": "value2", "none": None}


async def test_ei_8_a_task_is_shown() -> None:
    desk = await desk_with(stored(1, [2, 3], [4]))
    assert await desk.get("1") == (
        "Task #1: Task 1\nStatus: pending\nDescription: Test description\nBlocked by: #4\nBlocks: #2, #3\n"
    )


async def test_ei_9_an_absent_task_is_an_error() -> None:
    assert await Desk().refused("TaskGet", {"taskId": "999"}) == "TaskGet get Task #999 failed, err: not found"


@pytest.mark.parametrize("task_id", [OUTSIDE, "abc", "", " 1", "1\n", "٣", "1.5", "-1", "1" * 5000])
async def test_ei_10_and_19_what_is_no_id_is_refused(task_id: str) -> None:
    desk = await desk_with(stored(1))
    assert "TaskGet validate task ID failed, err: invalid format" in await desk.refused("TaskGet", {"taskId": task_id})
    assert "TaskUpdate validate task ID failed" in await desk.fail(task_id, status="completed")
    assert await desk.names() == {"1.json"}


@pytest.mark.parametrize("task_id", ["01", "1" + "0" * 30])
async def test_an_id_that_nobody_has_is_not_found(task_id: str) -> None:
    desk = await desk_with(stored(1))
    assert "not found" in await desk.refused("TaskGet", {"taskId": task_id})


async def test_ei_11_an_empty_board() -> None:
    assert (await Desk().call("TaskList", {})).result == '{"result":"No tasks found."}'


async def test_ei_12_a_board_is_listed() -> None:
    desk = await desk_with(stored(1, [], [2]), stored(2, status="in_progress", owner="agent1"))
    assert await desk.list() == "#1 [pending] Task 1 [blocked by #2]\n#2 [in_progress] Task 2 [owner: agent1]"


async def test_ei_13_to_15_fields_are_changed_and_named() -> None:
    desk = await desk_with(stored(1))
    assert await desk.update("1", status="in_progress", owner="agent1") == "Updated task #1 status, owner"
    assert await desk.update("1", subject="New", description="Newer") == "Updated task #1 subject, description"
    task = await desk.task("1")
    assert (task["status"], task["subject"], task["description"], task["owner"]) == (
        "in_progress",
        "New",
        "Newer",
        "agent1",
    )


async def test_ei_16_metadata_is_merged_and_null_takes_a_key_out() -> None:
    desk = await desk_with(stored(1))
    assert await desk.update("1", metadata={"key1": "value1", "key2": "value2"}) == "Updated task #1 metadata"
    await desk.update("1", metadata={"key1": None, "key3": "value3"})
    assert (await desk.task("1"))["metadata"] == {"key2": "value2", "key3": "value3"}
    await desk.update("1", metadata={"key2": None, "key3": None})
    assert "metadata" not in await desk.task("1")


async def test_ei_17_24_and_25_edges_have_both_sides() -> None:
    desk = await desk_with(*(stored(n) for n in range(1, 5)))
    assert await desk.update("1", addBlocks=["2", "3"]) == "Updated task #1 blocks"
    assert await desk.update("1", addBlockedBy=["4"]) == "Updated task #1 blockedBy"
    one, two, three, four = [await desk.task(str(n)) for n in range(1, 5)]
    assert (one["blocks"], one["blockedBy"]) == (["2", "3"], ["4"])
    assert two["blockedBy"] == three["blockedBy"] == four["blocks"] == ["1"]
    assert two["blocks"] == three["blocks"] == four["blockedBy"] == []


async def test_ei_18_a_deleted_task_is_gone() -> None:
    desk = await desk_with(stored(1))
    assert await desk.update("1", status="deleted") == "Updated task #1 deleted"
    with pytest.raises(FileNotFoundError):
        await desk.file("1.json")


async def test_ei_20_and_21_what_is_no_id_can_not_be_an_edge() -> None:
    desk = await desk_with(stored(1))
    assert "TaskUpdate validate blocked task ID failed" in await desk.fail("1", addBlocks=["invalid"])
    assert "TaskUpdate validate blocking task ID failed" in await desk.fail("1", addBlockedBy=["invalid"])


async def test_ei_22_and_23_an_edge_stands_once() -> None:
    desk = await desk_with(stored(1), stored(2, [], [1]), stored(3, [1]), stored(4), stored(5))
    await desk.update("1", addBlocks=["2", "4", "4"])
    assert (await desk.task("1"))["blocks"] == ["2", "4"]
    await desk.update("1", addBlockedBy=["3", "5", "5"])
    assert (await desk.task("1"))["blockedBy"] == ["3", "5"]


async def test_ei_26_and_27_an_edge_to_nothing_is_refused_whole() -> None:
    desk = await desk_with(stored(1), stored(2))
    assert await desk.fail("1", addBlocks=["2", "999"]) == (
        "TaskUpdate update Task #1 blocks failed, err: target Task #999 not found"
    )
    assert "TaskUpdate update Task #1 blockedBy failed" in await desk.fail("1", addBlockedBy=["999"], subject="x")
    assert [await desk.file(f"{n}.json") for n in (1, 2)] == [stored(1).encode(), stored(2).encode()]


async def test_ei_28_no_task_waits_for_itself() -> None:
    desk = await desk_with(stored(1))
    assert await desk.fail("1", addBlocks=["1"]) == (
        "TaskUpdate adding Task #1 to blocks of Task #1 would create a cyclic dependency: #1 -> #1"
    )
    assert "cyclic dependency: #1 -> #1" in await desk.fail("1", addBlockedBy=["1"])


async def test_ei_29_and_30_a_circle_is_refused_and_its_way_named() -> None:
    desk = await desk_with(stored(1), stored(2), stored(3))
    await desk.update("1", addBlocks=["2"])
    assert "cyclic dependency: #2 -> #1 -> #2" in await desk.fail("2", addBlocks=["1"])
    assert "cyclic dependency: #2 -> #1 -> #2" in await desk.fail("1", addBlockedBy=["2"])
    await desk.update("2", addBlocks=["3"])
    assert "cyclic dependency: #3 -> #1 -> #2 -> #3" in await desk.fail("3", addBlocks=["1"])
    assert "cyclic dependency: #3 -> #1 -> #2 -> #3" in await desk.fail("1", addBlockedBy=["3"])
    one, two, three = [await desk.task(str(n)) for n in (1, 2, 3)]
    assert (one["blocks"], one["blockedBy"]) == (["2"], [])
    assert (two["blocks"], two["blockedBy"]) == (["3"], ["1"])
    assert (three["blocks"], three["blockedBy"]) == ([], ["2"])


async def test_ei_31_a_deleted_task_goes_from_all_others() -> None:
    desk = await desk_with(stored(1, [2, 3]), stored(2, [3], [1]), stored(3, [], [1, 2]))
    assert await desk.update("1", status="deleted") == "Updated task #1 deleted\nNow unblocked: #2"
    assert "1.json" not in await desk.names()
    two, three = await desk.task("2"), await desk.task("3")
    assert (two["blocks"], two["blockedBy"]) == (["3"], [])
    assert (three["blocks"], three["blockedBy"]) == ([], ["2"])


async def test_ei_32_and_ex_11_when_all_are_completed_the_files_go_and_numbers_go_on() -> None:
    desk = await desk_with(stored(1, status="completed"), stored(2, status="completed"), stored(3))
    told = await desk.update("3", status="completed")
    assert told.startswith("Updated task #3 status\nAll tasks are completed, and were taken off the board.")
    assert await desk.names() == {".highwatermark"}
    assert await desk.list() == "No tasks found."
    assert await desk.create() == "Task #4 created successfully: s"


async def test_ei_33_while_something_is_open_the_files_stay() -> None:
    desk = await desk_with(stored(1), stored(2))
    assert await desk.update("1", status="completed") == "Updated task #1 status"
    assert {"1.json", "2.json"} <= await desk.names()
    assert (await desk.task("1"))["status"] == "completed"


async def test_ei_34_a_whole_plan() -> None:
    desk = Desk()
    assert "Task #1" in await desk.create("Task 1")
    assert "Task #2" in await desk.create("Task 2")
    await desk.update("2", addBlockedBy=["1"])
    assert await desk.list() == "#1 [pending] Task 1\n#2 [pending] Task 2 [blocked by #1]"
    assert await desk.update("1", status="in_progress") == "Updated task #1 status, owner"
    assert "Status: in_progress" in await desk.get("1")
    assert await desk.update("1", status="completed") == "Updated task #1 status\nNow unblocked: #2"
    assert await desk.list() == "#1 [completed] Task 1 [owner: Planner]\n#2 [pending] Task 2"


async def test_ex_1_a_missing_mark_is_healed() -> None:
    desk = await desk_with(stored(1))
    assert "Task #2 created" in await desk.create()
    assert await desk.file(".highwatermark") == "2"


@pytest.mark.parametrize(
    ("mark", "number"),
    [
        ("", 1),
        ("abc", 1),
        ("\n6", 1),
        ("0x10", 1),
        ("7", 8),
        ("07", 8),
        ("12abc", 1),
        ("1.5", 1),
        ("-3", 1),
        ("+4", 1),
        ("5\n", 1),
        ("  9", 1),
        ("1_000", 1),
    ],
)
async def test_ex_2_a_mark_is_digits_or_nothing(mark: str, number: int) -> None:
    assert f"Task #{number} created" in await (await desk_with(mark=mark)).create()
    behind = await desk_with(stored(9), mark=mark)
    assert "Task #10 created" in await behind.create()


async def test_ex_2_a_mark_may_be_of_any_size() -> None:
    assert f"Task #{10**20} created" in await (await desk_with(stored(9), mark="9" * 20)).create()


async def test_ex_3_tasks_are_listed_by_number() -> None:
    desk = await desk_with(*(stored(n) for n in (10, 2, 11, 1)))
    assert [line.split()[0] for line in (await desk.list()).splitlines()] == ["#1", "#2", "#10", "#11"]


@pytest.mark.parametrize("text", ["{bad", "[]", "", '{"id":"42","subject":"x"}', '{"id":"2","blocks":"3"}', '{"id":2}'])
async def test_ex_4_a_file_that_holds_no_task_is_skipped_and_named(text: str) -> None:
    desk = await desk_with(stored(1), stored(3, status="completed"))
    await desk.files.write("tasks/2.json", text)
    lines = (await desk.list()).splitlines()
    assert lines[:2] == ["#1 [pending] Task 1", "#3 [completed] Task 3"]
    assert "2.json" in lines[2]
    assert "can not be read: 2.json" in await desk.refused("TaskGet", {"taskId": "2"})
    await desk.update("1", status="completed")
    assert await desk.file("2.json") == text
    assert "Task #4 created" in await desk.create()


async def test_ex_5_a_state_is_one_of_four() -> None:
    desk = await desk_with(stored(1))
    for status in ("banana", "DELETED"):
        assert await desk.fail("1", status=status) == (
            f"TaskUpdate invalid task status: {status}; it is one of pending, in_progress, completed, deleted"
        )


async def test_ex_6_nothing_to_change_is_said_and_not_written() -> None:
    desk = await desk_with(stored(1))
    before = await desk.files.state()
    assert await desk.update("1", subject="", owner="") == "Task #1: no changes"
    assert await desk.files.state() == before


async def test_ex_10_completing_what_is_blocked_is_told_and_refused_where_strict() -> None:
    desk = await desk_with(stored(1), stored(2, [], [1]))
    assert "still blocked by #1" in await desk.update("2", status="completed")
    strict = await desk_with(stored(1), stored(2, [], [1]), strict=True)
    assert "blocked by #1" in await strict.fail("2", status="completed")
    await strict.update("1", status="completed")
    assert "go back from completed to pending" in await strict.fail("1", status="pending")


async def test_ex_14_what_is_not_there_can_not_be_deleted() -> None:
    assert await Desk().fail("77", status="deleted") == "TaskUpdate Task #77 not found"


async def test_ex_15_all_fields_are_named_in_order() -> None:
    desk = await desk_with(stored(1), stored(2))
    change = {"subject": "s", "description": "d", "activeForm": "a", "owner": "o", "metadata": {"k": 1}}
    assert await desk.update("1", status="in_progress", addBlocks=["2"], **change) == (
        "Updated task #1 subject, description, activeForm, status, blocks, owner, metadata"
    )


async def test_ex_16_nested_metadata_is_replaced() -> None:
    desk = Desk()
    await desk.create(metadata={"a": {"x": 1}, "keep": False})
    await desk.update("1", metadata={"a": {"y": 2}})
    assert (await desk.task("1"))["metadata"] == {"a": {"y": 2}, "keep": False}


class Full(MemoryFiles):
    """A disk on which there is no place for tasks."""

    full = True

    async def write(self, path: str, content: str) -> None:
        if self.full and path.endswith(".json"):
            raise OSError("disk full")
        await super().write(path, content)


async def test_ex_19_a_number_whose_task_could_not_be_written_is_not_given_again() -> None:
    files = Full()
    desk = Desk(files)
    arguments = {"subject": "s", "description": "d"}
    assert await desk.refused("TaskCreate", arguments) == "TaskCreate create Task #1 failed, err: disk full"
    files.full = False
    assert "Task #2 created" in await desk.create()


@pytest.mark.parametrize("arguments", ['{"taskId":"1","addBlocks":"2"}', '{"taskId":"1","addBlocks":[2]}'])
async def test_ex_20_wrong_types_are_told(arguments: str) -> None:
    desk = await desk_with(stored(1), stored(2))
    assert "addBlocks" in await desk.refused("TaskUpdate", arguments)
    assert "invalid format: " in await desk.refused("TaskUpdate", '{"taskId":"1","addBlocks":[null]}')


@pytest.mark.parametrize(
    "arguments",
    ['{"taskid":"1"}', '{"taskId":1}', '{"taskId":"1","taskId":"2"}', "nonsense", "[]", '"1"', "{", "{}", "null"],
)
async def test_ex_21_arguments_that_are_not_as_said_are_told(arguments: str) -> None:
    desk = await desk_with(stored(1), stored(2))
    assert "TaskGet was not called" in await desk.refused("TaskGet", arguments)


async def test_ex_22_a_full_task_is_shown() -> None:
    desk = await desk_with(stored(1, [2], [3, 4], owner="bob"), stored(2), stored(3), stored(4))
    assert await desk.get("1") == (
        "Task #1: Task 1\nStatus: pending\nDescription: Test description\nBlocked by: #3, #4\nBlocks: #2\nOwner: bob\n"
    )
    await desk.update("3", status="completed")
    assert "Blocked by: #4\n" in await desk.get("1")
