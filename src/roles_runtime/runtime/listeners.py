"""Who listens to a session: nobody costs nothing, a slow one loses passing events only, a faulty one harms nobody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol, TypeAlias

import anyio

from roles_runtime.posts.event import Entry, Event, PassingEvent
from roles_runtime.runtime.logs import get_logger

log = get_logger(__name__)

Handler: TypeAlias = Callable[[Event], None]
"""Called in the loop's thread with each event as it happens; it must not block."""

Reread: TypeAlias = Callable[[int], AsyncGenerator[Entry, None]]
"""Reads the journal after a ``seq``."""

BUFFER = 1024
"""Events that may wait for one listener; a round has some dozens of durable ones."""


class Listener:
    """One reader of a session's events, with a buffer of its own."""

    def __init__(self) -> None:
        self._buffer: deque[Entry | PassingEvent] = deque()
        self._landed = anyio.Event()
        self._lagging = self._ended = False
        self._seq = self._resume = 0

    def push(self, item: Entry | PassingEvent) -> None:
        """Takes an item, or drops it where too many wait: a passing one for good, a durable one to be reread."""
        durable = isinstance(item, Entry)
        if len(self._buffer) >= BUFFER or (durable and self._lagging):
            if isinstance(item, Entry) and not self._lagging:
                self._lagging, self._resume = True, item.seq - 1
            return
        self._buffer.append(item)
        self._landed.set()

    def end(self) -> None:
        """Nothing more will come."""
        self._ended = True
        self._landed.set()

    async def events(self, reread: Reread) -> AsyncGenerator[Event, None]:
        """Yields what comes, in order, until `end`; what was dropped is read from the journal."""
        while True:
            while self._buffer:
                item = self._buffer.popleft()
                if not isinstance(item, Entry):
                    yield item
                elif item.seq > self._seq:
                    # Otherwise it came while it was being reread.
                    self._seq = item.seq
                    yield item.event
            if self._lagging:
                self._lagging = False
                async with aclosing(reread(max(self._seq, self._resume))) as entries:
                    async for entry in entries:
                        self._seq = entry.seq
                        yield entry.event
            elif self._ended:
                return
            else:
                self._landed = anyio.Event()
                await self._landed.wait()


class Watcher(Protocol):
    """Whoever is handed each event."""

    def push(self, item: Entry | PassingEvent) -> None:
        """Takes an event; never blocks and never raises."""
        ...


class Handled:
    """Calls a handler with each event; one that raises is told to the log, once a round, and harms nobody."""

    __slots__ = ("_handler", "_told")

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._told = False

    def push(self, item: Entry | PassingEvent) -> None:
        """Hands the event to the handler."""
        try:
            self._handler(item.event if isinstance(item, Entry) else item)
        except (Exception, asyncio.CancelledError, SystemExit) as error:
            if not self._told:
                self._told = True
                log.warning("an event handler raised", handler=repr(self._handler), error=repr(error))


class Listeners:
    """All who watch one session.

    Attributes:
        watchers: Who they are.
    """

    __slots__ = ("watchers",)

    def __init__(self) -> None:
        self.watchers: tuple[Watcher, ...] = ()

    def add(self, watcher: Watcher) -> None:
        """Hands each event from now on to ``watcher``."""
        self.watchers = (*self.watchers, watcher)

    def remove(self, watcher: Watcher | None) -> None:
        """Lets it go; it may be gone already."""
        self.watchers = tuple(each for each in self.watchers if each is not watcher)

    def tell(self, item: Entry | PassingEvent) -> None:
        """Hands an event to all."""
        for watcher in self.watchers:
            watcher.push(item)
