"""LocalStore: what is its own beside the contract."""

from __future__ import annotations

import pytest

from roles_runtime.errors import StoreError
from roles_runtime.plugins import load
from roles_runtime.posts.event import Entry, TurnFinished
from roles_runtime.stores.local import LocalStore

pytestmark = pytest.mark.anyio


async def test_two_objects_share_nothing() -> None:
    async with LocalStore() as one, LocalStore() as two:
        await one.append("s", [Entry(1, "k", 1, TurnFinished("round-1", "Planner", ("post-1",), 1))])

        assert await two.sessions() == []


async def test_two_runtimes_can_not_open_one_object() -> None:
    store = LocalStore()
    async with store:
        with pytest.raises(StoreError, match="second one"):
            await store.__aenter__()


async def test_a_reading_sees_what_stood_there_when_it_began() -> None:
    async with LocalStore() as store:
        await store.append("s", [Entry(1, "a", 1, TurnFinished("round-1", "Planner", ("post-1",), 1))])
        entries = store.read("s")
        first = await anext(entries)
        await store.append("s", [Entry(2, "b", 2, TurnFinished("round-1", "Planner", ("post-2",), 2))])

        assert first.seq == 1
        assert [entry async for entry in entries] == []


def test_it_is_found_by_its_name() -> None:
    assert load("store", "local") is LocalStore
