"""A plan and the board of tasks: on by default, in agreement with each other, and never left half done unseen."""

from __future__ import annotations

import json

import pytest

from roles_runtime import Echo, ModelRole, Planner, PlanTasks, ScriptedModel, Team
from roles_runtime.errors import ModelError
from roles_runtime.llm.model import Chunk
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.post import Post
from roles_runtime.roles.middleware import plan_agreement
from roles_runtime.roles.role import Role
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.stores.local import LocalStore
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.tools import NAMES
from runtime.test_tasks import calls, create, last_text, update

pytestmark = pytest.mark.anyio


def planned(send_to: str, message: str = "m") -> str:
    steps = {"plan_reasoning": "r", "init_plan": "1. a", "plan": "1. a\n2. b", "current_plan_step": "1. a"}
    stop = "Completed" if send_to == "User" else "InProcess"
    return json.dumps({"response": {**steps, "stop": stop, "send_to": send_to, "message": message}})


async def round_of(answers: list[list[Chunk] | str | Exception]) -> tuple[Round, list[LLMRequest]]:
    """One round of a Planner that says this, with a worker who echoes."""
    model = ScriptedModel(answers, sequential=True)
    async with Runtime(Team(Planner(model=model), [Echo()]), store=LocalStore(), kernels=None) as runtime:
        return await (await runtime.session("s")).ask("go"), list(model.requests)


def content(post: Post, kind: AttachmentType) -> list[str]:
    return [each.content for each in post.get_attachment(kind)]


def layers(*roles: Role, middleware: list[PlanTasks] | None = None) -> list[int]:
    team = Team(roles[0], roles[1:], middleware)
    return [len(team.layers(role)) for role in roles]


async def test_every_role_with_a_model_has_the_tools_where_nothing_else_is_said() -> None:
    model = ScriptedModel(["hello"], sequential=True)
    async with Runtime(Team(ModelRole("Worker", model=model)), store=LocalStore(), kernels=None) as runtime:
        await (await runtime.session("s")).ask("go")
    assert [tool.name for tool in model.requests[0].tools] == list(NAMES)


def test_the_default_gives_way_to_what_is_said() -> None:
    plain = ModelRole("Plain", model=ScriptedModel([]))
    own = ModelRole("Own", model=ScriptedModel([]), middleware=[PlanTasks(MemoryFiles())])
    assert layers(plain, own, Echo()) == [1, 1, 0]
    assert layers(plain, own, Echo(), middleware=[]) == [0, 1, 0]


async def test_the_plan_is_drawn_from_the_board_and_its_step_from_the_task_in_progress() -> None:
    made = calls(
        create("count"), create("report\nit"), update("2", addBlockedBy=["1"]), update("1", status="in_progress")
    )
    ended, _ = await round_of(
        [made, planned("Echo"), calls(update("1", status="deleted"), update("2", status="deleted")), planned("User")]
    )
    first, last = ended.post_list[1], ended.post_list[-1]
    assert content(first, AttachmentType.plan) == ["1. count\n2. report it <narrow depend on 1>"]
    assert content(first, AttachmentType.current_plan_step) == ["1. count"]
    (shared,) = content(first, AttachmentType.shared_memory_entry)
    assert shared == (
        "Planner follows this plan:\nPLAN:\n1. count\n2. report it <narrow depend on 1>\nThe current step is: 1. count"
    )
    # With nothing on the board the plan is the model's own.
    assert content(last, AttachmentType.plan) == ["1. a\n2. b"]


async def test_a_plan_of_a_large_board_shows_what_is_to_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_agreement, "MAX_PLANNED", 3)
    made = calls(*(create(f"task {number}") for number in range(1, 7)))
    moved = calls(*(update(each, status="completed") for each in "123"), update("6", addBlockedBy=["5"]))
    ended, _ = await round_of([made, moved, planned("Echo"), calls(update("5", status="deleted")), planned("User")])
    first = ended.post_list[1]
    assert content(first, AttachmentType.plan) == [
        "4. task 4\n5. task 5\n6. task 6 <narrow depend on 5>\nand 3 more: call TaskList"
    ]
    assert content(first, AttachmentType.current_plan_step) == ["4. task 4"]


async def test_of_several_tasks_in_progress_the_step_is_that_of_whom_the_post_is_for() -> None:
    made = calls(
        create("mine"),
        create("its"),
        update("1", status="in_progress"),
        update("2", status="in_progress", owner="Echo"),
    )
    done = calls(update("1", status="completed"), update("2", status="completed"))
    ended, _ = await round_of([made, planned("Echo"), done, planned("User")])
    assert content(ended.post_list[1], AttachmentType.current_plan_step) == ["2. its"]


async def test_with_no_task_in_progress_the_step_is_what_comes_next() -> None:
    made = calls(create("last"), create("first"), update("1", addBlockedBy=["2"]))
    ended, _ = await round_of([made, planned("Echo"), planned("User")])
    assert content(ended.post_list[1], AttachmentType.current_plan_step) == ["2. first"]


async def test_who_answers_the_user_while_tasks_are_in_progress_is_reminded_once() -> None:
    begun = calls(create("count"), update("1", status="in_progress"))
    ended, asked = await round_of([begun, planned("User", "early"), planned("User", "still")])
    assert [(each.send_from, each.send_to) for each in ended.post_list] == [
        ("User", "Planner"),
        ("Planner", "Planner"),
        ("Planner", "User"),
    ]
    reminded = ended.post_list[1]
    assert reminded.message.startswith("You answer the user while tasks are in progress.")
    assert reminded.message.endswith("#1 [in_progress] count [owner: Planner]")
    assert ended.reply is not None
    assert ended.reply.message == "still"
    texts = [str(message.content) for message in asked[-1].messages]
    assert any('"message": "early"' in text for text in texts), "it sees what it wrote"
    assert last_text(asked[-1]).startswith("<reminder>")


async def test_the_reminder_leads_to_a_finished_board() -> None:
    begun = calls(create("count"), update("1", status="in_progress"))
    ended, _ = await round_of(
        [begun, planned("User", "early"), calls(update("1", status="completed")), planned("User", "done")]
    )
    assert len(ended.post_list) == 3
    assert ended.reply is not None
    assert ended.reply.message == "done"


@pytest.mark.parametrize("failing", [ModelError("m", "it is gone."), "{", ""])
async def test_whoever_fails_at_a_better_answer_has_given_the_first(failing: Exception | str) -> None:
    begun = calls(create("count"), update("1", status="in_progress"))
    ended, _ = await round_of([begun, planned("User", "early \u00e4\n2"), *[failing] * 9])
    assert ended.state is RoundState.finished, ended.detail
    assert ended.reply is not None
    assert ended.reply.message == "early \u00e4\n2"
    assert content(ended.reply, AttachmentType.current_plan_step) == ["1. count"]


async def test_where_no_self_correction_is_left_the_answer_goes_out() -> None:
    begun = calls(create("count"), update("1", status="in_progress"))
    broken = "{"
    ended, _ = await round_of([begun, broken, broken, broken, planned("User", "early")])
    assert ended.reply is not None
    assert ended.reply.message == "early"
    assert len(ended.post_list) == 5


async def test_pending_tasks_remind_nobody_who_answers_the_user() -> None:
    ended, _ = await round_of([calls(create("later")), planned("User", "for now")])
    assert len(ended.post_list) == 2
