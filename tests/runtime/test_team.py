"""Who may form a team, what its names mean, and the bounds it works within."""

from __future__ import annotations

from typing import Any

import pytest

from roles_runtime.errors import ConfigError, TeamError
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
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
