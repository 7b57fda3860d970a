"""The Journal of a session: gives each event its place, and has it written down before anybody hears of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from time import time_ns
from typing import Protocol, TypeAlias

from roles_runtime.done import DONE
from roles_runtime.errors import StoreError
from roles_runtime.posts.event import DurableEvent, Entry, PostSent, TurnFinished
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.listeners import Listeners
from roles_runtime.stores.store import Store

Keyed: TypeAlias = tuple[DurableEvent, str]
"""An event, and the key that makes its append idempotent."""


class Shelf(Protocol):
    """What the journals of all sessions share."""

    @property
    def store(self) -> Store:
        """Where they are."""
        ...

    @property
    def coats(self) -> Coats | None:
        """What watches, or None."""
        ...


class Journal:
    """Writes one session's entries. The session's owner alone has it.

    Attributes:
        session_id: Whose it is.
        seq: Of the last entry that was handed to the store.
        broken: Whether an append failed: memory and store may differ, and the session must be read again.
    """

    __slots__ = ("_listeners", "_owed", "_shelf", "broken", "seq", "session_id")

    def __init__(self, shelf: Shelf, session_id: str, seq: int, listeners: Listeners) -> None:
        self._shelf, self.session_id, self._listeners = shelf, session_id, listeners
        self.seq = seq
        self.broken = False
        self._owed: tuple[Entry, ...] = ()

    def write(self, event: DurableEvent, key: str) -> Awaitable[None]:
        """Writes one event, as `append`."""
        return self.append(((event, key),))

    def append(self, events: Sequence[Keyed]) -> Awaitable[None]:
        """Writes events, all or none; what it returns is over when they are durable, and tells the listeners then.

        `DONE` says that both is over already.

        Raises:
            StoreError: none was written.
        """
        if self.broken:
            raise self._torn()
        coats, now, seq = self._shelf.coats, time_ns(), self.seq
        traceparent = "" if coats is None else coats.current([event for event, _ in events])
        entries = tuple([Entry(seq + n, key, now, event, traceparent) for n, (event, key) in enumerate(events, 1)])
        # Moved before the wait: appends of one session are under way side by side, in the order of their places.
        self.seq = seq + len(entries)
        return self._handed_over(entries)

    def append_turn(self, sent: PostSent, finished: TurnFinished, turn_id: str) -> Awaitable[None]:
        """As `append` for a turn and its one Post, without its cost: this is what a hop writes."""
        if self.broken:
            raise self._torn()
        coats, now, seq = self._shelf.coats, time_ns(), self.seq
        traceparent = "" if coats is None else coats.current((sent,))
        entries = (
            Entry(seq + 1, turn_id + "#0", now, sent, traceparent),
            Entry(seq + 2, turn_id, now, finished, traceparent),
        )
        self.seq = seq + 2
        return self._handed_over(entries)

    def _handed_over(self, entries: tuple[Entry, ...]) -> Awaitable[None]:
        try:
            durable = self._shelf.store.append(self.session_id, entries)
        except Exception:
            self.broken = True
            raise
        if durable is not DONE:
            return self._written(entries, durable)
        if self._listeners.watchers:
            self._tell(entries)
        return DONE

    async def _written(self, entries: tuple[Entry, ...], durable: Awaitable[None]) -> None:
        """Waits until entries that were handed over are durable; tells the listeners then."""
        try:
            await durable
        except Exception:
            self.broken = True
            raise
        except asyncio.CancelledError:
            self._owe(entries)
            raise
        if self._listeners.watchers:
            self._tell(entries)

    def _torn(self) -> StoreError:
        # What stands in memory was not written; another entry after it would leave a gap.
        return StoreError(f"The journal of session {self.session_id} could not be written; it must be read again.")

    def tell_owed(self) -> None:
        """Tells the listeners what was written while whoever wrote it was cancelled."""
        if self._owed:
            self._tell(())

    def _owe(self, entries: Sequence[Entry]) -> None:
        # They are handed over and will be written, before whatever comes after them.
        if self._listeners.watchers:
            self._owed += tuple(entries)

    def _tell(self, entries: Sequence[Entry]) -> None:
        if self._owed:
            entries = sorted([*self._owed, *entries], key=lambda entry: entry.seq)
            self._owed = ()
        for entry in entries:
            self._listeners.tell(entry)
