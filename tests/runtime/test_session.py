"""A session: its line of questions, its identity, its sleep."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref

import pytest

from roles_runtime.errors import PostRefusedError, SessionBusyError, SessionNotFoundError, TeamError
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import ModelReplied
from roles_runtime.posts.post import USER
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from runtime.casting import FailingStore, Gate, WaitingStore, cast, echo, events_of, relay, running, says, until

pytestmark = pytest.mark.anyio


async def test_questions_asked_at_once_are_answered_one_after_the_other_in_order() -> None:
    inside = 0

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        nonlocal inside
        inside += 1
        assert inside == 1
        await asyncio.sleep(0)
        inside -= 1
        return turn.answer(f"re {turn.post.message}", USER)

    async with running(planner) as runtime:
        session = await runtime.session()
        rounds = await asyncio.gather(*(session.ask(str(n)) for n in range(20)))
    assert [each.user_query for each in session.rounds] == [str(n) for n in range(20)]
    assert [each.reply.message for each in rounds if each.reply] == [f"re {n}" for n in range(20)]


async def test_a_hundred_questions_may_wait_and_one_more_is_refused() -> None:
    gate = Gate()

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await gate.wait()
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        session = await runtime.session()
        asked = [asyncio.create_task(session.ask(str(n))) for n in range(101)]
        await gate.reached.wait()
        with pytest.raises(SessionBusyError, match="100"):
            await session.ask("one too many")
        gate.opened.set()
        rounds = await asyncio.gather(*asked)
        assert all(each.state is RoundState.finished for each in rounds)


async def test_a_question_that_gives_up_its_place_makes_room() -> None:
    gate = Gate()

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await gate.wait()
        return turn.answer("done", USER)

    async with running(planner, limits=Limits(max_queued_asks=2, grace_s=0.2)) as runtime:
        session = await runtime.session()
        first = asyncio.create_task(session.ask("first"))
        await gate.reached.wait()
        for _ in range(5):
            given_up = [asyncio.create_task(session.ask("never")) for _ in range(2)]
            await asyncio.sleep(0)
            for task in given_up:
                task.cancel()
            await asyncio.gather(*given_up, return_exceptions=True)
        last = asyncio.create_task(session.ask("last"))
        await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.gather(first, last)
        assert [each.user_query for each in session.rounds] == ["first", "last"]


async def test_a_session_of_one_id_is_one_object_while_it_lives() -> None:
    async with running(echo()) as runtime:
        one, other = await asyncio.gather(runtime.session("s"), runtime.session("s"))
        assert one is other
        assert (await runtime.session()).id != (await runtime.session()).id


@pytest.mark.parametrize("bad", ["", ".", "..", "../x", "a/b", "a\0b", "ü", "x" * 129, " a", "a\n", ".hidden", "-x"])
async def test_an_id_that_could_lead_out_of_the_folder_is_refused(bad: str) -> None:
    async with running(echo()) as runtime:
        with pytest.raises(TeamError):
            await runtime.session(bad)


async def test_reading_an_unknown_session_says_so() -> None:
    async with running(echo()) as runtime:
        await runtime.session("opened-but-never-asked")
        with pytest.raises(SessionNotFoundError):
            await runtime.read("opened-but-never-asked")


async def test_sessions_are_listed_by_their_first_question_the_latest_first() -> None:
    async with running(echo()) as runtime:
        for name in ("one", "other"):
            await (await runtime.session(name)).ask(f"question of {name}")
        assert [(info.session_id, info.title) for info in await runtime.sessions()] == [
            ("other", "question of other"),
            ("one", "question of one"),
        ]


async def test_an_idle_session_falls_asleep_and_the_next_question_wakes_it() -> None:
    seen: list[int] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen.append(len(turn.memory.get_role_rounds("Planner")))
        return turn.answer("done", USER)

    async with running(planner, limits=Limits(session_idle_s=0.05)) as runtime:
        session = await runtime.session("s")
        await session.ask("one")
        await until(lambda: session.dormant)
        assert [each.user_query for each in session.rounds] == ["one"], "whoever holds it may read on"
        await session.ask("two")
        await until(lambda: session.dormant)
        reference = weakref.ref(session)
        session = None  # type: ignore[assignment]
        gc.collect()
        assert reference() is None, "a sleeping session holds no memory"
        again = await runtime.session("s")
        assert [each.user_query for each in again.rounds] == ["one", "two"]
    assert seen == [1, 2]


async def test_a_busy_session_does_not_fall_asleep() -> None:
    gate = Gate()

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await gate.wait()
        return turn.answer("done", USER)

    async with running(planner, limits=Limits(session_idle_s=0.01)) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("hey"))
        await gate.reached.wait()
        await asyncio.sleep(0.1)
        assert not session.dormant
        gate.opened.set()
        assert (await asked).state is RoundState.finished


async def test_a_session_that_is_listened_to_does_not_fall_asleep() -> None:
    async with running(echo(), limits=Limits(session_idle_s=0.01)) as runtime:
        session = await runtime.session("s")
        async with session.listen():
            await session.ask("hey")
            await asyncio.sleep(0.1)
            assert not session.dormant


async def test_a_question_about_a_file_that_takes_long_to_copy_finds_its_session_awake(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Workspace.add

    def slowly(self: Workspace, *args: object, **kwargs: object) -> str:
        time.sleep(0.15)
        return copy(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Workspace, "add", slowly)
    folder = tmp_path_factory.mktemp("data")
    (folder / "a.txt").write_text("a", encoding="utf-8")
    async with running(echo(), limits=Limits(session_idle_s=0.02), data_dir=folder) as runtime:
        session = await runtime.session("s")
        await session.ask("one")
        await session.ask("two", files=[folder / "a.txt"])
        assert len((await runtime.read("s")).rounds) == 2


async def test_a_thousand_sessions_of_five_rounds_side_by_side() -> None:
    async with running(relay(), echo(), store=WaitingStore(), patience_s=60) as runtime:

        async def user(number: int) -> None:
            session = await runtime.session(f"s{number}")
            for n in range(5):
                assert (await session.ask(f"{number}.{n}")).state is RoundState.finished

        await asyncio.gather(*(user(number) for number in range(1_000)))
        assert len(await runtime.sessions()) == 1_000
        assert len(runtime.ground.children) == 1


async def test_a_question_as_large_as_no_post_may_be_is_refused() -> None:
    async with running(echo(), limits=Limits(max_post_bytes=1000, large_post_bytes=500)) as runtime:
        session = await runtime.session()
        with pytest.raises(PostRefusedError):
            await session.ask("x" * 1001)
        assert session.rounds == ()


@pytest.mark.parametrize("fault", [1, 2, 3, 4])
async def test_an_append_that_fails_fails_the_round_and_leaves_no_gap(fault: int) -> None:
    store = FailingStore(fault)
    async with running(relay(), echo(), store=store, interrupted=True) as runtime:
        session = await runtime.session("s")
        with pytest.raises(Exception, match="disk is full"):
            await session.ask("hey")
        assert not session.running
        again = await session.ask("once more")
        assert again.state is RoundState.finished
        assert list(session.rounds) == (await runtime.read("s")).rounds


@pytest.mark.parametrize("faults", [(3, 4), (4,), (5,)])
async def test_an_append_that_fails_in_a_branch_is_a_store_error_too(faults: tuple[int, ...]) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return [turn.answer("go", "A"), turn.answer("go", "B")] if len(turn.posts) == 1 else turn.answer("done", USER)

    store = FailingStore(*faults)
    async with running(planner, echo("A"), echo("B"), store=store, interrupted=True) as runtime:
        session = await runtime.session("s")
        with pytest.raises(Exception, match="disk is full"):
            await session.ask("hey")
        assert (await session.ask("again")).state is RoundState.finished


async def test_a_store_that_stays_full_refuses_every_question_and_hangs_none() -> None:
    store = FailingStore(*range(1, 100))
    async with running(relay(), echo(), store=store) as runtime:
        session = await runtime.session("s")
        for _ in range(3):
            with pytest.raises(Exception, match="disk is full"):
                await session.ask("hey")
        with pytest.raises(Exception, match="disk is full"):
            async for _ in session.stream("hey"):
                pass
        store.faults.clear()
        assert (await session.ask("hey")).state is RoundState.finished


async def test_a_round_that_a_failed_append_left_open_is_closed_as_interrupted() -> None:
    store = FailingStore(3)
    async with running(relay(), echo(), store=store, interrupted=True) as runtime:
        session = await runtime.session("s")
        with pytest.raises(Exception, match="disk is full"):
            await session.ask("hey")
        await session.ask("again")
        assert [each.reason for each in session.rounds] == ["interrupted", None]
        assert len(session.rounds[0].post_list) == 2, "what was acknowledged stands"


async def test_usage_of_a_session_counts_all_its_rounds() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await turn.record(ModelReplied(turn.round_id, "Planner", turn.turn_id, "m", "{}", "stop", 10, 5, 1))
        usage = turn.usage
        assert (usage.turn.input_tokens, usage.turn.calls) == (10, 1)
        assert usage.round == usage.turn
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        session = await runtime.session("s")
        for n in range(3):
            assert (await session.ask("hey")).state is RoundState.finished
            assert (session.usage.input_tokens, session.usage.output_tokens, session.usage.calls) == (
                10 * (n + 1),
                5 * (n + 1),
                n + 1,
            )
        assert sum(isinstance(event, ModelReplied) for event in await events_of(runtime, "s")) == 3


async def test_a_round_of_an_unknown_state_is_never_seen_by_whoever_asks() -> None:
    async with running(says("Planner", (USER, "done"))) as runtime:
        session = await runtime.session()
        rounds = [await session.ask("hey") for _ in range(3)]
    assert all(each.state is not RoundState.created for each in rounds)
