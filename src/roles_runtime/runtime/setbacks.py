"""Setbacks: a role that raised is started again, each time a little later, until it answers."""

from __future__ import annotations

import anyio

from roles_runtime.posts.post import RoleName

FIRST_S = 0.1
LONGEST_S = 5.0


class Setbacks:
    """How often each role of a session raised in a row, and when it may start again."""

    __slots__ = ("_roles",)

    def __init__(self) -> None:
        self._roles: dict[RoleName, tuple[int, float]] = {}

    def note(self, role: RoleName) -> None:
        """Says that a role raised: it may start again after 0.1 s, twice as late each further time, up to 5 s."""
        times = self._roles.get(role, (0, 0.0))[0] + 1
        delay = min(LONGEST_S, FIRST_S * 2 ** min(times - 1, 10))
        self._roles[role] = (times, anyio.current_time() + delay)

    def forget(self, role: RoleName) -> None:
        """Says that it answered."""
        self._roles.pop(role, None)

    async def pause(self, role: RoleName) -> None:
        """Waits until a role may start again, `LONGEST_S` at most."""
        times, start = self._roles.get(role, (0, 0.0))
        if times:
            await anyio.sleep(max(0.0, start - anyio.current_time()))
