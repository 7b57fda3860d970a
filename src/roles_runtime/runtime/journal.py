"""The Journal of a session: gives each event its place, and has it written down before anybody hears of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import time_ns
from typing import TypeAlias

from roles_runtime.errors import StoreError
from roles_runtime.posts.event import DurableEvent, Entry, PostSent, TurnFinished
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.listeners import Listeners
from roles_runtime.stores.store import Store

Keyed: TypeAlias = tuple[DurableEvent, str]
"""An event, and the key that makes its append idempotent."""


class Journal:
    """Writes one session's entries. The session's owner alone has it.

    Attributes:
        seq: Of the last entry that was handed to the store.
        broken: Whether an append failed: memory and store may differ, and the session must be read again.
    """

    __slots__ = ("_coats", "_listeners", "_owed", "_session_id", "_store", "seq")

    def __init__(
        self, store: Store, session_id: str, seq: int, listeners: Listeners, coats: Coats | None = None
    ) -> None:
        self._store, self._session_id, self._listeners = store, session_id, listeners
        self.seq = seq
        self._coats = coats
        # None once an append failed; one field for two things, since an idle session holds it.
        self._owed: tuple[Entry, ...] | None = ()

    @property
    def broken(self) -> bool:
        """Whether an append failed."""
        return self._owed is None

    async def write(self, event: DurableEvent, key: str) -> None:
        """Writes one event; returns when it is durable.

        Raises:
            StoreError: it was not written.
        """
        await self.append(((event, key),))

    async def append(self, events: Sequence[Keyed]) -> None:
        """Writes events, all or none; returns when they are durable, and tells the listeners then.

        Raises:
            StoreError: none was written.
        """
        if self._owed is None:
            raise self._torn()
        now, seq, traceparent = time_ns(), self.seq, "" if self._coats is None else self._coats.current()
        # The places are taken before the wait: appends of one session are under way side by side, in this order.
        self.seq = seq + len(events)
        entries = [Entry(seq + n, key, now, event, traceparent) for n, (event, key) in enumerate(events, 1)]
        try:
            await self._store.append(self._session_id, entries)
        except Exception:
            self._owed = None
            raise
        except asyncio.CancelledError:
            self._owe(entries)
            raise
        if self._listeners.watchers:
            self._tell(entries)

    async def append_turn(self, sent: PostSent, finished: TurnFinished, turn_id: str) -> None:
        """Writes a turn and its one Post: as `append`, without its cost, for this is what a hop writes."""
        if self._owed is None:
            raise self._torn()
        now, seq, traceparent = time_ns(), self.seq, "" if self._coats is None else self._coats.current()
        self.seq = seq + 2
        entries = (
            Entry(seq + 1, turn_id + "#0", now, sent, traceparent),
            Entry(seq + 2, turn_id, now, finished, traceparent),
        )
        try:
            await self._store.append(self._session_id, entries)
        except Exception:
            self._owed = None
            raise
        except asyncio.CancelledError:
            self._owe(entries)
            raise
        if self._listeners.watchers:
            self._tell(entries)

    def tell_owed(self) -> None:
        """Tells the listeners what was written while whoever wrote it was cancelled."""
        if self._owed:
            self._tell(())

    def _torn(self) -> StoreError:
        # What stands in memory was not written; another entry after it would leave a gap.
        return StoreError(f"The journal of session {self._session_id} could not be written; it must be read again.")

    def _owe(self, entries: Sequence[Entry]) -> None:
        # They are handed over and will be written, before whatever comes after them.
        if self._listeners.watchers and self._owed is not None:
            self._owed += tuple(entries)

    def _tell(self, entries: Sequence[Entry]) -> None:
        if self._owed:
            entries = sorted([*self._owed, *entries], key=lambda entry: entry.seq)
            self._owed = ()
        for entry in entries:
            self._listeners.tell(entry)
