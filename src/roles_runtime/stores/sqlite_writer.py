"""The one that writes: a thread with the only writing connection, and group commit.

One batch is under way, and what comes meanwhile is the next. So a commit, and the one flush of the disk that it
costs, is shared by all who wait; the loop is told once a batch. The thread is a daemon that ends with the store, or
with the interpreter where nobody closed the store: `atexit` lets it finish what it was given.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

import anyio
import anyio.to_thread
import apsw

from roles_runtime.errors import RolesError, StoreError
from roles_runtime.stores.sqlite_errors import explained

T = TypeVar("T")

Row = tuple[int, str, int, bytes]
"""(seq, key, time_ns, body)"""

STALL_S = 30.0
"""How long a batch may take before those who wait for it are told; a disk that hangs is all that reaches it."""

MAX_BATCH = 1024
"""How many works share a commit at most."""

CHECKPOINT_PAGES = 2048
"""After how many pages (8 MiB) the log is copied into the file. Seldom: a page written often is copied once."""

_PAGES_A_COMMIT, _PAGES_AN_APPEND = 3, 2

_SESSIONS_REMEMBERED = 10_000


class Work(Generic[T]):
    """What one caller waits for. The thread fills in ``value`` or ``error``, the loop resolves ``future``."""

    __slots__ = ("error", "future", "value")

    future: asyncio.Future[T]
    value: T
    error: RolesError | None

    def __init__(self) -> None:
        self.error = None


class Append(Work[None]):
    """Rows for one session, all or none."""

    __slots__ = ("rows", "session_id")

    def __init__(self, session_id: str, rows: Sequence[Row]) -> None:
        self.session_id, self.rows, self.error, self.value = session_id, rows, None, None


class Call(Work[T]):
    """Something else to do in a write transaction; where it raises a RolesError, it must have written nothing."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[apsw.Connection], T]) -> None:
        super().__init__()
        self.action = action


class Writer:
    """Writes works durably, batch by batch. All methods are called in the loop in which it was made.

    Args:
        path: The file, for messages.
        connection: The writing connection; the writer closes it.
    """

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: list[Work[object]] = []
        self._busy = False
        self._alone = False
        self._under_way: list[Work[object]] | None = None
        self._watched = False
        self._stalled = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._batches: SimpleQueue[list[Work[object]] | None] = SimpleQueue()
        self._journal = _Journal(path, connection)
        self._path = path
        self._thread = Thread(target=self._run, name=f"journal of {path}", daemon=True)
        self._thread.start()
        atexit.register(self._finish)

    async def do(self, work: Work[T]) -> T:
        """Hands a work over and returns when it is durable; a caller that is cancelled leaves it handed over.

        Raises:
            StoreError: nothing of it was written; or, if the message says so, this is not known.
            RolesError: what a `Call` refused with.
        """
        if self._loop is not asyncio.get_running_loop():
            raise StoreError(f"{self._path} was opened in another event loop; open a store of its own in each.")
        if self._stalled:
            raise self._stall()
        future: asyncio.Future[T] = self._loop.create_future()
        work.future = future
        self._waiting.append(work)  # type: ignore[arg-type]
        if not self._busy:
            self._busy = True
            if self._alone:
                self._hand_over()
            else:
                # Not at once: whoever else is ready to run now shares the commit.
                self._loop.call_soon(self._hand_over)
        return await future

    async def aclose(self) -> None:
        """Waits until all that was handed over is durable, then ends the thread and closes the connection.

        Raises:
            StoreError: the disk does not answer; the thread was left behind.
        """
        with anyio.CancelScope(shield=True):
            try:
                with anyio.move_on_after(STALL_S):
                    if self._busy:
                        self._idle.clear()
                        await self._idle.wait()
            finally:
                self._end()
            # A limiter of its own: closing must not wait for threads that others keep busy.
            await anyio.to_thread.run_sync(self._thread.join, STALL_S, limiter=anyio.CapacityLimiter(1))
        if self._thread.is_alive():
            raise self._stall()

    def _hand_over(self) -> None:
        batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
        self._under_way = batch
        self._batches.put(batch)
        if not self._watched:
            self._watch(batch)

    def _settle(self, batch: list[Work[object]]) -> None:
        self._under_way, self._stalled, self._alone = None, False, len(batch) == 1
        for work in batch:
            if work.future.done():
                continue
            if work.error is None:
                work.future.set_result(work.value)
            else:
                work.future.set_exception(work.error)
        if self._waiting:
            # Those who were just answered run first, and what they write next goes along.
            self._loop.call_soon(self._hand_over)
        else:
            self._busy = False
            self._idle.set()

    def _watch(self, batch: list[Work[object]]) -> None:
        # A timer a batch would cost more than it is worth: this one looks again while there is anything to look at.
        self._watched = True
        self._loop.call_later(STALL_S, self._look, batch)

    def _look(self, batch: list[Work[object]]) -> None:
        self._watched = False
        if self._under_way is batch:
            self._give_up(batch)
        if self._under_way is not None:
            self._watch(self._under_way)

    def _give_up(self, batch: list[Work[object]]) -> None:
        self._stalled = True
        for work in (*batch, *self._waiting):
            if not work.future.done():
                work.future.set_exception(self._stall())

    def _stall(self) -> StoreError:
        return StoreError(
            f"{self._path}: the disk did not answer for {STALL_S:.0f} s; what was being written may or may not be "
            "there, and writing it again does no harm. Look after the disk."
        )

    def _end(self) -> None:
        """Lets the thread end after all it was given; what still waits, where the loop ended early, goes along."""
        atexit.unregister(self._finish)
        left, self._waiting = self._waiting, []
        if left:
            self._batches.put(left)
        self._batches.put(None)

    def _finish(self) -> None:
        self._end()
        self._thread.join(STALL_S)

    def _run(self) -> None:
        while (batch := self._batches.get()) is not None:
            self._journal.write(batch)
            # A loop that was closed has nobody left who could be told.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._settle, batch)
            self._journal.checkpoint_if_due()
        self._journal.close()


