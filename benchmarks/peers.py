"""The peers that hops.py measures beside us. No deferred annotations: autogen-core reads them as it decorates."""

import time
from dataclasses import dataclass

from autogen_core import (
    AgentId,
    DefaultSubscription,
    DefaultTopicId,
    MessageContext,
    RoutedAgent,
    SingleThreadedAgentRuntime,
    event,
    rpc,
)


@dataclass
class Ball:
    n: int


class Echo(RoutedAgent):
    @rpc
    async def on_ball(self, message: Ball, ctx: MessageContext) -> Ball:
        return message


async def autogen_rpc(calls: int = 500) -> float:
    """CPU seconds of one RPC."""
    runtime = SingleThreadedAgentRuntime()
    await Echo.register(runtime, "echo", lambda: Echo("echo"))
    runtime.start()
    start = time.process_time()
    for n in range(calls):
        await runtime.send_message(Ball(n), AgentId("echo", "1"))
    spent = (time.process_time() - start) / calls
    await runtime.stop()
    return spent


class Hearer(RoutedAgent):
    """Counts what it hears."""

    def __init__(self, heard: list[int]) -> None:
        super().__init__("hearer")
        self.heard = heard

    @event
    async def on_ball(self, message: Ball, ctx: MessageContext) -> None:
        self.heard.append(message.n)


async def autogen_publish(hops: int = 500) -> float:
    """CPU seconds of the loop's thread for one published message that is handled, traced by a batch processor."""
    from nowhere import tracers

    runtime = SingleThreadedAgentRuntime(tracer_provider=tracers())
    heard: list[int] = []
    await Hearer.register(runtime, "hearer", lambda: Hearer(heard))
    await runtime.add_subscription(DefaultSubscription(agent_type="hearer"))
    runtime.start()
    start = time.thread_time()
    for n in range(hops):
        await runtime.publish_message(Ball(n), DefaultTopicId())
    await runtime.stop_when_idle()
    spent = (time.thread_time() - start) / hops
    assert len(heard) == hops
    return spent
