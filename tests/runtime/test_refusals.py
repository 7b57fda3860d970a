"""What is refused at the door: questions that are none, files that are no list of paths, a second opening."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roles_runtime.errors import (
    PostRefusedError,
    RuntimeReopenedError,
    StoreError,
    TeamError,
    WorkspaceError,
)
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import ModelReplied, RoundOpened
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.stores.local import LocalStore
from roles_runtime.stores.sqlite import SqliteStore
from runtime.casting import Marked, cast, echo, events_of, running, says

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (b"bytes", "of type bytes"),
        (None, "None"),
        (7, "of type int"),
        (["a", "list"], "of type list"),
        (Marked("marked"), "str(...)"),
        ("half a \ud800 pair", "surrogate"),
        (" \n", "empty"),
    ],
)
async def test_a_question_that_is_no_text_is_refused_before_anything_is_written(
    question: Any, words: str, tmp_path: Path
) -> None:
    async with running(echo(), store=SqliteStore(tmp_path / "roles.db")) as runtime:
        session = await runtime.session("s")
        for _ in range(2):
            with pytest.raises(PostRefusedError) as caught:
                await session.ask(question)
            assert words in str(caught.value)
        with pytest.raises(PostRefusedError):
            session.stream(question)
        assert not session.busy
        assert await events_of(runtime, "s") == []
        assert (await session.ask("Grüße \U0001f600")).state is RoundState.finished


@pytest.mark.parametrize("files", ["data.csv", "", Path("data.csv"), b"data.csv", 7, [1], [b"data.csv"], [None]])
async def test_files_that_are_no_list_of_paths_are_refused_with_the_way_to_write_it(files: Any) -> None:
    async with running(echo(), kernels=ScriptedKernels()) as runtime:
        session = await runtime.session("s")
        with pytest.raises(WorkspaceError, match=r"files=\["):
            await session.ask("q", files=files)
        with pytest.raises(WorkspaceError, match=r"files=\["):
            session.stream("q", files=files)
        assert not session.busy
        assert session.rounds == ()


async def test_a_single_path_is_told_back_as_the_list_it_should_have_been() -> None:
    async with running(echo()) as runtime:
        session = await runtime.session()
        for files in ("my data.csv", Path("my data.csv")):
            with pytest.raises(WorkspaceError, match=r"files=\['my data.csv'\]"):
                await session.ask("q", files=files)  # type: ignore[arg-type]


async def test_a_files_name_that_no_path_can_hold_is_refused_in_words_that_can_be_printed() -> None:
    async with running(echo()) as runtime:
        session = await runtime.session()
        with pytest.raises(WorkspaceError) as caught:
            await session.ask("q", files=["a\ud800b.csv"])
        assert "a\ufffdb.csv" in str(caught.value).encode().decode()
        assert session.rounds == ()


async def test_texts_and_paths_in_any_iterable_are_files(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        await asyncio.to_thread((tmp_path / name).write_text, name, encoding="utf-8")

    def given() -> Iterator[str | Path]:
        yield tmp_path / "a.txt"
        yield str(tmp_path / "b.txt")

    async with running(echo(), data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        await session.ask("q", files=given())  # type: ignore[arg-type]
        await session.ask("q", files=[tmp_path / "a.txt"])
        opened = [event.files for event in await events_of(runtime, "s") if isinstance(event, RoundOpened)]
    assert opened == [("a.txt", "b.txt"), ("a.txt",)]


@pytest.mark.parametrize("bad", [None, 7, b"s"])
async def test_a_session_id_that_is_no_text_is_refused(bad: Any) -> None:
    async with running(echo()) as runtime:
        if bad is None:
            assert (await runtime.session(bad)).id
        else:
            with pytest.raises(TeamError):
                await runtime.session(bad)


def test_a_role_whose_name_is_a_kind_of_str_can_not_be_written_down_and_is_refused() -> None:
    with pytest.raises(TeamError):
        Team(echo(Marked("Echo")))


# --- what roles have written down themselves -----------------------------------------------------------------


async def test_an_event_that_no_journal_can_hold_is_the_fault_of_the_role_that_records_it(tmp_path: Path) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.message == "bad":
            await turn.record(ModelReplied(turn.round_id, "Planner", turn.turn_id, "m", "\ud800", "stop", 1, 1, 1))
        return turn.answer("done", USER)

    async with running(planner, store=SqliteStore(tmp_path / "roles.db")) as runtime:
        session = await runtime.session("s")
        bad = await session.ask("bad")
        assert (bad.state, bad.reason) == (RoundState.failed, "role_error")
        assert "ModelReplied" in bad.detail
        assert session.usage.calls == 0
        assert (await session.ask("good")).state is RoundState.finished


async def test_code_that_no_journal_can_hold_is_not_run(tmp_path: Path) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        assert turn.kernel is not None
        await turn.kernel.execute("'\ud800'")
        return turn.answer("done", USER)

    planner.needs_kernel = True
    store = SqliteStore(tmp_path / "roles.db")
    async with running(planner, store=store, kernels=ScriptedKernels(), data_dir=tmp_path) as runtime:
        round_ = await (await runtime.session("s")).ask("q")
    assert (round_.state, round_.reason) == (RoundState.failed, "role_error")
    assert "was not run" in round_.detail


# --- a runtime is opened once --------------------------------------------------------------------------------


async def test_a_runtime_that_was_closed_is_not_opened_again() -> None:
    runtime = Runtime(Team(says("Planner", (USER, "done"))), kernels=None)
    async with runtime:
        assert (await (await runtime.session("s")).ask("q")).state is RoundState.finished
    with pytest.raises(RuntimeReopenedError, match=r"make a new Runtime"):
        async with runtime:
            pass


async def test_a_runtime_that_is_open_is_not_opened_a_second_time_and_goes_on() -> None:
    async with running(says("Planner", (USER, "done"))) as runtime:
        with pytest.raises(RuntimeReopenedError, match="share it"):
            await runtime.__aenter__()
        assert (await (await runtime.session("s")).ask("q")).state is RoundState.finished


async def test_a_runtime_that_could_not_be_opened_may_be_tried_again() -> None:
    store = LocalStore()
    runtime = Runtime(Team(says("Planner", (USER, "done"))), kernels=None, store=store)
    async with store:
        with pytest.raises(StoreError):
            await runtime.__aenter__()
    async with runtime:
        assert (await (await runtime.session("s")).ask("q")).state is RoundState.finished
