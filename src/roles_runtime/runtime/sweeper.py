"""The Sweeper: one task a runtime that ends what takes too long, and puts idle sessions to sleep.

A timeout of its own a turn would cost more than the turn (an anyio scope is about three event-loop hops); one task
that looks at all of them now and then costs nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import anyio

from roles_runtime.posts.conversation import RoundState
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.actor import Running
from roles_runtime.runtime.children import Children
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.logs import get_logger

log = get_logger(__name__)

LONGEST_NAP_S = 1.0


class Sweeper:
    """Looks at all active rounds several times a limit, once a second at least."""

    def __init__(
        self,
        limits: Limits,
        children: Children,
        active: Callable[[], Iterable[ActiveRound]],
        rest_idle: Callable[[float], Awaitable[None]],
    ) -> None:
        """Watches what it is given.

        Args:
            limits: What is too long.
            children: Starts what ends a round.
            active: All rounds that run.
            rest_idle: Puts sessions to sleep that are idle at that time, by the loop's clock.
        """
        self._limits, self._children, self._active, self._rest_idle = limits, children, active, rest_idle
        shortest = min(limits.turn_timeout_s, limits.round_timeout_s, limits.session_idle_s)
        self._nap_s = min(LONGEST_NAP_S, shortest / 8)
        self._seen: dict[tuple[int, str], tuple[Running, float]] = {}

    async def sweep_forever(self) -> None:
        """Sweeps until cancelled."""
        while True:
            await anyio.sleep(self._nap_s)
            try:
                await self.sweep()
            except Exception as error:
                log.exception("a sweep failed; the next one follows", exc_info=error)

    async def sweep(self) -> None:
        """Looks at everything once."""
        now = anyio.current_time()
        still: dict[tuple[int, str], tuple[Running, float]] = {}
        for active in tuple(self._active()):
            problem = self._overdue(active, now, still)
            if problem and active.is_open:
                self._children.start(active.close(RoundState.failed, "timeout", problem))
        self._seen = still
        await self._rest_idle(now)

    def _overdue(self, active: ActiveRound, now: float, still: dict[tuple[int, str], tuple[Running, float]]) -> str:
        limits = self._limits
        if _clock(active, now) - active.started_s > limits.round_timeout_s:
            return f"The round took longer than {limits.round_timeout_s:g} s (round_timeout_s)."
        for name, actor in active.actors.items():
            turn = actor.scope
            if turn is None:
                continue
            known, clock = self._seen.get((id(active), name)), _clock(turn, now)
            since = known[1] if known is not None and known[0] is turn else clock
            still[id(active), name] = (turn, since)
            if clock - since > limits.turn_timeout_s:
                return f"The turn of {name} took longer than {limits.turn_timeout_s:g} s (turn_timeout_s)."
        return ""


def _clock(running: ActiveRound | Running, now_s: float) -> float:
    """The time, by a clock that stands still while the user is asked."""
    return now_s if running.pauses is None else now_s - running.pauses.until(now_s)
