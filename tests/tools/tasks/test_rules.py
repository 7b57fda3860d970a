"""Who may do what to a task, and what a change leaves."""

from __future__ import annotations

import anyio
import pytest
from msgspec import structs

from roles_runtime.tools.tasks.languages import known, set_language
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.tools import NAMES, task_tools
from roles_runtime.tools.tasks.words_en import ENGLISH
from roles_runtime.tools.tasks.words_zh import CHINESE
from tools.tasks.boards import Desk, desk_with, stored

pytestmark = pytest.mark.anyio


async def test_of_two_that_claim_a_task_one_gets_it() -> None:
    planner = await desk_with(stored(1), stored(2))
    alice, bob = planner.beside("Alice"), planner.beside("Bob")
    results: list[bool] = []

    async def claim(desk: Desk) -> None:
        results.append((await desk.call("TaskUpdate", {"taskId": "1", "status": "in_progress"})).is_error)

    async with anyio.create_task_group() as group:
        group.start_soon(claim, alice)
        group.start_soon(claim, bob)
    assert sorted(results) == [False, True]


async def test_what_another_owns_is_refused_by_name_and_the_leader_may_reassign() -> None:
    planner = await desk_with(stored(1), stored(2))
    alice, bob = planner.beside("Alice"), planner.beside("Bob")
    await alice.update("1", status="in_progress")
    for change in ({"status": "completed"}, {"owner": "Bob"}, {"owner": None}, {"status": "deleted"}):
        assert "owned by Alice" in await bob.fail("1", **change)
    await bob.update("1", description="what Bob knows of it")
    assert await planner.update("1", owner="Bob") == "Updated task #1 owner"
    assert "owned by Bob" in await alice.fail("1", status="completed")
    await bob.update("1", status="completed")


async def test_what_is_given_back_is_pending_and_nobodys() -> None:
    desk = await desk_with(stored(1))
    await desk.update("1", status="in_progress")
    await desk.update("1", owner=None)
    assert await desk.list() == "#1 [pending] Task 1"


async def test_null_clears_and_an_empty_text_leaves() -> None:
    desk = Desk()
    await desk.create(activeForm="Doing", metadata={"a": 1})
    await desk.update("1", description="", activeForm="", owner="", subject="")
    assert (await desk.task("1"))["activeForm"] == "Doing"
    assert await desk.update("1", description=None, activeForm=None, metadata=None) == (
        "Updated task #1 description, activeForm, metadata"
    )
    assert await desk.file("1.json") == (
        '{"id":"1","subject":"s","description":"","status":"pending","blocks":[],"blockedBy":[]}'
    )


async def test_edges_are_taken_out_on_both_sides_and_what_that_frees_is_named() -> None:
    desk = await desk_with(stored(1, [2, 3]), stored(2, [], [1]), stored(3, [], [1]))
    assert await desk.update("1", removeBlocks=["2"]) == "Updated task #1 blocks\nNow unblocked: #2"
    assert await desk.update("3", removeBlockedBy=["1"]) == "Updated task #3 blockedBy\nNow unblocked: #3"
    tasks = [await desk.task(str(n)) for n in (1, 2, 3)]
    assert all(task["blocks"] == task["blockedBy"] == [] for task in tasks)


async def test_a_circle_of_one_call_is_refused_whole() -> None:
    desk = await desk_with(stored(1), stored(2))
    assert "cyclic dependency" in await desk.fail("1", addBlocks=["2"], addBlockedBy=["2"], subject="x")
    assert await desk.file("1.json") == stored(1).encode()


async def test_an_edge_of_which_one_side_is_there_counts() -> None:
    desk = await desk_with(stored(1), stored(2, [], [1]))
    assert "cyclic dependency" in await desk.fail("2", addBlocks=["1"])


async def test_a_chain_five_thousand_deep_is_no_depth() -> None:
    length = 5_000
    chain = [stored(n, [n + 1] if n < length else [], [n - 1] if n > 1 else []) for n in range(1, length + 1)]
    desk = await desk_with(*chain)
    problem = await desk.fail(str(length), addBlocks=["1"])
    assert "cyclic dependency: #5000 -> #1 -> #2" in problem
    assert "more" in problem
    assert len(problem) < 1000


