"""Seats: roles share the models that they have in common; what a model's failures are to a round; who is closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from llm.failing import DONE, Told, reliable
from roles_runtime.errors import ModelKeyError, ModelUnavailableError
from roles_runtime.llm.model import Chunk, Finish, TextChunk
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.reliable import ReliableModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import ModelReplied
from roles_runtime.roles.role import ModelRole
from roles_runtime.runtime import seats
from roles_runtime.runtime.seats import take_seats
from roles_runtime.runtime.team import Team
from runtime.casting import events_of, running

pytestmark = pytest.mark.anyio

DOWN = ModelUnavailableError("a", "HTTP 503: overloaded")


def test_roles_that_think_with_the_same_model_share_what_is_known_of_it() -> None:
    model, other = Told("a", DONE), Told("b", DONE)
    given = {"A": model, "B": [model], "C": [model, other], "D": (model, other), "E": other, "F": "rules", "G": "rules"}
    roles = [ModelRole(name, model=each) for name, each in given.items()]
    taken = {name: seat.model for name, seat in take_seats(Team(roles[0], roles[1:]), None).items()}
    assert taken["A"] is taken["B"]
    assert taken["C"] is taken["D"]
    assert taken["F"] is taken["G"]
    assert len({id(each) for each in taken.values()}) == 4


def test_a_seat_tells_the_circuits_of_its_models() -> None:
    roles = [ModelRole("A", model=[Told("a"), Told("b")]), ModelRole("B", model=ScriptedModel([])), ModelRole("C")]
    taken = take_seats(Team(roles[0], roles[1:]), None)
    assert [[state.model for state in seat.circuits] for seat in taken.values()] == [["a", "b"], [], []]


async def test_a_round_says_what_was_tried_and_the_next_one_that_the_model_is_left_alone() -> None:
    role = ModelRole("Planner", model=reliable(Told("a", [DOWN]), opens_after=3))
    async with running(role) as runtime:
        session = await runtime.session()
        details = [(await session.ask("How many?")).detail for _ in range(2)]
    assert details == [
        "Role Planner: Model a: HTTP 503: overloaded. It was asked 3 times in 1.5 s.",
        "Role Planner: Model a: it was not asked, for it failed 3 times in a row; it is left alone since 0 s and for "
        "another 30 s. What it said last: HTTP 503: overloaded",
    ]


async def test_the_journal_names_the_model_that_answered() -> None:
    refused = Told("a", [ModelKeyError("a", "the key was refused.")])
    async with running(ModelRole("Planner", model=[refused, Told("b", DONE)])) as runtime:
        session = await runtime.session()
        answered = await session.ask("How many?")
        assert answered.state is RoundState.finished
        events = await events_of(runtime, session.id)
    assert [event.model for event in events if isinstance(event, ModelReplied)] == ["b"]


async def test_models_are_closed_with_the_runtime_each_once() -> None:
    mine, shared = Told("a", DONE), Told("b", DONE)
    kept = ReliableModel([shared])
    async with running(ModelRole("Planner", model=mine), ModelRole("B", model=kept), ModelRole("C", model=kept)):
        assert (mine.closed, shared.closed) == (0, 0)
    assert (mine.closed, shared.closed) == (1, 1)


async def test_a_model_that_fails_to_close_or_hangs_keeps_neither_the_others_nor_the_runtime(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seats, "CLOSE_S", 0.01)

    class Broken(Told):
        async def aclose(self) -> None:
            raise OSError("stuck")

    class Hanging(Told):
        async def aclose(self) -> None:
            await asyncio.Event().wait()

    class NotAsync:
        name, writes_code = "odd", False

        async def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
            yield TextChunk("42")
            yield Finish()

        def aclose(self) -> None:
            return None

    last = Told("c", DONE)
    models = [Broken("a"), Hanging("b"), NotAsync(), last]
    first, *others = [ModelRole(f"R{at}", model=model) for at, model in enumerate(models)]
    async with running(first, *others):
        pass
    assert last.closed == 1
