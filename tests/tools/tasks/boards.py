"""Boards as the vectors of the tests have them, and somebody who works with them through the four tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.tasks.backend import Backend
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.task import Task
from roles_runtime.tools.tasks.tools import task_tools
from roles_runtime.tools.toolbox import Toolbox

LEADER = "Planner"


class Desk:
    """A role at a board; the folder is ``tasks``."""

    def __init__(self, files: Backend | None = None, *, strict: bool = False, role: str = LEADER) -> None:
        self.files = MemoryFiles() if files is None else files
        self.board = TaskBoard(self.files, "tasks")
        self.role, self.strict = role, strict

    def beside(self, role: str) -> Desk:
        """Another role at the same board."""
        other = Desk(self.files, role=role)
        other.board = self.board
        return other

    async def call(self, name: str, arguments: object) -> ToolReturn:
        """What a model is told of a call; a text is taken for the arguments as they are."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        caller = Caller("session", "round", self.role, "call-1", Workspace(Path("nowhere")), lambda event: None)
        toolbox = Toolbox(task_tools(self.board, LEADER, strict=self.strict))
        return (await toolbox.call(ToolCall(call_id="call-1", name=name, arguments=text), caller)).returned

    async def told(self, name: str, arguments: object) -> str:
        """The result of a call that goes well."""
        returned = await self.call(name, arguments)
        assert not returned.is_error, returned.result
        result: str = json.loads(returned.result)["result"]
        return result

    async def refused(self, name: str, arguments: object) -> str:
        """The error of a call that does not."""
        returned = await self.call(name, arguments)
        assert returned.is_error, returned.result
        return returned.result

    async def create(self, subject: str = "s", description: str = "d", **more: object) -> str:
        return await self.told("TaskCreate", {"subject": subject, "description": description, **more})

    async def get(self, task_id: str) -> str:
        return await self.told("TaskGet", {"taskId": task_id})

    async def update(self, task_id: str, **change: object) -> str:
        return await self.told("TaskUpdate", {"taskId": task_id, **change})

    async def fail(self, task_id: str, **change: object) -> str:
        return await self.refused("TaskUpdate", {"taskId": task_id, **change})

    async def list(self) -> str:
        return await self.told("TaskList", {})

    async def file(self, name: str) -> str:
        return await self.files.read(f"tasks/{name}")

    async def task(self, task_id: str) -> Mapping[str, object]:
        """What a task's file holds."""
        document: dict[str, object] = json.loads(await self.file(f"{task_id}.json"))
        return document

    async def names(self) -> set[str]:
        """What stands in the folder, but for what we keep to ourselves."""
        listed = await self.files.ls_info("tasks")
        return {info.path.rpartition("/")[2] for info in listed} - {".lock"}


def stored(
    task_id: int, blocks: Sequence[int] = (), blocked_by: Sequence[int] = (), status: str = "pending", owner: str = ""
) -> Task:
    """A task as a vector writes it: ``T(1;[2];[3])``."""
    return Task(
        id=str(task_id),
        subject=f"Task {task_id}",
        description="Test description",
        status=status,
        blocks=tuple(map(str, blocks)),
        blocked_by=tuple(map(str, blocked_by)),
        owner=owner,
    )


async def desk_with(*tasks: Task, mark: str | None = None, strict: bool = False, role: str = LEADER) -> Desk:
    """A desk at a board that somebody else wrote."""
    files = MemoryFiles()
    for task in tasks:
        await files.write(f"tasks/{task.id}.json", task.encode())
    if mark is not None:
        await files.write("tasks/.highwatermark", mark)
    return Desk(files, strict=strict, role=role)
