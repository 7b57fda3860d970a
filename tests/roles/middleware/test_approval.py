"""The user is asked before a tool runs, and after a no it does not run."""

from __future__ import annotations

import asyncio
import json

import pytest

from roles_runtime.errors import ConfigError, ToolDefinitionError
from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.message import ToolMessage
from roles_runtime.llm.model import Finish, TextChunk, ToolCallChunk
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import ApprovalAsked, Event
from roles_runtime.roles.middleware.approval import Approval
from roles_runtime.roles.middleware.plan_tasks import PlanTasks
from roles_runtime.roles.middleware.results import ResultReduction
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.turn import Middleware
from roles_runtime.tools.tool import tool
from runtime.casting import running, until

pytestmark = pytest.mark.anyio


class Desk:
    """Tools that note what they did, and a user who says yes to some questions, or to nobody."""

    def __init__(self, *patterns: str, wishes: tuple[tuple[str, object], ...], yes: tuple[str, ...] | None) -> None:
        self.done: list[str] = []
        self.questions: list[str] = []
        self._patterns, self._wishes, self._yes = patterns, wishes, yes

    async def returns(self) -> tuple[ToolReturn, ...]:
        """Plays a round in which the model wishes for these calls; what it was told of them."""

        @tool
        async def delete(path: str) -> str:
            """Deletes."""
            self.done.append(f"delete {path}")
            return "gone"

        @tool
        async def look(path: str = "") -> str:
            """Looks."""
            self.done.append("look")
            return "seen"

        @tool(timeout_s=0.05)
        async def sleep(path: str = "") -> str:
            """Sleeps."""
            await asyncio.sleep(60)
            return "woke"

        calls = [
            ToolCallChunk(ToolCall(call_id=f"c{n}", name=name, arguments=json.dumps({"path": path})))
            for n, (name, path) in enumerate(self._wishes)
        ]
        model = ScriptedModel([(*calls, Finish("tool_calls")), (TextChunk("Done."), Finish())], sequential=True)
        role = ModelRole("Hand", model=model, tools=[delete, look, sleep])
        async with running(role, middleware=[Approval(*self._patterns)]) as runtime:
            session = await runtime.session("s")

            def take(event: Event) -> None:
                if isinstance(event, ApprovalAsked):
                    self.questions.append(event.question)
                    if self._yes is not None:
                        session.approve(event.approval_id, any(each in event.question for each in self._yes))

            if self._yes is None:
                record = await session.ask("Go.", on_event=take)
            else:
                with session.attended():
                    record = await session.ask("Go.", on_event=take)
        assert record.state is RoundState.finished, record.detail
        (told,) = (each for each in model.requests[-1].messages if isinstance(each, ToolMessage))
        return told.tool_reses


async def test_after_a_yes_the_tool_runs() -> None:
    desk = Desk("delete", wishes=(("delete", "a"),), yes=("delete",))
    (told,) = await desk.returns()
    assert told.result == "gone"
    assert desk.done == ["delete a"]
    assert desk.questions == ['May the tool delete be called with {"path":"a"}?']


async def test_after_a_no_it_does_not_and_the_model_is_told_so() -> None:
    desk = Desk("delete", wishes=(("delete", "a"),), yes=())
    (told,) = await desk.returns()
    assert told.is_error
    assert told.result.startswith("The user did not allow this call of delete")
    assert desk.done == []


async def test_without_anybody_there_it_does_not_run_either() -> None:
    desk = Desk("delete", wishes=(("delete", "a"),), yes=None)
    (told,) = await desk.returns()
    assert told.is_error
    assert desk.done == []
    assert len(desk.questions) == 1


async def test_only_the_tools_that_are_named_are_asked_for() -> None:
    desk = Desk("del*", wishes=(("look", ""), ("delete", "a")), yes=())
    looked, deleted = await desk.returns()
    assert (looked.result, deleted.is_error) == ("seen", True)
    assert len(desk.questions) == 1


async def test_all_are_asked_for_where_none_is_named() -> None:
    desk = Desk(wishes=(("look", ""), ("delete", "a"), ("delete", "b")), yes=("look", '"b"'))
    told = await desk.returns()
    assert [each.is_error for each in told] == [False, True, False]
    assert sorted(desk.done) == ["delete b", "look"]
    assert len(desk.questions) == 3


async def test_what_does_not_fit_the_tool_is_not_asked_for() -> None:
    desk = Desk("delete", wishes=(("delete", 7),), yes=("delete",))
    (told,) = await desk.returns()
    assert told.is_error
    assert desk.questions == []


async def test_the_time_of_a_tool_runs_from_the_yes() -> None:
    @tool(timeout_s=0.05)
    async def quick() -> str:
        """Is quick."""
        return "quick"

    call = ToolCallChunk(ToolCall(call_id="c", name="quick", arguments="{}"))
    model = ScriptedModel([(call, Finish("tool_calls")), (TextChunk("Done."), Finish())], sequential=True)
    async with running(ModelRole("Hand", model=model, tools=[quick]), middleware=[Approval()]) as runtime:
        session = await runtime.session("s")
        with session.attended():
            asked = asyncio.create_task(session.ask("Go."))
            await until(lambda: session.approvals)
            await asyncio.sleep(0.2)
            session.approve(session.approvals[0].approval_id, True)
            await asked
    (told,) = (each for each in model.requests[-1].messages if isinstance(each, ToolMessage))
    assert told.tool_reses[0].result == "quick"


async def test_a_tool_that_takes_too_long_after_the_yes_is_given_up() -> None:
    (told,) = await Desk(wishes=(("sleep", ""),), yes=("sleep",)).returns()
    assert told.result == "sleep gave no result within 0.05 s."
    assert told.is_error


async def test_long_arguments_are_cut_and_the_user_is_told_that_they_are() -> None:
    desk = Desk(wishes=(("delete", "x" * 9_000),), yes=())
    await desk.returns()
    assert desk.questions[0].endswith("… and 5,011 more characters that are NOT shown?")


@pytest.mark.parametrize(
    ("team", "role", "unseen"),
    [
        ([Approval("Task*"), PlanTasks()], [], "TaskCreate"),
        ([Approval("TaskUpdate")], [PlanTasks()], "TaskUpdate"),
        ([PlanTasks(), Approval(), ResultReduction()], [], "read_file_part"),
    ],
)
async def test_a_tool_that_would_come_by_unasked_is_told_when_the_runtime_is_made(
    team: list[Middleware], role: list[Middleware], unseen: str
) -> None:
    hand = ModelRole("Hand", model=ScriptedModel([]), middleware=role)
    with pytest.raises(ToolDefinitionError, match=f"Approval would not see the tool '{unseen}'"):
        async with running(hand, middleware=team):
            pass


async def test_tools_that_are_not_asked_for_may_come_after_it() -> None:
    hand = ModelRole("Hand", model=ScriptedModel(["ok"]), middleware=[PlanTasks(), Approval("Task*")])
    async with running(hand, middleware=[Approval("delete"), ResultReduction()]) as runtime:
        assert (await (await runtime.session("s")).ask("go")).state is RoundState.finished


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="is no name of a tool"):
        Approval("")