async def test_a_new_line_in_a_subject_stays_one_line_of_the_list() -> None:
    desk = Desk()
    await desk.create("a\n#2 [completed] b\x1b")
    assert len((await desk.list()).splitlines()) == 1


async def test_a_subject_of_a_megabyte_takes_no_place_from_others() -> None:
    desk = await desk_with(structs.replace(stored(1), subject="s" * 1_000_000), stored(2))
    assert await desk.list() == f"#1 [pending] {'s' * 300}…\n#2 [pending] Task 2"


async def test_edges_of_other_hands_that_are_no_ids_end_no_call() -> None:
    desk = await desk_with(stored(1), stored(2))
    await desk.files.write(
        "tasks/1.json", '{"id":"1","subject":"Task 1","blocks":["x/y","2","٣"],"blockedBy":["../2"]}'
    )
    assert await desk.update("1", status="completed") == (
        "Updated task #1 status\nNote: it was still blocked by #../2.\nNow unblocked: #2"
    )
    assert (await desk.task("1"))["blocks"] == ["x/y", "2", "٣"]
    assert await desk.update("1", status="deleted") == "Updated task #1 deleted"


async def test_an_owner_is_a_name_without_space_around_it() -> None:
    desk = await desk_with(stored(1))
    assert await desk.update("1", owner=" \n") == "Task #1: no changes"
    await desk.update("1", owner=" Bob ")
    assert (await desk.task("1"))["owner"] == "Bob"


async def test_a_subject_that_says_nothing_is_refused() -> None:
    desk = Desk()
    for subject in ("", " \n"):
        assert "subject" in await desk.refused("TaskCreate", {"subject": subject, "description": "d"})
    assert await desk.names() == set()
    await desk.create()
    assert "subject" in await desk.refused("TaskUpdate", {"taskId": "1", "subject": " "})
    assert (await desk.task("1"))["subject"] == "s"


class Broken(MemoryFiles):
    """It fails in whatever way it likes."""

    async def ls_info(self, path: str) -> list:  # type: ignore[type-arg]
        raise ZeroDivisionError


async def test_a_backend_that_raises_is_an_error_result() -> None:
    desk = Desk(Broken())
    assert await desk.refused("TaskList", {}) == "TaskList list tasks failed, err: ZeroDivisionError"


async def test_cancelled_between_two_writes_a_board_is_as_it_was() -> None:
    class Slow(MemoryFiles):
        slow = False

        async def write(self, path: str, content: str) -> None:
            if self.slow and path.endswith("2.json"):
                await anyio.sleep_forever()
            await super().write(path, content)

    files = Slow()
    desk = Desk(files)
    await desk.create()
    await desk.create()
    before = await desk.file("1.json")
    files.slow = True
    with anyio.move_on_after(0.05):
        await desk.update("1", addBlocks=["2"])
    files.slow = False
    await desk.list()
    assert await desk.file("1.json") == before
    assert ".intent" not in await desk.names()


def test_the_tools_speak_the_language_that_was_said() -> None:
    for language, words in (("en", ENGLISH), ("zh", CHINESE)):
        tools = task_tools(Desk().board, "Planner", known(language))
        assert [tool.spec.description for tool in tools] == [words.descriptions[name] for name in NAMES]
    assert ENGLISH.parameters.keys() == CHINESE.parameters.keys()


def test_a_language_that_nobody_speaks_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid language"):
        known("fr")
    with pytest.raises(ValueError, match="invalid language"):
        set_language("fr")  # type: ignore[arg-type]


def test_the_schemas_are_made_once_and_say_what_is_open() -> None:
    first, second = (task_tools(Desk().board, "Planner") for _ in range(2))
    assert all(one.spec is other.spec for one, other in zip(first, second, strict=True))
    update = first[2].spec.parameters["properties"]
    assert isinstance(update, dict)
    assert update["status"] == {
        "type": "string",
        "enum": ["pending", "in_progress", "completed", "deleted"],
        "description": ENGLISH.parameters["status"],
    }
    create = first[0].spec.parameters["properties"]
    assert isinstance(create, dict)
    assert isinstance(create["metadata"], dict)
    assert create["metadata"]["additionalProperties"] is True
