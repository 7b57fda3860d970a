"""Signals: the first ends the round and lets everything be written down, the second ends the process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager

import anyio

from roles_runtime.posts.conversation import Round
from roles_runtime.runtime.session import Session

INTERRUPT = (signal.SIGINT,)
TERMINATE = (signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = "\x1b[?25h"


class SignalError(Exception):
    """A signal came before there was a round to end."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


class Patience:
    """Ends the round of a session at the first signal, and the process at the second.

    Attributes:
        number: The signal that came, or 0.
    """

    def __init__(self, session: Session) -> None:
        self.number = 0
        self._session = session
        self._scope = anyio.CancelScope()

    async def ask(self, asked: Callable[[], Coroutine[object, object, Round]], signals: Sequence[int]) -> Round:
        """Waits for a round, and listens to signals meanwhile.

        Raises:
            SignalError: a signal came before the round began.
        """
        with on_signals(self.take, signals), self._scope:
            return await asked()
        raise SignalError(self.number)

    def take(self, number: int) -> None:
        """A signal came."""
        if self.number:
            end_at_once(number)
        self.number = number
        if self._session.running:
            self._session.ground.children.start(self._session.cancel())
        else:
            self._scope.cancel()


@contextmanager
def on_signals(handler: Callable[[int], None], signals: Sequence[int]) -> Iterator[None]:
    """Calls the handler in the event loop when one of these signals comes; one that is ignored (nohup) stays so."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in signals}
    before = {number: previous for number, previous in before.items() if previous is not signal.SIG_IGN}
    for number in before:
        loop.add_signal_handler(number, handler, number)
    try:
        yield
    finally:
        for number, previous in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, previous)


def exit_status(number: int) -> int:
    """The exit status of a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + number


def end_at_once(number: int) -> None:
    """Ends the process without waiting for anything. What was acknowledged is in the store."""
    # Not sys.stderr: a live display stands before it, and would draw itself once more.
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        sys.__stderr__.write(_SHOW_CURSOR)
        sys.__stderr__.flush()
    os._exit(exit_status(number))
