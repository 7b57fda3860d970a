"""A round: from the user's Post to its one end."""

from __future__ import annotations

import asyncio

import pytest

from roles_runtime.errors import PostRefusedError, PostSealedError
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import PostCancelled, PostSent, RoundClosed, RoundOpened, TurnFinished
from roles_runtime.posts.post import USER, Post
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from runtime.casting import WaitingStore, cast, echo, entries_of, events_of, folded, relay, running, says

pytestmark = pytest.mark.anyio


def shape(posts: list[Post]) -> list[tuple[str, str]]:
    return [(post.send_from, post.send_to) for post in posts]


async def test_planner_to_echo_to_planner_to_user_is_a_finished_round_of_four_posts() -> None:  # TW-77
    async with running(relay(), echo()) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert round_.state is RoundState.finished
        assert round_.reason is None
        assert shape(round_.post_list) == [
            (USER, "Planner"),
            ("Planner", "Echo"),
            ("Echo", "Planner"),
            ("Planner", USER),
        ]
        assert round_.reply is not None
        assert round_.reply.message == "Echo heard hey"
        kinds = [type(event) for event in await events_of(runtime, "s")]
        assert kinds == [RoundOpened, *[PostSent], *[PostSent, TurnFinished] * 3, RoundClosed]


async def test_a_lone_worker_is_the_leader_of_its_team() -> None:  # TW-83
    async with running(Echo()) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert shape(round_.post_list) == [(USER, "Echo"), ("Echo", USER)]
    assert round_.state is RoundState.finished


async def test_a_leader_alone_that_talks_to_nobody_but_itself_is_bounded() -> None:
    async with running(says("Planner", ("Planner", "again"))) as runtime:
        session = await runtime.session()
        round_ = await session.ask("hey")
    assert (round_.state, round_.reason) == (RoundState.failed, "limit")
    assert len(round_.post_list) == 1 + 10
    assert "max_internal_chat_round_num" in round_.detail


async def test_the_post_that_hits_the_limit_is_kept() -> None:  # TW-79
    async with running(says("Planner", ("Echo", "go on")), echo(), limits=Limits(max_internal_chat_round_num=4)) as rt:
        session = await rt.session("s")
        round_ = await session.ask("hey")
        assert (round_.state, round_.reason) == (RoundState.failed, "limit")
        assert len(round_.post_list) == 1 + 4
        assert round_.post_list[-1].send_from == "Echo"
        assert "4" in round_.detail
        cancelled = [event for event in await events_of(rt, "s") if isinstance(event, PostCancelled)]
        assert [event.post_id for event in cancelled] == [round_.post_list[-1].id]
        assert (await folded(rt, "s")).conversation.rounds == list(session.rounds)


async def test_an_answer_to_the_user_as_the_last_allowed_reply_finishes_the_round() -> None:  # TW-79
    planner = says("Planner", ("Echo", "1"), ("Echo", "2"), (USER, "done"))
    async with running(planner, echo(), limits=Limits(max_internal_chat_round_num=5)) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished
    assert len(round_.post_list) == 6


async def test_a_raised_limit_takes_effect() -> None:
    lines = [("Echo", str(n)) for n in range(6)]
    planner = says("Planner", *lines, (USER, "done"))
    async with running(planner, echo(), limits=Limits(max_internal_chat_round_num=25)) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished
    assert len(round_.post_list) == 14


async def test_any_role_may_address_any_role_itself_or_the_user() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return turn.answer("go", "A" if turn.post.send_from == USER else USER)

    a = says("A", ("A", "to myself"), ("B", "to a colleague"), ("Planner", "to the leader"))
    b = says("B", ("A", "back"))
    async with running(planner, a, b) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    names = [
        (USER, "Planner"),
        ("Planner", "A"),
        ("A", "A"),
        ("A", "B"),
        ("B", "A"),
        ("A", "Planner"),
        ("Planner", USER),
    ]
    assert shape(round_.post_list) == names
    assert round_.state is RoundState.finished


async def test_a_workers_post_to_the_user_is_shown_and_closes_nothing() -> None:
    seen: list[str] = []
    async with running(relay(to="A"), says("A", (USER, "from a worker"))) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask(
            "hey", on_event=lambda event: seen.append(event.post.message) if isinstance(event, PostSent) else None
        )
    assert "from a worker" in seen
    assert (round_.state, round_.reason) == (RoundState.failed, "stalled")
    assert round_.reply is None


async def test_the_default_recipient_is_whoever_wrote_last_from_outside() -> None:
    requesters: list[str] = []

    @cast("A")
    async def a(turn: Turn) -> Answer:
        requesters.append(turn.requester)
        if turn.post.send_from != "A":
            return turn.answer("to myself first", "A")
        return Post.create("no recipient named", "A")

    async with running(relay(to="A"), a) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert requesters == ["Planner", "Planner"]
    assert round_.post_list[3].send_to == "Planner"
    assert round_.state is RoundState.finished


