"""What every store promises. A maker joins by one row of `MAKERS`."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roles_runtime.errors import StoreError
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.event import Entry, PostSent, RoundOpened, TurnFinished
from roles_runtime.posts.post import Post, seal
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.stores.local import LocalStore
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.stores.store import Store

pytestmark = pytest.mark.anyio


class Maker(Protocol):
    """Makes a store whose journals are its own: in that folder, if it needs one."""

    def __call__(self, folder: Path, *, read_only: bool = False) -> Store: ...


def local(folder: Path, *, read_only: bool = False) -> Store:
    return LocalStore.from_url("local:", read_only=read_only)


def sqlite(folder: Path, *, read_only: bool = False) -> Store:
    return SqliteStore.from_url(f"sqlite:///{folder}/made/roles.db", read_only=read_only)


LASTING = [pytest.param(sqlite, id="sqlite")]
"""Those whose journals another store object finds in the same folder."""

MAKERS = [pytest.param(local, id="local"), *LASTING]


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Maker:
    maker: Maker = request.param
    return maker


@pytest.fixture
def store(make: Maker, tmp_path: Path) -> Store:
    return make(tmp_path)


def asked(seq: int, query: str = "How many rows?", key: str = "") -> Entry:
    return Entry(seq, key or f"k{seq}", 1_000 + seq, RoundOpened(f"round-{seq}", query))


def ended(seq: int, key: str = "") -> Entry:
    return Entry(seq, key or f"k{seq}", 1_000 + seq, TurnFinished("round-1", "Planner", ("post-1",), 900))


async def journal(store: Store, session_id: str, after_seq: int = 0) -> list[Entry]:
    async with aclosing(store.read(session_id, after_seq)) as entries:
        return [entry async for entry in entries]


async def appended(store: Store, session_id: str, entries: list[Entry]) -> None:
    await store.append(session_id, entries)


async def test_a_maker_fulfils_the_contract(store: Store) -> None:
    assert isinstance(store, Store)


async def test_what_was_appended_is_read_in_order(store: Store) -> None:
    async with store:
        await store.append("s", [asked(1), ended(2)])
        await store.append("s", [ended(3)])

        assert await journal(store, "s") == [asked(1), ended(2), ended(3)]


async def test_reading_begins_after_a_seq(store: Store) -> None:
    async with store:
        await store.append("s", [ended(seq) for seq in range(1, 11)])

        assert [entry.seq for entry in await journal(store, "s", after_seq=7)] == [8, 9, 10]
        assert await journal(store, "s", after_seq=10) == []
        assert len(await journal(store, "s", after_seq=-1)) == 10


async def test_an_unknown_session_has_no_entries(store: Store) -> None:
    async with store:
        assert await journal(store, "nobody") == []
        assert await store.sessions() == []


async def test_appending_nothing_begins_no_session(store: Store) -> None:
    async with store:
        await store.append("s", [])

        assert await store.sessions() == []


async def test_the_first_entry_of_a_key_wins_and_its_companions_are_written(store: Store) -> None:
    async with store:
        await store.append("s", [asked(1, "first", key="same")])
        await store.append("s", [asked(2, "second", key="same"), ended(3)])

        assert await journal(store, "s") == [asked(1, "first", key="same"), ended(3)]


async def test_a_key_twice_in_one_append_is_written_once(store: Store) -> None:
    async with store:
        await store.append("s", [asked(1, "first", key="same"), asked(2, "second", key="same")])

        assert await journal(store, "s") == [asked(1, "first", key="same")]


async def test_the_same_key_in_two_sessions_is_two_entries(store: Store) -> None:
    async with store:
        await store.append("one", [asked(1)])
        await store.append("two", [asked(1)])

        assert await journal(store, "one") == await journal(store, "two") == [asked(1)]


async def test_a_post_comes_back_sealed_with_all_it_carried(store: Store) -> None:
    post = Post.create("Umsatz: 三 €\x1b[31m", "CodeInterpreter", "Planner")
    shared = SharedMemoryEntry.create("plan", "round", "1. count")
    post.add_attachment(Attachment.create(AttachmentType.shared_memory_entry, "", extra=shared))
    post.add_attachment(Attachment.create(AttachmentType.text, "\0", extra={"a": [1, None]}))
    seal(post)
    async with store:
        await store.append("s", [Entry(1, "k", 1, PostSent("round-1", post, ("post-0",)), traceparent="00-1")])

        [entry] = await journal(store, "s")

    assert isinstance(entry.event, PostSent)
    assert entry.event.post == post
    assert entry.event.post.sealed
    assert entry.event.post.attachment_list[0].extra == shared
    assert (entry.event.in_reply_to, entry.traceparent) == (("post-0",), "00-1")


async def test_a_journal_longer_than_a_page_is_read_whole(store: Store) -> None:
    async with store:
        await store.append("s", [ended(seq) for seq in range(1, 1_001)])
        await store.append("other", [ended(1)])

        assert [entry.seq for entry in await journal(store, "s")] == list(range(1, 1_001))
        assert [entry.seq for entry in await journal(store, "s", after_seq=600)] == list(range(601, 1_001))


async def test_a_reading_left_early_harms_no_later_one(store: Store) -> None:
    async with store:
        await store.append("s", [ended(seq) for seq in range(1, 601)])
        async with aclosing(store.read("s")) as entries:
            assert (await anext(entries)).seq == 1
        await store.append("s", [ended(601)])

        assert len(await journal(store, "s")) == 601


async def test_appending_while_reading_is_no_trouble(store: Store) -> None:
    async with store:
        await store.append("s", [ended(seq) for seq in range(1, 301)])
        seen = []
        async with aclosing(store.read("s")) as entries:
            async for entry in entries:
                seen.append(entry.seq)
                if entry.seq % 100 == 0:
                    await store.append("s", [ended(1_000 + entry.seq)])

        assert seen[:300] == list(range(1, 301))


async def test_appends_side_by_side_keep_the_order_in_which_they_were_made(store: Store) -> None:
    async with store:
        await asyncio.gather(*(store.append("s", [ended(seq)]) for seq in range(1, 201)))

        assert [entry.seq for entry in await journal(store, "s")] == list(range(1, 201))


async def test_sessions_are_described_and_the_one_last_written_to_comes_first(store: Store) -> None:
    async with store:
        await store.append("old", [ended(1), asked(2, "Who\x1b buys?" + "x" * 200), asked(3, "And then?")])
        await store.append("new", [ended(4)])
        await store.append("old", [ended(5)])

        old, new = await store.sessions()

    assert (old.session_id, old.entries, old.created_at, old.updated_at) == ("old", 4, 1_001, 1_005)
    assert old.title == ("Who\x1b buys?" + "x" * 200)[:80]
    assert (new.session_id, new.entries, new.title, new.owner) == ("new", 1, "", "")


async def test_claiming_twice_and_releasing_twice_changes_nothing(store: Store) -> None:
    async with store:
        await store.release("s")
        await store.claim("s")
        await store.claim("s")
        await store.append("s", [asked(1)])
        await store.release("s")
        await store.release("s")
        await store.claim("s")

        assert await journal(store, "s") == [asked(1)]


async def test_what_was_written_stands_when_the_store_is_opened_again(store: Store) -> None:
    async with store:
        await store.claim("s")
        await store.append("s", [asked(1)])

    async with store:
        await store.claim("s")
        await store.append("s", [asked(9, key="k1"), ended(2)])

        assert await journal(store, "s") == [asked(1), ended(2)]


async def test_a_store_that_is_not_open_says_so(store: Store) -> None:
    async def refused() -> None:
        with pytest.raises(StoreError, match="not open"):
            await store.append("s", [asked(1)])
        calls = (store.sessions(), store.claim("s"), store.release("s"))
        for call in (*calls, journal(store, "s"), store.__aexit__(None, None, None)):
            with pytest.raises(StoreError, match="not open"):
                await call

    await refused()
    async with store:
        pass
    await refused()


async def test_a_store_can_not_be_opened_twice_at_a_time(store: Store) -> None:
    async with store:
        with pytest.raises(StoreError, match="open already"):
            await store.__aenter__()
        await store.append("s", [asked(1)])


async def test_a_cancelled_append_is_written_whole(store: Store) -> None:
    async with store:
        first = asyncio.create_task(appended(store, "s", [asked(1), ended(2)]))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await store.append("s", [ended(3)])

        assert await journal(store, "s") == [asked(1), ended(2), ended(3)]


async def test_a_store_for_reading_alone_is_empty_where_there_is_none_and_makes_nothing(
    make: Maker, tmp_path: Path
) -> None:
    store = make(tmp_path, read_only=True)
    async with store:
        assert await store.sessions() == []
        assert await journal(store, "s") == []

    assert os.listdir(tmp_path) == []


async def test_a_store_for_reading_alone_takes_no_entries_and_no_claims(make: Maker, tmp_path: Path) -> None:
    store = make(tmp_path, read_only=True)
    # A call may raise before it is awaited.
    for call in (
        lambda: store.append("s", [asked(1)]),
        lambda: store.claim("s"),
        lambda: store.release("s"),
        lambda: store.sessions(),
    ):
        with pytest.raises(StoreError, match="not open"):
            await call()
    async with store:
        for write in (lambda: store.append("s", [asked(1)]), lambda: store.append("s", []), lambda: store.claim("s")):
            with pytest.raises(StoreError, match="for reading alone"):
                await write()
        await store.release("s")

        assert await store.sessions() == []


@pytest.mark.parametrize("make_anew", LASTING)
async def test_a_store_for_reading_alone_reads_what_others_write_before_and_meanwhile(
    make_anew: Maker, tmp_path: Path
) -> None:
    async with make_anew(tmp_path) as before:
        await before.append("s", [asked(seq) for seq in range(1, 401)])
    async with make_anew(tmp_path, read_only=True) as reading:
        assert [entry.seq for entry in await journal(reading, "s", after_seq=100)] == list(range(101, 401))
        async with make_anew(tmp_path) as meanwhile:
            await meanwhile.claim("s")
            await meanwhile.append("s", [asked(401)])

            assert len(await journal(reading, "s")) == 401
            assert await reading.sessions() == await meanwhile.sessions()
            assert (await reading.sessions())[0].owner
        assert [(info.entries, info.owner) for info in await reading.sessions()] == [(401, "")]


@pytest.mark.parametrize("url", ["", "x", "local:/somewhere", "sqlite:", "sqlite://", "sqlite:///", "sqlite:///a/"])
async def test_a_url_of_another_form_is_refused_with_the_right_one(make: Maker, tmp_path: Path, url: str) -> None:
    with pytest.raises(StoreError, match=r"local:"):
        type(make(tmp_path)).from_url(url)


SESSIONS = st.sampled_from(["a", "b", "ü c"])
APPENDS = st.lists(st.tuples(SESSIONS, st.lists(st.integers(0, 9), max_size=4), st.booleans()), max_size=12)


@settings(max_examples=25, deadline=None)
@given(steps=APPENDS, after=st.integers(0, 12))
@pytest.mark.parametrize("make_anew", MAKERS)
async def test_any_run_of_appends_reads_like_a_dict_of_dicts(
    make_anew: Maker, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[int], bool]], after: int
) -> None:
    model: dict[str, dict[str, Entry]] = {}
    store = make_anew(tmp_path_factory.mktemp("journal"))
    async with store, asyncio.TaskGroup() as side_by_side:
        for session_id, keys, waits in steps:
            seq = len(model.get(session_id, {})) + 1
            entries = [ended(seq + index, key=f"k{key}") for index, key in enumerate(keys)]
            for entry in entries:
                model.setdefault(session_id, {}).setdefault(entry.key, entry)
            if waits:
                await store.append(session_id, entries)
            else:
                side_by_side.create_task(appended(store, session_id, entries))
                await asyncio.sleep(0)
    async with store:
        for session_id in ("a", "b", "ü c"):
            expected = list(model.get(session_id, {}).values())
            assert await journal(store, session_id) == expected
            in_order = [entry.seq for entry in expected] == sorted({entry.seq for entry in expected})
            if in_order:
                assert await journal(store, session_id, after) == [each for each in expected if each.seq > after]
        counted = {info.session_id: info.entries for info in await store.sessions()}
        assert counted == {session_id: len(entries) for session_id, entries in model.items() if entries}
