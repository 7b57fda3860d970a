"""What SqliteStore costs beside raw SQLite on the same schema, in one run: ``python benchmarks/stores.py``.

A hop writes two rows, PostSent and TurnFinished, in one append; so each contestant does. Three run in turn, again and
again, since a disk's flush varies twentyfold with its neighbours; medians and their ratios are printed.

- bare: a commit a hop, no thread, no loop.
- raw: hand-written group commit. Producers await one thread; rows are ready-made bytes.
- store: SqliteStore.append, entries encoded.
- hop: the whole durable hop of the runtime, two roles writing to each other over SqliteStore.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import apsw

from roles_runtime import Limits, Role, RoundState, Runtime, Session, Team, Turn
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.codec import encode_entry
from roles_runtime.posts.event import Entry, PostSent, TurnFinished
from roles_runtime.posts.post import Post, seal
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.stores.sqlite_schema import open_for_writing

ROWS_A_HOP = 2
INSERT = (
    "INSERT INTO entry (session, seq, key, time_ns, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (session, key) DO NOTHING"
)
Row = tuple[int, int, str, int, bytes]
Hop = Callable[[int, int], Awaitable[None]]


def entries_of(session: int, hop: int) -> tuple[Entry, Entry]:
    round_id, answered = f"round-20260101-120000-{session:08x}", f"post-20260101-120000-{hop:08x}"
    post = Post.create("The total is 41,203.50 over 96 rows. " * 4, "CodeInterpreter", "Planner")
    post.add_attachment(Attachment.create(AttachmentType.execution_result, "region  total\n" * 6))
    seal(post)
    key, now = f"{round_id}/{answered}/CodeInterpreter", time.time_ns()
    return (
        Entry(2 * hop + 1, f"{key}#0", now, PostSent(round_id, post, (answered,))),
        Entry(2 * hop + 2, f"{key}#turn", now, TurnFinished(round_id, "CodeInterpreter", (answered,), now)),
    )


def rows_of(session: int, hop: int) -> list[Row]:
    return [(session, e.seq, e.key, e.time_ns, encode_entry(e)) for e in entries_of(session, hop)]


class RawGroupCommit:
    """The least there can be: one thread, one batch under way, what comes meanwhile is the next."""

    def __init__(self, path: str) -> None:
        self.connection = open_for_writing(path, 5)
        self.loop = asyncio.get_running_loop()
        self.queue: SimpleQueue[list[tuple[list[Row], asyncio.Future[None]]] | None] = SimpleQueue()
        self.waiting: list[tuple[list[Row], asyncio.Future[None]]] = []
        self.busy = self.alone = False
        self.thread = Thread(target=self.run)
        self.thread.start()

    async def append(self, rows: list[Row]) -> None:
        future: asyncio.Future[None] = self.loop.create_future()
        self.waiting.append((rows, future))
        if not self.busy:
            self.busy = True
            if self.alone:
                self.hand_over()
            else:
                self.loop.call_soon(self.hand_over)
        await future

    def hand_over(self) -> None:
        batch, self.waiting = self.waiting, []
        self.queue.put(batch)

    def settle(self, batch: list[tuple[list[Row], asyncio.Future[None]]]) -> None:
        self.alone = len(batch) == 1
        for _, future in batch:
            future.set_result(None)
        if self.waiting:
            self.hand_over()
        else:
            self.busy = False

    def run(self) -> None:
        while (batch := self.queue.get()) is not None:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany(INSERT, [row for rows, _ in batch for row in rows])
            self.connection.execute("COMMIT")
            self.loop.call_soon_threadsafe(self.settle, batch)
        self.connection.close()

    def close(self) -> None:
        self.queue.put(None)
        self.thread.join()


class Player(Role):
    """Sends the same Post back until the round has had its hops; the counts of sessions do not mix."""

    def __init__(self, name: str, other: str, hops: int) -> None:
        self.name, self.other, self.hops = name, other, hops

    async def reply(self, turn: Turn) -> Post:
        last = turn.scope.posts_seen >= self.hops  # type: ignore[attr-defined]
        text = "The total is 41,203.50 over 96 rows. " * 4
        attachment = Attachment.create(AttachmentType.execution_result, "region  total\n" * 6)
        return Post.create(text, self.name, "User" if last and self.name == "Left" else self.other, [attachment])


@dataclass
class Contest:
    """Runs one width: so many sessions, so many hops each, so many rounds."""

    sessions: int
    hops: int
    done: int = 0

    async def timed(self, hop: Hop) -> float:
        """Microseconds a row."""
        first = self.done

        async def session(number: int) -> None:
            for index in range(first, first + self.hops):
                await hop(number, index)

        started = time.perf_counter()
        await asyncio.gather(*(session(number) for number in range(self.sessions)))
        return (time.perf_counter() - started) * 1e6 / (self.sessions * self.hops * ROWS_A_HOP)

    async def round_of_hops(self, sessions: list[Session]) -> float:
        """Microseconds a row of the runtime's own hops; a round has one hop more than were asked for, or two."""
        started = time.perf_counter()
        rounds = await asyncio.gather(*(session.ask("go") for session in sessions))
        spent = time.perf_counter() - started
        assert all(each.state is RoundState.finished for each in rounds)
        return spent * 1e6 / (sum(len(each.post_list) - 1 for each in rounds) * ROWS_A_HOP)

    def bare(self, connection: apsw.Connection, prepared: dict[tuple[int, int], list[Row]]) -> float:
        started = time.perf_counter()
        for rows in prepared.values():
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(INSERT, rows)
            connection.execute("COMMIT")
        return (time.perf_counter() - started) * 1e6 / (len(prepared) * ROWS_A_HOP)

    async def run(self, folder: Path, rounds: int) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {"bare": [], "raw": [], "store": [], "hop": []}
        bare = open_for_writing(str(folder / "bare.db"), 5)
        raw = RawGroupCommit(str(folder / "raw.db"))
        team = Team(Player("Left", "Right", self.hops), [Player("Right", "Left", self.hops)])
        limits = Limits(max_internal_chat_round_num=10**9)
        durable = Runtime(team, store=SqliteStore(folder / "hop.db"), kernels=None, limits=limits)
        async with SqliteStore(folder / "store.db") as store, durable as runtime:
            sessions = [await runtime.session() for _ in range(self.sessions)]
            for _ in range(rounds):
                span = [(s, h) for h in range(self.done, self.done + self.hops) for s in range(self.sessions)]
                prepared = {at: rows_of(*at) for at in span}
                entries = {at: entries_of(*at) for at in span}
                some = dict(list(prepared.items())[: min(len(prepared), 500)])
                found["bare"].append(self.bare(bare, some))
                found["raw"].append(await self.timed(lambda s, h, p=prepared: raw.append(p[s, h])))
                found["store"].append(await self.timed(lambda s, h, e=entries: store.append(f"s-{s}", e[s, h])))
                found["hop"].append(await self.round_of_hops(sessions))
                self.done += self.hops
        raw.close()
        bare.close()
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", help="on the disk that counts; a temporary one otherwise")
    options = parser.parse_args()
    for sessions, hops, gate in ((1, 300, "hop <= 1.2 x raw"), (128, 20, "rows/s >= 0.5 x raw, time <= 2.0 x")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            found = asyncio.run(Contest(sessions, hops).run(Path(folder), options.rounds))
        middle = {name: statistics.median(values) for name, values in found.items()}
        ratio = statistics.median(s / r for s, r in zip(found["store"], found["raw"], strict=True))
        print(f"{sessions:4} sessions, {ROWS_A_HOP} rows a hop; us a row:", end=" ")
        print("  ".join(f"{name} {value:.1f}" for name, value in middle.items()), end="  ")
        hop = statistics.median(h / r for h, r in zip(found["hop"], found["raw"], strict=True))
        print(
            f"| hop / raw {hop:.2f}, store / raw {ratio:.2f}, "
            f"raw / bare {middle['raw'] / middle['bare']:.2f}  (gate: {gate})"
        )


if __name__ == "__main__":
    main()
