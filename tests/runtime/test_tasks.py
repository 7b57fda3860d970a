"""A session's board: shared by its roles, an event a change, found again after a restart, and by a command."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from roles_runtime import ModelRole, PlanTasks, ScriptedModel, Session, Team, ToolCallChunk
from roles_runtime.errors import ConfigError, StoreError, TaskError, ToolDefinitionError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.model import Chunk, Finish
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.event import Event, TaskChanged, ToolReturned
from roles_runtime.roles.middleware import plan_tasks
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.task_store import JournalTasks, KeptTasks
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.tools.tasks.backend import FileInfo
from roles_runtime.tools.tasks.local_files import LocalFiles
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.tools import NAMES
from roles_runtime.tools.tool import tool
from runtime.casting import FailingStore, events_of, folded, running

pytestmark = pytest.mark.anyio


def calls(*wishes: tuple[str, dict[str, object]]) -> list[Chunk]:
    """An answer of a model that calls tools."""
    made = [
        ToolCall(call_id=f"call-{at}", name=name, arguments=json.dumps(arguments))
        for at, (name, arguments) in enumerate(wishes)
    ]
    return [*map(ToolCallChunk, made), Finish("tool_calls")]


def create(subject: str) -> tuple[str, dict[str, object]]:
    return "TaskCreate", {"subject": subject, "description": "d"}


def update(task_id: str, **change: object) -> tuple[str, dict[str, object]]:
    return "TaskUpdate", {"taskId": task_id, **change}


def worker(*answers: list[Chunk] | str, name: str = "Worker") -> tuple[ModelRole, ScriptedModel]:
    model = ScriptedModel(answers, sequential=True)
    return ModelRole(name, model=model), model


async def test_tasks_are_made_worked_off_and_each_change_is_an_event() -> None:
    role, _ = worker(
        calls(create("first"), create("second"), update("1", addBlocks=["2"])),
        calls(update("1", status="in_progress"), update("1", status="completed"), ("TaskList", {})),
        "half done",
    )
    seen: list[Event] = []
    async with running(role, middleware=[PlanTasks()]) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("two things", on_event=seen.append)
        assert round_.reply is not None
        changes = [event for event in await events_of(runtime, "s") if isinstance(event, TaskChanged)]
        assert [(each.task_id, each.previous, each.current, each.owner) for each in changes] == [
            ("1", "", "pending", ""),
            ("2", "", "pending", ""),
            ("1", "pending", "pending", ""),
            ("2", "pending", "pending", ""),
            ("1", "pending", "in_progress", "Worker"),
            ("1", "in_progress", "completed", "Worker"),
        ]
        told = [event for event in seen if isinstance(event, TaskChanged)]
        assert told == changes
        returned = [event for event in await events_of(runtime, "s") if isinstance(event, ToolReturned)]
        assert json.loads(json.loads(returned[-1].result)["result"])["result"] == (
            "#1 [completed] first [owner: Worker]\n#2 [pending] second"
        )


async def test_a_board_outlives_its_process_and_is_no_other_sessions(tmp_path: Path) -> None:
    def opened(*answers: list[Chunk] | str) -> Runtime:
        store = SqliteStore.from_url(f"sqlite:///{tmp_path}/roles.db")
        return Runtime(Team(worker(*answers)[0], middleware=[PlanTasks()]), store=store, data_dir=tmp_path)

    async with opened(calls(create("kept")), "ok") as runtime:
        await (await runtime.session("s")).ask("go")
    async with opened("other", calls(create("next")), "ok") as runtime:
        other = await runtime.session("other")
        await other.ask("go")
        assert not (await other.tasks.list()).tasks
        session = await runtime.session("s")
        assert [task.subject for task in (await session.tasks.list()).tasks] == ["kept"]
        await session.ask("go on")
        assert [(task.id, task.subject) for task in (await session.tasks.list()).tasks] == [
            ("1", "kept"),
            ("2", "next"),
        ]


async def test_a_finished_board_is_cleared_and_stays_in_the_journal() -> None:
    role, _ = worker(calls(create("only"), update("1", status="completed"), create("new")), "done")
    async with running(role, middleware=[PlanTasks()]) as runtime:
        session = await runtime.session("s")
        await session.ask("one thing")
        kept = (await folded(runtime, "s")).tasks
        assert kept is not None
        assert list(kept.files) == ["2"]
        assert json.loads(kept.done["1"])["status"] == "completed"


async def test_the_prompt_ends_with_one_reminder_while_something_is_open() -> None:
    role, model = worker("hello", calls(create("count")), "made", "later")
    async with running(role, middleware=[PlanTasks()]) as runtime:
        session = await runtime.session("s")
        for _ in range(3):
            await session.ask("go")
    first, second, _, third = model.requests
    for request in (first, second):
        assert [spec.name for spec in request.tools] == list(NAMES)
        assert "#1" not in last_text(request)
    assert last_text(third).startswith("<reminder>\n")
    assert last_text(third).endswith("\n#1 [pending] count\n</reminder>")
    assert sum("#1 [pending] count" in str(message.content) for message in third.messages) == 1


async def test_of_many_tasks_it_shows_those_in_progress_and_what_waits_for_them() -> None:
    role, model = worker(
        calls(*(create(f"task {number}") for number in range(1, 26))),
        calls(update("24", status="in_progress"), update("25", addBlockedBy=["24"])),
        "made",
        "said again",
        "later",
    )
    async with running(role, middleware=[PlanTasks()]) as runtime:
        session = await runtime.session("s")
        await session.ask("go")
        await session.ask("go")
    _, first, *lines, left, _ = last_text(model.requests[4]).splitlines()
    assert first.startswith("The board of tasks has open ones.")
    assert [line.split()[0] for line in lines] == [*(f"#{number}" for number in range(1, 19)), "#24", "#25"]
    assert left == "and 5 more: call TaskList"


def last_text(request: LLMRequest) -> str:
    return str(request.messages[-1].content)


async def test_a_taken_name_is_told_when_the_runtime_is_made() -> None:
    @tool(name="TaskGet")
    async def mine() -> str:
        """Mine."""
        return ""

    role = ModelRole("Worker", model=ScriptedModel([]), tools=[mine])
    with pytest.raises(ToolDefinitionError, match="TaskGet"):
        async with running(role, middleware=[PlanTasks()]):
            pass


async def test_twice_registered_is_told_when_the_runtime_is_made() -> None:
    role = ModelRole("Worker", model=ScriptedModel([]), middleware=[PlanTasks()])
    with pytest.raises(ToolDefinitionError, match="TaskCreate"):
        async with running(role, middleware=[PlanTasks()]):
            pass


async def test_a_folder_alone_is_one_on_the_disk(tmp_path: Path) -> None:
    folder = tmp_path / "board"
    role = ModelRole(
        "Worker",
        model=ScriptedModel([calls(create("here")), "ok"], sequential=True),
        middleware=[PlanTasks(base_dir=folder, language="zh")],
    )
    async with running(role) as runtime:
        await (await runtime.session("s")).ask("go")
        (changed,) = [event for event in await events_of(runtime, "s") if isinstance(event, TaskChanged)]
        assert (changed.task_id, changed.current, changed.board) == ("1", "pending", str(folder))
        assert json.loads(changed.task)["subject"] == "here"
        # It is no task of the session's own board.
        assert (await folded(runtime, "s")).tasks is None
    assert json.loads((folder / "1.json").read_text(encoding="utf-8"))["subject"] == "here"


async def test_each_turn_is_given_the_same_specs_and_nothing_else_while_nothing_is_open() -> None:
    seen: list[Turn] = []
    given: list[Turn] = []

    async def before(turn: Turn, respond: Respond) -> Answer:
        given.append(turn)
        return await respond(turn)

    async def after(turn: Turn, respond: Respond) -> Answer:
        seen.append(turn)
        return await respond(turn)

    role, _ = worker("one", "two")
    async with running(role, middleware=[before, PlanTasks(), after]) as runtime:
        session, other = await runtime.session("s"), await runtime.session("other")
        await session.ask("go")
        await other.ask("go")
    first, second = ([tool.spec for tool in turn.tools] for turn in seen)
    assert all(one is two for one, two in zip(first, second, strict=True))
    for was, became in zip(given, seen, strict=True):
        assert became.replace(tools=was.tools) == was


async def test_a_turn_of_an_empty_board_reads_no_file() -> None:
    class Counting(MemoryFiles):
        reads = 0

        async def ls_info(self, path: str) -> Sequence[FileInfo]:
            self.reads += 1
            return await super().ls_info(path)

    files = Counting()
    role, _ = worker("one", "two", "three")
    async with running(role, middleware=[PlanTasks(files)]) as runtime:
        session = await runtime.session("s")
        for _ in range(3):
            await session.ask("go")
    assert files.reads == 1


@pytest.mark.parametrize("fault", range(1, 8))
async def test_a_journal_that_could_not_be_written_leaves_the_board_as_it_is_read_again(fault: int) -> None:
    store = FailingStore(fault)
    role, _ = worker(calls(create("first"), create("second"), update("1", addBlocks=["2"])), *["ok"] * 5)
    async with running(role, store=store, middleware=[PlanTasks()], interrupted=True) as runtime:
        with suppress(StoreError):
            await (await runtime.session("s")).ask("go")
        session = await runtime.session("s")
        with suppress(StoreError):
            await session.ask("again")
        known = await session.tasks.list()
        kept = (await folded(runtime, "s")).tasks
        assert {task.id: task.encode() for task in known.tasks} == (kept.files if kept else {})
        forward = {(task.id, each) for task in known.tasks for each in task.blocks}
        assert forward == {(each, task.id) for task in known.tasks for each in task.blocked_by}


@pytest.mark.parametrize(
    "made",
    [
        lambda: PlanTasks(base_dir="board"),
        lambda: PlanTasks(base_dir=Path("board/")),
        lambda: PlanTasks(LocalFiles("board")),
        lambda: PlanTasks(LocalFiles("board"), "./board"),
    ],
)
async def test_a_folder_may_be_named_from_where_one_stands(
    made: Callable[[], PlanTasks], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    role = ModelRole("Worker", model=ScriptedModel([calls(create("here")), "ok"]), middleware=[made()])
    async with running(role) as runtime:
        await (await runtime.session("s")).ask("go")
    assert json.loads((tmp_path / "board" / "1.json").read_text(encoding="utf-8"))["subject"] == "here"


def test_two_folders_are_refused_and_none() -> None:
    with pytest.raises(ConfigError, match="leave it out"):
        PlanTasks(LocalFiles("board"), "tasks")
    with pytest.raises(ConfigError, match="it is empty"):
        PlanTasks(base_dir="")


async def test_each_change_of_a_board_in_a_folder_is_an_event_too(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            calls(create("first"), create("second"), update("1", addBlocks=["2"]), update("9", status="completed")),
            calls(update("1", status="completed"), update("2", status="in_progress"), update("2", status="completed")),
            "done",
        ],
        sequential=True,
    )
    role = ModelRole("Worker", model=model, middleware=[PlanTasks(base_dir=tmp_path)])
    async with running(role) as runtime:
        await (await runtime.session("s")).ask("go")
        changes = [event for event in await events_of(runtime, "s") if isinstance(event, TaskChanged)]
    assert [(each.task_id, each.previous, each.current, each.owner) for each in changes] == [
        ("1", "", "pending", ""),
        ("2", "", "pending", ""),
        ("1", "pending", "pending", ""),
        ("2", "pending", "pending", ""),
        ("1", "pending", "completed", ""),
        ("2", "pending", "in_progress", "Worker"),
        ("2", "in_progress", "completed", "Worker"),
        ("1", "completed", "deleted", ""),
        ("2", "completed", "deleted", ""),
    ]
    assert {each.board for each in changes} == {str(tmp_path)}


def test_what_is_no_backend_is_told_when_it_is_handed_over() -> None:
    class Mine:
        async def read(self, path: str) -> str:
            return ""

    with pytest.raises(ConfigError, match=r"Mine is no Backend; derive it from"):
        PlanTasks(Mine())  # type: ignore[arg-type]


async def test_a_broken_backend_ends_no_turn() -> None:
    class Broken(MemoryFiles):
        async def read(self, path: str) -> str:
            raise OSError("no disk")

        async def state(self) -> str:
            raise OSError("no disk")

    role = ModelRole(
        "Worker",
        model=ScriptedModel([calls(("TaskList", {})), "ok"], sequential=True),
        middleware=[PlanTasks(Broken())],
    )
    async with running(role) as runtime:
        round_ = await (await runtime.session("s")).ask("go")
        assert round_.reply is not None
        assert round_.reply.message == "ok"


async def test_a_backend_that_hangs_holds_no_turn_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(MemoryFiles):
        async def state(self) -> str:
            await anyio.sleep_forever()
            return ""

    monkeypatch.setattr(plan_tasks, "LISTED_S", 0.01)
    role = ModelRole("Worker", model=ScriptedModel(["ok"]), middleware=[PlanTasks(Hanging())])
    async with running(role) as runtime:
        round_ = await (await runtime.session("s")).ask("go")
    assert round_.reply is not None
    assert round_.reply.message == "ok"


async def test_while_no_round_runs_a_board_is_read_alone() -> None:
    role, _ = worker(calls(create("first")), "ok")
    async with running(role, middleware=[PlanTasks()]) as runtime:
        session: Session = await runtime.session("s")
        await session.ask("go")
        with pytest.raises(TaskError, match="is over"):
            await session.tasks.create("late", "d")
        assert len((await session.tasks.list()).tasks) == 1


async def test_the_files_of_a_session_have_their_sizes_in_bytes() -> None:
    role, _ = worker("ok")
    async with running(role) as runtime:
        kept = KeptTasks(files={"1": "数行数"}, last=1)
        files = await JournalTasks(await runtime.session("s"), kept).ls_info("tasks")
    assert {info.path: info.size for info in files} == {"1.json": 9, ".highwatermark": 1}
