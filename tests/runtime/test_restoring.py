"""Sessions outlive their process: restored by another one, owned by one at a time, closed where they were cut off."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import SessionBusyError
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.codec import decode_entry, encode_entry
from roles_runtime.posts.conversation import ArtifactRef, Conversation, Round, RoundState
from roles_runtime.posts.event import CellDone, DurableEvent, Entry, ModelReplied, PostSent, RoundClosed, RoundOpened
from roles_runtime.posts.post import USER, Post, seal
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.restore import Restored
from roles_runtime.stores.local import LocalStore
from roles_runtime.stores.sqlite import SqliteStore
from runtime.audit import audit
from runtime.casting import cast, echo, entries_of, relay, running, until

OWNER = Path(__file__).with_name("owner.py")


@asynccontextmanager
async def another_process(
    database: Path, session_id: str, what: str
) -> AsyncGenerator[asyncio.subprocess.Process, None]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(OWNER),
        str(database),
        session_id,
        what,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def line_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(20):
        return (await process.stdout.readline()).decode().strip()


@pytest.mark.anyio
async def test_another_process_goes_on_where_the_first_one_stood_with_the_same_ids(tmp_path: Path) -> None:
    database = tmp_path / "roles.db"
    async with running(relay(), echo(), store=SqliteStore(database)) as runtime:
        session = await runtime.session("s")
        for n in range(2):
            await session.ask(f"question {n}")
        ids = [post.id for each in session.rounds for post in each.post_list]
        before = list(session.rounds)
    async with another_process(database, "s", "what did I ask?") as process:
        state, number, _, *theirs = (await line_of(process)).split()
    assert (state, number) == ("finished", "3")
    assert theirs[: len(ids)] == ids
    async with running(relay(), echo(), store=SqliteStore(database)) as runtime:
        session = await runtime.session("s")
        assert list(session.rounds)[:2] == before
        assert len(session.rounds) == 3
        assert (await session.ask("and now?")).state is RoundState.finished


@pytest.mark.anyio
async def test_a_session_has_one_owner_and_the_others_are_told_who_it_is(tmp_path: Path) -> None:
    database = tmp_path / "roles.db"
    async with another_process(database, "theirs", "hold") as process:
        assert await line_of(process) == "open"
        async with running(echo(), store=SqliteStore(database)) as runtime:
            with pytest.raises(SessionBusyError, match=f"pid {process.pid}"):
                await runtime.session("theirs")
            mine = await runtime.session("mine")
            assert (await mine.ask("hey")).state is RoundState.finished
            async with another_process(database, "mine", "hey") as third:
                assert f"SessionBusyError Session 'mine' is open in pid {os.getpid()}" in await line_of(third)
            assert [info.session_id for info in await runtime.sessions()] == ["mine"]
            assert len((await runtime.read("mine")).rounds) == 1


@pytest.mark.anyio
async def test_reading_works_while_another_process_owns_the_session(tmp_path: Path) -> None:
    database = tmp_path / "roles.db"
    async with another_process(database, "s", "wait") as process:
        assert await line_of(process) == "waiting"
        async with running(echo(), store=SqliteStore(database), interrupted=True) as runtime:
            with pytest.raises(SessionBusyError):
                await runtime.session("s")
            conversation = await runtime.read("s")
            assert [each.state for each in conversation.rounds] == [RoundState.created]
            assert [(info.session_id, info.title) for info in await runtime.sessions()] == [("s", "wait")]
            process.kill()
            await process.wait()
            await (await runtime.session("s")).ask("mine now")


@pytest.mark.anyio
async def test_a_process_that_was_killed_leaves_an_interrupted_round_and_its_session_goes_on(tmp_path: Path) -> None:
    database = tmp_path / "roles.db"
    async with another_process(database, "s", "wait") as process:
        assert await line_of(process) == "waiting"
        process.kill()
        await process.wait()
    async with running(echo(), store=SqliteStore(database), interrupted=True) as runtime:
        session = await runtime.session("s")
        (left,) = session.rounds
        assert (left.state, left.reason) == (RoundState.failed, "interrupted")
        assert [post.message for post in left.post_list] == ["wait"]
        assert (await session.ask("go on")).state is RoundState.finished
        assert (await runtime.read("s")).rounds == list(session.rounds)
        audit(await entries_of(runtime.ground.store, "s"), interrupted=True)


@pytest.mark.anyio
async def test_a_session_that_sleeps_is_free_for_another_process(tmp_path: Path) -> None:
    database = tmp_path / "roles.db"
    async with running(echo(), store=SqliteStore(database), limits=Limits(session_idle_s=0.05)) as runtime:
        session = await runtime.session("s")
        await session.ask("hey")
        await until(lambda: session.dormant)
        async with another_process(database, "s", "hey from elsewhere") as process:
            assert (await line_of(process)).startswith("finished 2 rounds")
        await session.ask("back again")
        assert len(session.rounds) == 3


@pytest.mark.anyio
async def test_attachments_shared_entries_and_usage_come_back_as_they_were(tmp_path: Path) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        await turn.record(ModelReplied(turn.round_id, "Planner", turn.turn_id, "m", "{}", "stop", 10, 5, 1))
        post = turn.answer("done", USER)
        entry = SharedMemoryEntry.create("plan", "conversation", "the plan")
        post.add_attachment(Attachment.create(AttachmentType.shared_memory_entry, "the plan", extra=entry))
        post.add_attachment(Attachment.create(AttachmentType.text, "old", extra={"a": [1, None, "ü"]}))
        return post

    database = tmp_path / "roles.db"
    async with running(planner, store=SqliteStore(database)) as runtime:
        session = await runtime.session("s")
        await session.ask("hey")
        before, usage = list(session.rounds), session.usage
    seen: list[str] = []

    @cast("Planner")
    async def reader(turn: Turn) -> Answer:
        seen.extend(entry.content for entry in turn.memory.get_shared_memory_entries("plan"))
        return turn.answer("done", USER)

    async with running(reader, store=SqliteStore(database)) as runtime:
        session = await runtime.session("s")
        assert list(session.rounds) == before
        assert all(post.sealed for post in session.rounds[0].post_list)
        assert session.usage == usage
        await session.ask("again")
    assert seen == ["the plan"]


@pytest.mark.anyio
async def test_a_local_store_keeps_its_journals_for_the_next_runtime() -> None:
    store = LocalStore()
    for n in range(3):
        async with running(relay(), echo(), store=store) as runtime:
            session = await runtime.session("s")
            assert len(session.rounds) == n
            await session.ask("hey")


SENT = st.builds(Post.create, st.text(max_size=5), st.just("A"), st.sampled_from(["B", USER]))


@given(st.data())
def test_folding_entries_that_were_encoded_gives_what_was_written(data: st.DataObject) -> None:
    expected = Conversation("conv-s")
    entries: list[Entry] = []

    def write(event: DurableEvent) -> None:
        entries.append(Entry(len(entries) + 1, f"k{len(entries)}", 1, event))

    for n in range(data.draw(st.integers(0, 3))):
        query = data.draw(st.text(max_size=5))
        write(RoundOpened(f"round-{n}", query))
        made = Round(f"round-{n}", query)
        for post in data.draw(st.lists(SENT, max_size=3)):
            seal(post)
            made.post_list.append(post)
            write(PostSent(made.id, post))
        if data.draw(st.booleans()):
            artifact = ArtifactRef("/a", "text/plain")
            write(CellDone(made.id, "A", "c", "{}", 1, "ok", (artifact,)))
            made.artifacts.append(artifact)
        made.state = data.draw(st.sampled_from([RoundState.finished, RoundState.failed]))
        made.reason = "stalled" if made.state is RoundState.failed else None
        write(RoundClosed(made.id, made.state, made.reason, ""))
        expected.rounds.append(made)
    restored = fold([decode_entry(encode_entry(entry)) for entry in entries])
    assert restored.conversation.rounds == expected.rounds
    assert restored.seq == len(entries)
    assert restored.open_round is None
    assert fold(entries[:-1]).seq == max(0, len(entries) - 1)


def fold(entries: Sequence[Entry]) -> Restored:
    restored = Restored(Conversation("conv-s"))
    for entry in entries:
        restored.take(entry)
    return restored
