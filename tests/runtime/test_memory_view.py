"""What a turn may remember: the Posts its role has answered or is answering, as they stood when the turn began."""

from __future__ import annotations

import asyncio

import pytest

from roles_runtime.memory.memory import Memory
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.post import USER
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from runtime.casting import Cast, Gate, WaitingStore, cast, echo, running

pytestmark = pytest.mark.anyio


def remembered(turn: Turn, role: str | None = None) -> list[str]:
    return [post.message for each in turn.memory.get_role_rounds(role or turn.role) for post in each.post_list]


async def test_a_role_sees_its_own_posts_and_not_those_of_others() -> None:
    seen: dict[str, list[str]] = {}

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen["Planner"] = remembered(turn)
        return turn.answer(
            "to A" if turn.post.send_from == USER else "to User", "A" if turn.post.send_from == USER else USER
        )

    @cast("A")
    async def a(turn: Turn) -> Answer:
        seen["A"] = remembered(turn)
        return turn.answer("from A")

    async with running(planner, a) as runtime:
        session = await runtime.session()
        await session.ask("one")
        assert seen == {"Planner": ["one", "to A", "from A"], "A": ["to A"]}
        await session.ask("two")
        assert seen["Planner"] == ["one", "to A", "from A", "to User", "two", "to A", "from A"]


async def test_posts_queued_for_the_role_and_later_ones_are_absent() -> None:
    seen: list[list[str]] = []
    both_in = asyncio.Event()

    @cast("Shared")
    async def shared(turn: Turn) -> Answer:
        if not seen:
            await both_in.wait()
        seen.append(remembered(turn))
        return turn.answer(f"re {turn.post.message}")

    def through(name: str) -> Cast:
        async def act(turn: Turn) -> Answer:
            if turn.post.send_from != "Planner":
                return turn.answer(name, "Planner")
            if name == "B":
                asyncio.get_running_loop().call_later(0.02, both_in.set)
            return turn.answer(f"from {name}", "Shared")

        return Cast(name, act)

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return [turn.answer("go", "A"), turn.answer("go", "B")] if len(turn.posts) == 1 else turn.answer("done", USER)

    limits = Limits(max_internal_chat_round_num=50)
    async with running(planner, through("A"), through("B"), shared, limits=limits) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished
    first, second = (post.message for post in round_.post_list if post.send_to == "Shared")
    assert seen == [[first], [first, second, f"re {first}"]], "in journal order"


async def test_a_post_that_is_still_being_written_is_absent() -> None:
    store, gate = WaitingStore(), Gate()
    seen: list[list[str]] = []

    @cast("Shared")
    async def shared(turn: Turn) -> Answer:
        if not seen:
            # The next Post for this role hangs in the store meanwhile.
            store.held = gate
            await gate.reached.wait()
        seen.append(remembered(turn))
        gate.opened.set()
        return turn.answer("ok")

    def through(name: str, wait: bool) -> Cast:
        async def act(turn: Turn) -> Answer:
            if turn.post.send_from != "Planner":
                return turn.answer(name, "Planner")
            while wait and store.held is None:  # noqa: ASYNC110  # until the other one's Post is being answered
                await asyncio.sleep(0)
            return turn.answer(f"from {name}", "Shared")

        return Cast(name, act)

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return [turn.answer("go", "A"), turn.answer("go", "B")] if len(turn.posts) == 1 else turn.answer("done", USER)

    limits = Limits(max_internal_chat_round_num=50)
    async with running(planner, through("A", False), through("B", True), shared, limits=limits, store=store) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished
    assert seen[0] == ["from A"]


async def test_a_snapshot_does_not_change_while_the_conversation_grows() -> None:
    kept: list[Memory] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        kept.append(turn.memory)
        assert turn.memory is turn.memory
        return turn.answer("again", "Planner" if len(kept) < 3 else USER)

    async with running(planner) as runtime:
        session = await runtime.session()
        await session.ask("one")
        await session.ask("two")
    counts = [[len(each.post_list) for each in memory.get_role_rounds("Planner")] for memory in kept]
    assert counts[:3] == [[1], [2], [3]]
    assert counts[3] == [4, 1]


async def test_memory_hands_out_open_copies_with_the_same_ids() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        copy = turn.memory.get_role_rounds("Planner")[0].post_list[0]
        assert copy.id == turn.post.id
        copy.message = "scribbled upon"
        copy.add_attachment(Attachment.create(AttachmentType.thought, "x"))
        assert turn.memory.get_role_rounds("Planner")[0].post_list[0].message == "hey"
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished, round_.detail
    assert round_.post_list[0].message == "hey"
    assert round_.post_list[0].attachment_list == ()


async def test_failed_rounds_are_left_out_unless_they_are_asked_for() -> None:  # TW-78
    seen: list[tuple[int, int]] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        rounds = turn.memory.get_role_rounds("Planner")
        seen.append((len(rounds), len(turn.memory.get_role_rounds("Planner", include_failure_rounds=True))))
        if turn.post.message == "bad":
            raise ValueError("bad")
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        session = await runtime.session()
        for query in ("good", "bad", "good"):
            await session.ask(query)
    assert seen == [(1, 1), (2, 2), (2, 3)]


def sharing(name: str, content: str) -> Cast:
    async def act(turn: Turn) -> Answer:
        post = turn.answer("shared")
        entry = SharedMemoryEntry.create("plan", "round", content)
        post.add_attachment(Attachment.create(AttachmentType.shared_memory_entry, content, extra=entry))
        return post

    return Cast(name, act)


async def test_shared_entries_come_from_every_post_that_was_written_before_whomever_it_was_for() -> None:
    seen: dict[str, list[str]] = {}

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        steps = {USER: "A", "A": "B", "B": USER}
        return turn.answer("go", steps[turn.post.send_from])

    @cast("B")
    async def b(turn: Turn) -> Answer:
        seen["B"] = [entry.content for entry in turn.memory.get_shared_memory_entries("plan")]
        return turn.answer("ok")

    async with running(planner, sharing("A", "A's plan"), b) as runtime:
        await (await runtime.session()).ask("hey")
    assert seen == {"B": ["A's plan"]}


async def test_shared_entries_written_after_the_post_that_is_answered_are_not_seen() -> None:
    seen: list[list[str]] = []

    @cast("B")
    async def b(turn: Turn) -> Answer:
        await asyncio.sleep(0.02)
        seen.append([entry.content for entry in turn.memory.get_shared_memory_entries("plan")])
        return turn.answer("ok")

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if len(turn.posts) == 1:
            return [turn.answer("go", "A"), turn.answer("go", "B")]
        seen.append([entry.content for entry in turn.memory.get_shared_memory_entries("plan")])
        return turn.answer("done", USER)

    async with running(planner, sharing("A", "A's plan"), b) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished
    assert seen == [[], ["A's plan"]]


async def test_the_roster_and_the_leader_are_told_to_every_turn() -> None:
    seen: list[tuple[list[str], str]] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen.append(([member.name for member in turn.roster], turn.leader))
        return turn.answer("done", USER)

    async with running(planner, echo("A"), echo("B")) as runtime:
        await (await runtime.session()).ask("hey")
    assert seen == [(["Planner", "A", "B"], "Planner")]