class _Journal:
    """The thread's side: one transaction a batch."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self._path, self._connection = path, connection
        self._numbers: dict[str, int] = {}
        self._pages = 0
        connection.wal_autocheckpoint(0)

    def write(self, batch: Sequence[Work[object]]) -> None:
        """Writes all in one commit; if that fails, each in one of its own, so that one harms no other."""
        try:
            self._commit(batch)
        except apsw.BusyError as error:
            for work in batch:
                work.error = explained(error, self._path)
        except Exception as error:
            if len(batch) == 1:
                batch[0].error = explained(error, self._path, self._connection)
            else:
                self._write_singly(batch)

    def checkpoint_if_due(self) -> None:
        """Copies the log into the file, after the batch's waiters were told: nobody's commit waits for it."""
        if self._pages < CHECKPOINT_PAGES:
            return
        self._pages = 0
        # Where it can not be done now, the log keeps everything, and a later one does it.
        with suppress(apsw.Error):
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def close(self) -> None:
        # The last connection to close copies the log into the file; where it can not, the next to open does.
        with suppress(apsw.Error):
            self._connection.close()

    def _write_singly(self, batch: Sequence[Work[object]]) -> None:
        broken: dict[str, StoreError] = {}
        for work in batch:
            if isinstance(work, Append) and work.session_id in broken:
                # What follows a lost append in its session is not written either: the journal has no hole.
                work.error = broken[work.session_id]
                continue
            self.write([work])
            if isinstance(work, Append) and isinstance(work.error, StoreError):
                broken[work.session_id] = work.error

    def _commit(self, batch: Sequence[Work[object]]) -> None:
        connection = self._connection
        fresh: dict[str, int] = {}
        connection.execute("BEGIN IMMEDIATE")
        try:
            rows: list[tuple[int, int, str, int, bytes]] = []
            for work in batch:
                if isinstance(work, Append):
                    number = self._numbers.get(work.session_id) or self._number(work.session_id, fresh)
                    rows += [(number, *row) for row in work.rows]
                elif isinstance(work, Call):
                    _answer(work, connection)
            connection.executemany(
                "INSERT INTO entry (session, seq, key, time_ns, body) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (session, key) DO NOTHING",
                rows,
            )
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        # An estimate: SQLite's own count comes by a callback into Python, which each commit would wait for.
        self._pages += _PAGES_A_COMMIT + _PAGES_AN_APPEND * len(batch)
        if fresh:
            self._remember(fresh)

    def _number(self, session_id: str, fresh: dict[str, int]) -> int:
        number = fresh.get(session_id)
        if number is None:
            find = partial(self._connection.execute, "SELECT number FROM session WHERE id = ?", (session_id,))
            row = find().fetchone()
            if row is None:
                self._connection.execute("INSERT INTO session (id) VALUES (?)", (session_id,))
                number = self._connection.last_insert_rowid()
            else:
                number = row[0]
            fresh[session_id] = number
        return number

    def _remember(self, fresh: dict[str, int]) -> None:
        """Only what was committed is remembered; and not for ever, since a store may hold a million sessions."""
        if len(self._numbers) > _SESSIONS_REMEMBERED:
            self._numbers.clear()
        self._numbers.update(fresh)


def _answer(work: Call[object], connection: apsw.Connection) -> None:
    try:
        work.value = work.action(connection)
    except RolesError as refusal:
        work.error = refusal
