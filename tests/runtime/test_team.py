"""Who may form a team, what its names mean, and the bounds it works within."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import pytest

from roles_runtime.errors import ConfigError, TeamError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.model import Finish, ToolCallChunk
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.roles.code_interpreter import CodeInterpreter
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.middleware.plan_tasks import PlanTasks
from roles_runtime.roles.planner import Planner
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.tools.tasks.languages import set_language
from roles_runtime.tools.tasks.words import Language, Words
from roles_runtime.tools.tasks.words_en import ENGLISH
from roles_runtime.tools.tasks.words_zh import CHINESE
from runtime.casting import cast, echo, running


def test_a_lone_worker_leads() -> None:
    team = Team(workers=[Echo()])
    assert team.leader.name == "Echo"
    assert list(team.roles) == ["Echo"]


@pytest.mark.parametrize(
    "make",
    [
        Team,
        lambda: Team(workers=[Echo("A"), Echo("B")]),
        lambda: Team(Echo(), [Echo()]),
        lambda: Team(Echo(), [Echo("echo")]),
        lambda: Team(Echo("User")),
        lambda: Team(Echo("user")),
        lambda: Team(Echo("Unknown")),
        lambda: Team(Echo("")),
        lambda: Team(Echo(" padded ")),
        lambda: Team(Echo("a/b")),
        lambda: Team(Echo("a\nb")),
        lambda: Team(Echo("1st")),
        lambda: Team(Echo("x" * 65)),
        lambda: Team("Planner"),  # type: ignore[arg-type]
        lambda: Team(Echo(), ["Worker"]),  # type: ignore[list-item]
        lambda: Runtime("Planner", kernels=None),  # type: ignore[arg-type]
    ],
)
def test_a_team_that_can_not_work_is_refused_when_it_is_made(make: Any) -> None:  # TW-83
    with pytest.raises(TeamError):
        make()


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Echo", "Echo"), ("echo", "Echo"), (" ECHO\n", "Echo"), ("user", "User"), ("nobody", None), ("", None)],
)
def test_an_address_is_stripped_and_found_but_for_case(written: str, meant: str | None) -> None:
    assert Team(Echo()).address(written) == meant


def test_names_may_be_of_any_script() -> None:
    assert Team(Echo("规划者"), [Echo("Älteste Frau")]).address("älteste frau") == "Älteste Frau"


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_internal_chat_round_num": 0},
        {"max_internal_chat_round_num": -1},
        {"turn_timeout_s": 0},
        {"turn_timeout_s": float("nan")},
        {"round_timeout_s": float("inf")},
        {"grace_s": -1.0},
        {"max_queued_asks": -1},
    ],
)
def test_a_bound_that_bounds_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError) as caught:
        Limits(**wrong)  # type: ignore[arg-type]
    assert caught.value.key == next(iter(wrong))


def test_the_bounds_are_those_of_the_plan() -> None:
    limits = Limits()
    assert (limits.turn_timeout_s, limits.round_timeout_s, limits.cell_timeout_s) == (300.0, 1800.0, 120.0)
    assert (limits.max_internal_chat_round_num, limits.max_self_corrections, limits.grace_s) == (10, 3, 5.0)
    assert (limits.max_queued_asks, limits.session_idle_s) == (100, 900.0)
    assert (limits.large_post_bytes, limits.max_post_bytes) == (256 * 1024, 16 * 1024 * 1024)


@pytest.mark.anyio
async def test_the_first_middleware_is_outermost_and_the_teams_stands_outside_the_roles() -> None:
    order: list[str] = []

    def layer(name: str) -> Any:
        async def around(turn: Turn, respond: Respond) -> Answer:
            order.append(f"{name} in")
            answer = await respond(turn)
            order.append(f"{name} out")
            return answer

        return around

    @cast("Planner", middleware=[layer("role's")])
    async def planner(turn: Turn) -> Answer:
        order.append("reply")
        return turn.answer("done", "User")

    async with running(planner, echo(), middleware=[layer("first"), layer("second")]) as runtime:
        await (await runtime.session()).ask("hey")
    assert order == ["first in", "second in", "role's in", "reply", "role's out", "second out", "first out"]


def test_a_team_speaks_the_language_that_it_is_given_else_what_was_set_else_english() -> None:
    def speaks(default: Language | None, given: Language | None) -> Language:
        def make() -> Language:
            if default is not None:
                set_language(default)
            return Team(Echo(), language=given).language

        return copy_context().run(make)

    assert speaks(None, None) == "en"
    assert speaks("zh", None) == "zh"
    assert speaks("zh", "en") == "en"
    assert speaks(None, "zh") == "zh"


@pytest.mark.parametrize("name", ["fr", "", "ZH"])
def test_a_language_that_no_team_speaks_is_refused_with_those_there_are(name: Any) -> None:
    with pytest.raises(TeamError, match="give it one of en, zh"):
        Team(Echo(), language=name)


def test_the_roles_say_who_they_are_in_the_teams_language_but_for_what_the_user_wrote() -> None:
    team = Team(Planner(), [CodeInterpreter(intro="Counts.")], language="zh")
    assert [each.intro for each in team.members] == ["制定计划，并分派计划中的各个步骤。", "Counts."]
    assert Team(Planner()).members[0].intro == Planner().intro


def test_middleware_that_stands_round_a_team_leaves_that_team_as_it_is() -> None:
    async def inner(turn: Turn, respond: Respond) -> Answer:
        return await respond(turn)

    async def outer(turn: Turn, respond: Respond) -> Answer:
        return await respond(turn)

    team = Team(Echo(), middleware=[inner])
    assert team.within(outer).middleware == (outer, inner)
    assert team.middleware == (inner,)
    assert Team(Echo()).within(outer).middleware == (outer, *Team(Echo()).middleware)
    assert Team(Echo(), middleware=[]).within(outer).middleware == (outer,)


@pytest.mark.anyio
@pytest.mark.parametrize(("own", "told"), [(None, CHINESE), ("en", ENGLISH)])
async def test_the_task_tools_speak_their_own_language_else_the_teams(own: Language | None, told: Words) -> None:
    wish = ToolCall(call_id="a", name="TaskCreate", arguments='{"subject": "count", "description": "all"}')
    model = ScriptedModel([[ToolCallChunk(wish), Finish("tool_calls")], "made", "ok"], sequential=True)
    team = Team(ModelRole("Worker", model=model), middleware=[PlanTasks(language=own)], language="zh")
    async with Runtime(team, kernels=None) as runtime:
        session = await runtime.session()
        await session.ask("plan it")
        await session.ask("go on")
    request = model.requests[-1]
    assert {tool.name: tool.description for tool in request.tools} == told.descriptions
    assert told.reminder in request.messages[-1].content
