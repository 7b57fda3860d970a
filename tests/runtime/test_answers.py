"""What a role may not return, or do: each ends in a clear reason, and the session goes on."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from roles_runtime.errors import InvalidResponseError, StoreError
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.event import TurnFinished
from roles_runtime.posts.post import USER, Post
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.stores.sqlite import SqliteStore
from runtime.casting import Cast, Marked, cast, echo, events_of, relay, running, says

pytestmark = pytest.mark.anyio


def misbehaving(wrong: Any) -> Cast:
    """A leader that returns something wrong where the question says ``bad``; called with the turn if it can be."""

    async def act(turn: Turn) -> Answer:
        if turn.post.message == "bad":
            answer: Answer = wrong(turn) if callable(wrong) else wrong
            return answer
        return turn.answer("good", USER)

    return Cast("Planner", act)


async def ask_bad_then_good(runtime: Runtime) -> Round:
    session = await runtime.session("s")
    bad = await session.ask("bad")
    good = await session.ask("good")
    assert good.state is RoundState.finished, good.detail
    return bad


def with_text(turn: Turn, text: Any) -> Post:
    return Post("post-x", text, "Planner", USER, [])


def shared(content: str, type: Any = "plan") -> Attachment:
    entry = SharedMemoryEntry.create(type, "round", content)
    return Attachment.create(AttachmentType.shared_memory_entry, "", extra=entry)


def with_attachment(turn: Turn, attachment: Any) -> Post:
    return Post("post-x", "text", "Planner", USER, [attachment])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (None, "None"),
        ("a text", "str"),
        (b"bytes", "bytes"),
        (42, "int"),
        ({"message": "hi"}, "dict"),
        ([], "empty list"),
        ((), "empty list"),
        ([None, None], "None"),
        (["text"], "str"),
        (lambda turn: turn.post, "delivered"),
        (lambda turn: [turn.post], "delivered"),
        (lambda turn: turn.memory.get_role_rounds("Planner")[-1].post_list[0], "memory"),
        (lambda turn: [turn.memory.get_role_rounds("Planner")[-1].post_list[0], turn.answer("x")], "memory"),
        (lambda turn: Post.create("x", "Echo", USER), "Echo"),
        (lambda turn: Post.create("x", USER, "Echo"), USER),
        (lambda turn: [turn.answer("x", "Echo"), Post.create("x", "Echo", "Other")], "Echo"),
        (lambda turn: [turn.answer("x", "Echo"), turn.answer("y", "Echo")], "distinct"),
        (lambda turn: [turn.answer("x", "Echo"), turn.answer("y", USER)], "distinct"),
        (lambda turn: [turn.answer("x", "Echo"), turn.answer("y", "Planner")], "distinct"),
        (lambda turn: [turn.answer("x", "Echo"), turn.answer("y", "echo ")], "distinct"),
        (lambda turn: (turn.answer(name, name) for name in ("Echo", "Other")), "generator"),
        (lambda turn: with_text(turn, None), "message"),
        (lambda turn: with_text(turn, 7), "message"),
        (lambda turn: with_text(turn, b"bytes"), "message"),
        (lambda turn: with_text(turn, ["a", "list"]), "message"),
        (lambda turn: Post("post-x", "text", "Planner", None, []), "send_to"),  # type: ignore[arg-type]
        (lambda turn: Post("post-x", "text", "Planner", 5, []), "send_to"),  # type: ignore[arg-type]
        (lambda turn: Post("post-x", "text", "Planner", USER, {"a": 1}), "attachment"),  # type: ignore[arg-type]
        (lambda turn: Post(None, "text", "Planner", USER, []), "id"),  # type: ignore[arg-type]
        (lambda turn: with_attachment(turn, "text"), "attachment"),
        (lambda turn: with_attachment(turn, Attachment("a", "thought", None)), "attachment"),  # type: ignore[arg-type]
        (lambda turn: with_attachment(turn, Attachment("a", "thought", ["x"])), "attachment"),  # type: ignore[arg-type]
        (lambda turn: with_attachment(turn, Attachment("a", None, "x")), "attachment"),  # type: ignore[arg-type]
        (lambda turn: with_attachment(turn, Attachment(None, "thought", "x")), "attachment"),  # type: ignore[arg-type]
        (lambda turn: with_text(turn, "half \ud800"), "message holds half a surrogate pair"),
        (lambda turn: with_text(turn, Marked("x")), "message is of type Marked and no plain str"),
        (lambda turn: [turn.answer("half \ud800", "Echo"), turn.answer("x", "Other")], "surrogate"),
        (lambda turn: turn.answer("x", "Echo\udcff"), "send_to holds half a surrogate pair"),
        (lambda turn: Post("post-\ud800", "x", "Planner", USER, []), "id holds half"),
        (lambda turn: Post(Marked("post-x"), "x", "Planner", USER, []), "id is of type Marked"),
        (lambda turn: with_attachment(turn, Attachment("a", "thought", "\ud83d")), "content holds half"),
        (lambda turn: with_attachment(turn, Attachment("a", "thought", Marked("x"))), "content is of type Marked"),
        (lambda turn: with_attachment(turn, Attachment("a\ud800", "thought", "x")), "id holds half"),
        (lambda turn: with_attachment(turn, Attachment("a", "odd\ud800", "x")), "type holds half"),
        (lambda turn: with_attachment(turn, Attachment("a", Marked("thought"), "x")), "type is of type Marked"),
        (lambda turn: with_attachment(turn, Attachment("a", "thought", "x", {"a": ["\ud800"]})), "neither JSON"),
        (lambda turn: with_attachment(turn, Attachment("a", "thought", "x", {"\ud800": 1})), "neither JSON"),
        (lambda turn: with_attachment(turn, Attachment("a", "thought", "x", Marked("x"))), "neither JSON"),
        (lambda turn: with_attachment(turn, shared("\ud800")), "nor a shared entry"),
        (lambda turn: with_attachment(turn, shared(Marked("x"))), "nor a shared entry"),
        (lambda turn: with_attachment(turn, shared("x", "no such type")), "nor a shared entry"),
        (lambda turn: Post(turn.post.id, "x", "Planner", "Echo", [Attachment("a", "odd", 1)]), "content"),  # type: ignore[arg-type]
        (lambda turn: [Post("one", "x", "Planner", "Echo", []), Post("one", "x", "Planner", "Other", [])], "'one'"),
        (lambda turn: [Post(turn.post.id, "x", "Planner", "Echo", []), turn.answer("x", "Other")], "another one"),
    ],
)
@pytest.mark.parametrize("kept", ["in memory", "on disk"])
async def test_a_wrong_answer_fails_the_round_with_a_clear_reason(
    wrong: Any, words: str, kept: str, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "roles.db") if kept == "on disk" else None
    async with running(misbehaving(wrong), echo(), echo("Other"), store=store) as runtime:
        bad = await ask_bad_then_good(runtime)
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
    assert (bad.state, bad.reason) == (RoundState.failed, "role_error")
    assert "Planner" in bad.detail
    assert words in bad.detail
    assert "Error:" not in bad.detail, "an accident of ours, not a check"
    assert len(bad.post_list) == 1
    assert (turns[0].outcome, bool(turns[0].problem)) == ("error", True)


class Addresses(StrEnum):
    """Names, as a team may write them down."""

    planner = "Planner"
    user = USER
    nobody = "Nobody"


async def test_names_out_of_an_enum_are_names_and_are_kept_as_plain_ones(tmp_path: Path) -> None:
    lines = iter([Addresses.nobody, Addresses.user])

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return Post.create("done", Addresses.planner, next(lines))

    async with running(planner, store=SqliteStore(tmp_path / "roles.db")) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert round_.state is RoundState.finished, round_.detail
        assert all(type(name) is str for post in round_.post_list for name in (post.send_from, post.send_to))
        assert (await runtime.read("s")).rounds == list(session.rounds)


async def test_text_of_every_script_is_delivered_as_it_is(tmp_path: Path) -> None:
    text = "Grüße, 世界 \U0001f600"

    def act(turn: Turn) -> Answer:
        post = turn.answer(text, USER)
        post.add_attachment(Attachment.create(AttachmentType.thought, text, extra={text: [text]}))
        post.add_attachment(shared(text))
        return post

    async with running(misbehaving(act), store=SqliteStore(tmp_path / "roles.db")) as runtime:
        round_ = await ask_bad_then_good(runtime)
        assert round_.reply is not None, round_.detail
        assert (await runtime.read("s")).rounds[0].reply == round_.reply
    assert round_.reply.message == text


async def test_a_store_error_of_a_roles_own_is_its_failure_and_not_the_runtimes() -> None:
    def act(turn: Turn) -> Answer:
        raise StoreError("a store that the role keeps for itself is full")

    async with running(misbehaving(act)) as runtime:
        bad = await ask_bad_then_good(runtime)
    assert (bad.state, bad.reason) == (RoundState.failed, "role_error")
    assert "keeps for itself" in bad.detail


async def test_a_reply_that_is_no_coroutine_fails_the_round() -> None:
    class Plain(Role):
        name = "Planner"

        def reply(self, turn: Turn) -> Answer:  # type: ignore[override]
            return turn.answer("done", USER)

    async with running(Plain()) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert (round_.state, round_.reason) == (RoundState.failed, "role_error")


async def test_a_role_that_raises_is_started_again_a_little_later_each_time() -> None:
    tries = 0

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise RuntimeError("not yet")
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        session = await runtime.session()
        states = [(await session.ask("hey")).state for _ in range(4)]
        assert states == [RoundState.failed] * 3 + [RoundState.finished]


async def test_a_cancellation_while_a_role_waits_to_be_restarted_loses_no_post() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        raise RuntimeError("always")

    async with running(planner) as runtime:
        session = await runtime.session("s")
        for _ in range(3):
            await session.ask("hey")
        asked = asyncio.create_task(session.ask("hey"))
        await asyncio.sleep(0.02)
        await session.cancel()
        round_ = await asked
    assert round_.reason == "cancelled"


async def test_a_role_that_can_not_mend_its_answer_tells_its_requester() -> None:
    @cast("A")
    async def a(turn: Turn) -> Answer:
        raise InvalidResponseError("the answer has no message")

    async with running(relay(to="A"), a) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
        assert (await runtime.read("s")).rounds == list(session.rounds)
    assert [str(post) for post in round_.post_list[2:]] == [
        "A -> Planner: A failed: the answer has no message",
        "Planner -> User: A failed: the answer has no message",
    ]
    assert round_.state is RoundState.finished
    assert turns[1].outcome == "self_correction"


async def test_a_leader_that_can_not_mend_its_answer_fails_the_round() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        raise InvalidResponseError("the answer has no message")

    async with running(planner, echo()) as runtime:
        session = await runtime.session()
        round_ = await session.ask("hey")
    assert (round_.state, round_.reason) == (RoundState.failed, "limit")
    assert "the answer has no message" in round_.detail


async def test_workers_that_keep_failing_are_bounded_by_the_limit_of_the_round() -> None:
    @cast("A")
    async def a(turn: Turn) -> Answer:
        raise InvalidResponseError("no message")

    limits = Limits(max_internal_chat_round_num=6)
    async with running(says("Planner", ("A", "go")), a, limits=limits) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert (round_.state, round_.reason) == (RoundState.failed, "limit")
    assert len(round_.post_list) <= 1 + 6 + 1


async def test_a_list_of_one_post_is_that_post() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return [turn.answer("done", USER)]

    async with running(planner) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished


async def test_a_list_of_one_post_to_nobody_is_rejected_and_says_so() -> None:
    lines = iter([["nobody"], ["User"]])

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return [turn.answer("done", name) for name in next(lines)]

    async with running(planner) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
    assert round_.state is RoundState.finished
    assert [turn.outcome for turn in turns] == ["rejected", "ok"]


async def test_a_post_returned_a_second_time_is_refused() -> None:
    kept: list[Post] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if not kept:
            kept.append(turn.answer("to myself", "Planner"))
        return kept[0]

    async with running(planner) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert (round_.state, round_.reason) == (RoundState.failed, "role_error")
    assert len(round_.post_list) == 2


async def test_an_id_that_an_earlier_post_of_the_round_has_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return Post("made-by-hand", turn.post.message, "Planner", "Planner", [])

    async with running(planner, store=SqliteStore(tmp_path / "roles.db")) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert (round_.state, round_.reason) == (RoundState.failed, "role_error")
        assert "'made-by-hand', which another one of this round has" in round_.detail
        assert (await runtime.read("s")).rounds == list(session.rounds)


async def test_an_extra_that_is_no_json_is_refused_and_the_journal_stays_readable(tmp_path: Path) -> None:
    def act(turn: Turn) -> Answer:
        post = turn.answer("x", USER)
        post.add_attachment(Attachment.create(AttachmentType.thought, "x", extra=object()))  # type: ignore[arg-type]
        return post

    store = SqliteStore(tmp_path / "roles.db")
    async with running(misbehaving(act), store=store) as runtime:
        session = await runtime.session("s")
        bad = await session.ask("bad")
        assert (bad.state, bad.reason) == (RoundState.failed, "role_error")
        assert "neither JSON nor a shared entry" in bad.detail
        assert (await session.ask("good")).state is RoundState.finished
        assert [each.reason for each in (await runtime.read("s")).rounds] == ["role_error", None]
