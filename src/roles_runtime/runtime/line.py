"""The line of questions before a session: one is answered at a time, the others wait in order."""

from __future__ import annotations

import asyncio
from collections import deque

from roles_runtime.errors import SessionBusyError, SessionClosedError


class Line:
    """First come, first served, and bounded."""

    __slots__ = ("_busy", "_session_id", "_waiting")

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._busy = False
        self._waiting: deque[asyncio.Future[None]] | None = None

    @property
    def busy(self) -> bool:
        """Whether somebody is in, or waits."""
        return self._busy

    async def enter(self, longest: int) -> None:
        """Waits until it is one's turn; `leave` lets the next one in.

        Args:
            longest: How many may wait.

        Raises:
            SessionBusyError: that many wait already.
            SessionClosedError: the runtime was closed meanwhile.
        """
        if not self._busy:
            self._busy = True
            return
        line = self._waiting
        if line is None:
            line = self._waiting = deque()
        if len(line) >= longest:
            raise SessionBusyError(
                f"{len(line)} questions wait in session {self._session_id} already; ask again when some are answered."
            )
        turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave()
            elif turn in line:
                line.remove(turn)
            raise

    def leave(self) -> bool:
        """Lets the next one in; returns whether nobody is left."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return False
        self._waiting = None
        self._busy = False
        return True

    def refuse(self) -> None:
        """Tells all who wait that the runtime was closed."""
        for turn in self._waiting or ():
            if not turn.done():
                turn.set_exception(SessionClosedError(f"The runtime of session {self._session_id} was closed."))
        self._waiting = None