@pytest.mark.parametrize("send_to", [" Echo ", "echo", "ECHO", "\tEcho\n"])
async def test_send_to_is_stripped_and_a_unique_match_but_for_case_is_accepted(send_to: str) -> None:
    async with running(says("Planner", (send_to, "go"), ("user", "done")), echo()) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert shape(round_.post_list)[1:] == [("Planner", "Echo"), ("Echo", "Planner"), ("Planner", USER)]


async def test_an_unknown_recipient_goes_back_to_the_sender_naming_the_roster() -> None:  # TW-78
    async with running(says("Planner", ("sql_pull_data", "go"), (USER, "done")), echo()) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        turns = [event for event in await events_of(runtime, "s") if isinstance(event, TurnFinished)]
    back = round_.post_list[1]
    assert (back.send_from, back.send_to) == ("Planner", "Planner")
    assert "sql_pull_data" in back.message
    assert "Echo" in back.message
    assert [each.content for each in back.get_attachment(AttachmentType.revise_message)] == [back.message]
    assert "sql_pull_data" in back.get_attachment(AttachmentType.invalid_response)[0].content
    assert [turn.outcome for turn in turns] == ["rejected", "ok"]
    assert round_.state is RoundState.finished


async def test_a_leader_that_cannot_mend_its_recipient_fails_the_round_after_three_corrections() -> None:
    async with running(says("Planner", ("nobody", "go")), echo()) as runtime:
        session = await runtime.session()
        round_ = await session.ask("hey")
        assert (round_.state, round_.reason) == (RoundState.failed, "limit")
        assert shape(round_.post_list)[1:] == [("Planner", "Planner")] * 3
        assert "nobody" in round_.detail
        again = await session.ask("once more")
        assert len(again.post_list) == 4, "corrections are counted a round"


async def test_a_workers_last_failure_goes_to_its_requester() -> None:  # TW-81
    async with running(relay(to="A"), says("A", ("nobody", "go"))) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert shape(round_.post_list)[2:] == [("A", "A")] * 3 + [("A", "Planner"), ("Planner", USER)]
    last = round_.post_list[-2]
    assert last.get_attachment(AttachmentType.revise_message) == []
    assert "nobody" in last.message


async def test_one_bad_answer_in_each_of_five_rounds_fails_none() -> None:
    lines: list[tuple[str, str]] = [("nobody", "bad"), (USER, "good")] * 5
    async with running(says("Planner", *lines)) as runtime:
        session = await runtime.session()
        rounds = [await session.ask(f"question {n}") for n in range(5)]
    assert [each.state for each in rounds] == [RoundState.finished] * 5


async def test_corrections_have_the_bound_that_the_limits_name() -> None:
    limits = Limits(max_self_corrections=1)
    async with running(says("Planner", ("nobody", "go")), limits=limits) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert shape(round_.post_list)[1:] == [("Planner", "Planner")]


async def test_self_sends_that_correct_nothing_count_as_replies_only() -> None:
    planner = says("Planner", *[("Planner", "thinking")] * 6, (USER, "done"))
    async with running(planner) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished


async def test_a_delivered_post_is_sealed_with_its_list_and_its_attachments() -> None:
    mine = Post.create("with something", "Planner", USER)
    mine.add_attachment(Attachment.create(AttachmentType.thought, "hm"))

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        with pytest.raises(PostSealedError):
            turn.post.message = "changed"
        return mine

    async with running(planner) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished
    assert mine.sealed
    for change in (
        lambda: setattr(mine, "message", "x"),
        lambda: setattr(mine, "send_to", "x"),
        lambda: mine.add_attachment(Attachment.create(AttachmentType.thought, "x")),
        lambda: mine.del_attachment(["thought"]),
        lambda: mine.attachment_list.clear(),  # type: ignore[attr-defined]
        lambda: setattr(mine.attachment_list[0], "content", "x"),
    ):
        with pytest.raises(PostSealedError):
            change()
    assert round_.post_list[-1].get_attachment("thought")[0].content == "hm"


async def test_a_post_is_sealed_before_it_is_appended() -> None:
    store = WaitingStore()
    async with running(says("Planner", (USER, "done")), store=store) as runtime:
        await (await runtime.session("s")).ask("hey")
    sent = [entry.event.post for each in store.appends for entry in each if isinstance(entry.event, PostSent)]
    assert len(sent) == 2
    assert all(post.sealed for post in sent)


async def test_an_answer_is_written_before_it_is_delivered() -> None:
    store = WaitingStore()
    written_at_start: list[list[str]] = []

    @cast("Echo")
    async def listener(turn: Turn) -> Answer:
        events = [entry.event for entry in await entries_of(store, turn.session_id)]
        written_at_start.append([event.post.id for event in events if isinstance(event, PostSent)])
        return turn.answer("heard")

    async with running(relay(), listener, store=store) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert written_at_start == [[post.id for post in round_.post_list[:2]]]


