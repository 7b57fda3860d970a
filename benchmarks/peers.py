"""The peers that hops.py measures beside us. No deferred annotations: autogen-core reads them as it decorates."""

import time
from dataclasses import dataclass

from autogen_core import AgentId, MessageContext, RoutedAgent, SingleThreadedAgentRuntime, rpc


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
