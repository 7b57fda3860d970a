# /// script
# requires-python = ">=3.11"
# dependencies = ["roles-runtime", "autogen-core==0.7.5", "psutil"]
#
# [tool.uv.sources]
# roles-runtime = { path = "..", editable = true }
# ///
"""What a hop costs, against the event loop itself and against autogen-core, interleaved in one run.

A hop is one whole turn: mailbox, frozen Turn, two middlewares, reply, seal, key, journal event, append, delivery.
The yardstick is one asyncio.Queue ping-pong hop of the same run. Run it by `uv run benchmarks/hops.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import time
import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from roles_runtime import Attachment, Post, Role, Turn
from roles_runtime.done import DONE
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import Entry
from roles_runtime.roles.turn import Answer, Respond
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.session import Session
from roles_runtime.runtime.team import Team
from roles_runtime.stores.local import LocalStore

HOPS = 20_000


class NullStore(LocalStore):
    """Keeps nothing: what remains is the runtime alone."""

    def append(self, session_id: str, entries: Sequence[Entry]) -> Awaitable[None]:
        return DONE

    async def read(self, session_id: str, after_seq: int = 0) -> AsyncGenerator[Entry, None]:
        return
        yield


class Player(Role):
    """Sends the ball back until enough hops are done."""

    def __init__(self, name: str, other: str, hops: int, *, attach: bool) -> None:
        self.name, self.other, self.hops, self.attach = name, other, hops, attach

    async def reply(self, turn: Turn) -> Answer:
        self.hops -= 2
        attachments = [Attachment("atta-1", "thought", "back to you")] if self.attach else None
        return Post.create("ball", self.name, self.other if self.hops > 0 else "User", attachments)


class Asker(Role):
    """The leader of a round of three turns."""

    name = "Asker"

    async def reply(self, turn: Turn) -> Answer:
        return turn.answer("go", "Worker") if turn.post.send_from == "User" else turn.answer("done", "User")


class Worker(Role):
    """Answers."""

    name = "Worker"

    async def reply(self, turn: Turn) -> Answer:
        return turn.answer("gone")


async def passing(turn: Turn, respond: Respond) -> Answer:
    return await respond(turn)


LIMITS = Limits(max_internal_chat_round_num=10**9)


async def yardstick() -> float:
    there: asyncio.Queue[int] = asyncio.Queue()
    back: asyncio.Queue[int] = asyncio.Queue()

    async def echo() -> None:
        for _ in range(HOPS // 2):
            await back.put(await there.get())

    task = asyncio.create_task(echo())
    start = time.process_time()
    for n in range(HOPS // 2):
        await there.put(n)
        await back.get()
    await task
    return (time.process_time() - start) / HOPS


async def hops(store: LocalStore, *, attach: bool) -> float:
    # The last hop must be the leader's, to User.
    count = HOPS - 1 if HOPS % 2 == 0 else HOPS
    team = Team(
        Player("Left", "Right", count, attach=attach),
        [Player("Right", "Left", count, attach=attach)],
        middleware=[passing, passing],
    )
    async with Runtime(team, store=store, kernels=None, limits=LIMITS) as runtime:
        session = await runtime.session()
        gc.collect()
        start = time.process_time()
        ended = await session.ask("go")
        spent = time.process_time() - start
        assert ended.state is RoundState.finished
        assert len(ended.post_list) == count + 1
    return spent / count


async def asks(sessions: int) -> float:
    rounds = max(1, 2_000 // sessions)
    async with Runtime(Team(Asker(), [Worker()]), store=NullStore(), kernels=None) as runtime:
        opened = [await runtime.session() for _ in range(sessions)]

        async def many(session: Session) -> None:
            for _ in range(rounds):
                await session.ask("go")

        gc.collect()
        start = time.process_time()
        await asyncio.gather(*(many(session) for session in opened))
        return (time.process_time() - start) / (sessions * rounds)


async def memory() -> tuple[float, float]:
    """Bytes of an idle opened session beside its conversation, and of a round that waits inside a role."""
    gate = asyncio.Event()

    class Waiting(Role):
        name = "Waiting"

        async def reply(self, turn: Turn) -> Answer:
            await gate.wait()
            return turn.answer("done", "User")

    count = 1_000
    async with Runtime(Team(Waiting()), store=NullStore(), kernels=None) as runtime:
        await runtime.session()
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        opened = [await runtime.session() for _ in range(count)]
        gc.collect()
        idle = (tracemalloc.get_traced_memory()[0] - before) / count
        conversation = tracemalloc.get_traced_memory()[0]
        from roles_runtime.posts.conversation import Conversation

        kept = [Conversation(f"conv-{n:026}") for n in range(count)]
        own = (tracemalloc.get_traced_memory()[0] - conversation) / count
        del kept
        before = tracemalloc.get_traced_memory()[0]
        running = [asyncio.create_task(session.ask("go")) for session in opened]
        await asyncio.sleep(0.2)
        waiting = (tracemalloc.get_traced_memory()[0] - before) / count
        tracemalloc.stop()
        gate.set()
        await asyncio.gather(*running)
    return idle - own, waiting


async def main(repeats: int, peers: bool) -> None:
    cases: dict[str, Callable[[], Awaitable[float]]] = {
        "asyncio.Queue hop (yardstick)": yardstick,
        "hop, null store": lambda: hops(NullStore(), attach=False),
        "hop, full house (local store, an attachment each)": lambda: hops(LocalStore(), attach=True),
        "ask of 3 turns, 1 session": lambda: asks(1),
        "ask of 3 turns, 1,000 sessions": lambda: asks(1_000),
    }
    if peers:
        from peers import autogen_rpc

        cases["autogen-core RPC"] = autogen_rpc
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, case in cases.items():
            gc.collect()
            times[name].append(await case())
    medians = {name: statistics.median(each) for name, each in times.items()}
    yard = medians["asyncio.Queue hop (yardstick)"]
    print(f"CPU time, median of {repeats}:")
    for name, median in medians.items():
        ratio = f"{median / yard:7.2f} yardsticks   {yard / median:5.2f} of its rate"
        print(f"  {name:52} {median * 1e6:8.2f} us   {ratio}")
    full = medians["hop, full house (local store, an attachment each)"]
    if peers:
        print(f"  full house against autogen-core's RPC: {medians['autogen-core RPC'] / full:.0f} x")
    one, thousand = medians["ask of 3 turns, 1 session"], medians["ask of 3 turns, 1,000 sessions"]
    print(f"  an ask at 1,000 sessions against at one: {thousand / one:.2f} x")
    idle, waiting = await memory()
    print(f"  an idle session beside its conversation: {idle:.0f} B")
    print(f"  a round waiting inside a role: {waiting / 1024:.1f} KiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--no-peers", action="store_true", help="leave autogen-core out")
    given = parser.parse_args()
    asyncio.run(main(given.repeats, not given.no_peers))