async def test_a_posts_id_is_minted_time_ordered_and_kept() -> None:
    made: list[str] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        post = turn.answer("done", USER)
        made.append(post.id)
        return post

    async with running(planner) as runtime:
        session = await runtime.session("s")
        for _ in range(5):
            await session.ask("hey")
        ids = [post.id for each in session.rounds for post in each.post_list]
        assert [post.id for each in (await runtime.read("s")).rounds for post in each.post_list] == ids
    assert made == ids[1::2]
    assert ids == sorted(ids)


async def test_an_answer_is_known_by_its_round_what_it_answers_and_who_answers() -> None:
    async with running(relay(), echo()) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
        entries = await entries_of(runtime.ground.store, "s")
    keys = {entry.event.post.id: entry.key for entry in entries if isinstance(entry.event, PostSent)}
    replies = {entry.event.post.id: entry.event.in_reply_to for entry in entries if isinstance(entry.event, PostSent)}
    for answered, answer in zip(round_.post_list, round_.post_list[1:], strict=False):
        assert keys[answer.id] == f"{round_.id}/{answered.id}/{answer.send_from}#0"
        assert replies[answer.id] == (answered.id,)


async def test_a_post_keeps_the_five_fields_of_the_seed() -> None:
    async with running(says("Planner", (USER, "done"))) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert list(round_.post_list[0].to_dict()) == ["id", "message", "send_from", "send_to", "attachment_list"]


async def test_an_attachment_that_was_received_may_be_passed_on() -> None:
    @cast("Echo")
    async def worker(turn: Turn) -> Answer:
        post = turn.answer("made a plan")
        post.add_attachment(Attachment.create(AttachmentType.plan, "1. do it", extra={"n": 1}))
        return post

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.send_from == USER:
            return turn.answer("go", "Echo")
        post = turn.answer("see the plan", USER)
        for attachment in turn.post.attachment_list:
            post.add_attachment(attachment)
        return post

    async with running(planner, worker) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert round_.state is RoundState.finished, round_.detail
    assert round_.reply is not None
    assert round_.reply.get_attachment("plan")[0].content == "1. do it"


async def test_the_end_of_a_round_rides_in_the_append_of_its_last_post() -> None:
    store = WaitingStore()
    async with running(relay(), echo(), store=store) as runtime:
        await (await runtime.session("s")).ask("hey")
    assert [[type(entry.event) for entry in each] for each in store.appends] == [
        [RoundOpened, PostSent],
        [PostSent, TurnFinished],
        [PostSent, TurnFinished],
        [PostSent, TurnFinished, RoundClosed],
    ]


async def test_entries_carry_seq_key_version_and_time_and_turns_when_they_began() -> None:
    async with running(relay(), echo()) as runtime:
        await (await runtime.session("s")).ask("hey")
        entries = await entries_of(runtime.ground.store, "s")
    for entry in entries:
        assert entry.key
        assert entry.format_version == 1
        assert entry.time_ns > 0
        if isinstance(entry.event, TurnFinished):
            assert 0 < entry.event.started_at <= entry.time_ns
            assert entry.event.outcome == "ok"


async def test_twenty_sessions_wait_for_their_models_side_by_side() -> None:
    waiting = 0
    all_there = asyncio.Event()

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        nonlocal waiting
        waiting += 1
        if waiting == 20:
            all_there.set()
        await all_there.wait()
        return turn.answer("done", USER)

    async with running(planner) as runtime:
        sessions = [await runtime.session() for _ in range(20)]
        rounds = await asyncio.gather(*(session.ask("hey") for session in sessions))
    assert all(each.state is RoundState.finished for each in rounds)


@pytest.mark.parametrize("query", ["", "  \n\t"])
async def test_an_empty_question_is_refused(query: str) -> None:
    async with running(says("Planner", (USER, "done"))) as runtime:
        session = await runtime.session()
        with pytest.raises(PostRefusedError, match="empty"):
            await session.ask(query)
        assert session.rounds == ()


async def test_an_idle_session_holds_no_task_and_no_actor() -> None:
    async with running(relay(), echo()) as runtime:
        sessions = [await runtime.session() for _ in range(50)]
        await asyncio.gather(*(session.ask("hey") for session in sessions))
        await asyncio.sleep(0)
        assert len(runtime.ground.children) == 1, "the sweeper alone"
        assert not any(session.running for session in sessions)


async def test_many_turns_that_never_wait_let_the_loop_turn() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    limits = Limits(max_internal_chat_round_num=2_000)
    async with running(says("Planner", ("Echo", "x")), echo(), limits=limits) as runtime:
        ticking = asyncio.create_task(tick())
        round_ = await (await runtime.session()).ask("hey")
        ticking.cancel()
    assert len(round_.post_list) == 2_001
    assert ticks >= 2_000 // 64
