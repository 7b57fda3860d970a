# /// script
# requires-python = ">=3.11"
# dependencies = ["roles-runtime", "autogen-core==0.7.5"]
#
# [tool.uv.sources]
# roles-runtime = { path = "..", editable = true }
# ///
"""What being seen costs: a traced hop against the SDK's own cost of the same spans, and against autogen-core's.

A traced hop has three spans (send, process, invoke_agent), which a batch processor takes in. Time is that of the event
loop's thread. Run it by `uv run benchmarks/telemetry.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from hops import LIMITS, Player
from nowhere import tracers
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.trace import Link, SpanKind

from roles_runtime.posts.conversation import RoundState
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.stores.local import LocalStore
from roles_runtime.telemetry.exporting import make_providers
from roles_runtime.telemetry.providers import Providers
from roles_runtime.telemetry.telemetry import Telemetry

HOPS = 2_000


def providers() -> Providers:
    return Providers(tracers(), MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False))


async def hops(telemetry: Telemetry | None) -> float:
    """CPU seconds of one hop."""
    count = HOPS - 1
    team = Team(Player("Left", "Right", count, attach=True), [Player("Right", "Left", count, attach=True)])
    async with Runtime(team, store=LocalStore(), kernels=None, limits=LIMITS, telemetry=telemetry) as runtime:
        session = await runtime.session()
        gc.collect()
        start = time.thread_time()
        ended = await session.ask("go")
        spent = time.thread_time() - start
        assert ended.state is RoundState.finished
    return spent / count


async def plain() -> float:
    return await hops(None)


async def traced() -> float:
    return await hops(Telemetry(providers(), content=False))


async def by_hand() -> float:
    """The same spans with the same attributes, links and metrics, made as the SDK's documentation shows it."""
    made = providers()
    tracer = made.tracer_provider.get_tracer("by hand")
    meter = made.meter_provider.get_meter("by hand")
    depth, posts, turns = (meter.create_counter(name) for name in ("depth", "posts", "turns"))
    wait, turn = meter.create_histogram("wait"), meter.create_histogram("turn")
    hop = {
        "messaging.system": "roles_runtime",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": "Left",
        "messaging.message.id": "post-20261201-041205-b2592500",
        "messaging.message.conversation_id": "20261201-041205-b2592500",
        "roles.session.id": "20261201-041205-b2592500",
        "roles.round.id": "round-20261201-041205-b2592500",
        "roles.post.id": "post-20261201-041205-b2592500",
        "roles.post.from": "Right",
        "roles.post.to": "Left",
        "roles.post.self_send": False,
        "roles.attachment.count": 1,
        "roles.attachment.bytes": 11,
        "roles.attachment.types": ("thought",),
    }
    listed = '[{"id":"atta-1","type":"thought","bytes":11}]'
    come = {"in.from": "Right", "in.recipient": "Left", "in.attachments": listed, "roles.mailbox.wait_ms": 0}
    gone = {"roles.outcome": "ok", "out.from": "Left", "out.to": "Right", "out.attachments": listed}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Left", "gen_ai.conversation.id": "s"}
    role, ended = {"roles.role": "Left"}, {"roles.role": "Left", "roles.outcome": "ok"}
    with tracer.start_as_current_span("invoke_workflow team") as root:
        where = trace.set_span_in_context(root)
        link = Link(root.get_span_context())
        gc.collect()
        start = time.thread_time()
        for _ in range(HOPS):
            with tracer.start_as_current_span(
                "process Left", where, SpanKind.CONSUMER, {**hop, **come}, [link]
            ) as processed:
                with tracer.start_as_current_span("invoke_agent Left", attributes=agent):
                    pass
                with tracer.start_as_current_span("send Right", kind=SpanKind.PRODUCER, attributes=dict(hop)):
                    depth.add(1, role)
                processed.set_attributes(gone)
            depth.add(1, role)
            wait.record(0.001, role)
            posts.add(1, {"roles.post.kind": "role"})
            turn.record(0.001, ended)
            turns.add(1, ended)
        return (time.thread_time() - start) / HOPS


async def lag(telemetry: Telemetry | None, seconds: float = 4.0) -> tuple[float, float]:
    """How late the loop is, at the 99th percentile, while 20 sessions do 100 hops a second each; and hops a second."""
    hops_each = int(100 * seconds)

    class Paced(Player):
        async def reply(self, turn: Turn) -> Answer:
            await asyncio.sleep(0.0095)
            return await super().reply(turn)

    late: list[float] = []

    async def watch() -> None:
        while True:
            due = time.perf_counter() + 0.005
            await asyncio.sleep(0.005)
            late.append(time.perf_counter() - due)

    def team() -> Team:
        # A team of its own for each: the players count.
        return Team(
            Paced("Left", "Right", hops_each - 1, attach=True), [Paced("Right", "Left", hops_each - 1, attach=True)]
        )

    async with AsyncExitStack() as stack:
        runtimes = [
            await stack.enter_async_context(
                Runtime(team(), store=LocalStore(), kernels=None, limits=LIMITS, telemetry=telemetry)
            )
            for _ in range(20)
        ]
        sessions = [await runtime.session() for runtime in runtimes]
        watching = asyncio.create_task(watch())
        start = time.perf_counter()
        rounds = await asyncio.gather(*(session.ask("go") for session in sessions))
        rate = sum(len(each.post_list) for each in rounds) / (time.perf_counter() - start)
        watching.cancel()
    return statistics.quantiles(late, n=100)[98], rate


async def collector_down() -> None:
    """Prints how late the loop is where nobody takes the spans."""
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:9"
    made = make_providers()
    untraced, _ = await lag(None)
    traced_s, rate = await lag(Telemetry(made, content=False))
    await asyncio.to_thread(made.close)
    print(
        f"At {rate:,.0f} hops a second with nobody to take the spans ({made.dropped_spans:,} were lost, and counted):"
    )
    print(f"  the loop is late by {traced_s * 1e3:.1f} ms at p99 (aim 10); untraced by {untraced * 1e3:.1f} ms")


async def main(repeats: int, peers: bool) -> None:
    cases: dict[str, Callable[[], Awaitable[float]]] = {
        "hop, nobody sees": plain,
        "hop, traced": traced,
        "its spans and metrics, by hand": by_hand,
    }
    if peers:
        from peers import autogen_publish

        cases["autogen-core, traced publish hop"] = autogen_publish
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, case in cases.items():
            gc.collect()
            times[name].append(await case())
    print(f"CPU time of the loop's thread, median of {repeats}:")
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, median in medians.items():
        print(f"  {name:40} {median * 1e6:8.2f} us")
    off, on, hand = list(medians.values())[:3]
    print(f"  being seen against by hand:              {(on - off) / hand:8.2f} x (aim 1.2)")
    print(f"  the whole traced hop against by hand:    {on / hand:8.2f} x")
    if peers:
        print(
            f"  the whole traced hop against autogen's:  "
            f"{on / medians['autogen-core, traced publish hop']:8.2f} x (aim 0.33)"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--no-peers", action="store_true", help="leave autogen-core out")
    given = parser.parse_args()
    asyncio.run(main(given.repeats, not given.no_peers))
    asyncio.run(collector_down())
