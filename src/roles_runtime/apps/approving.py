"""Approvals in the terminal: one question at a time, while the live view stands aside."""

from __future__ import annotations

import asyncio
import sys
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from roles_runtime.apps.lines import stream_lines
from roles_runtime.apps.shown import View
from roles_runtime.apps.text import one_line
from roles_runtime.errors import ApprovalNotFoundError
from roles_runtime.posts.event import ApprovalAsked, Event
from roles_runtime.runtime.session import Session

YES = frozenset({"y", "yes", "是"})

MAX_QUESTION_CHARS = 8_000

Take: TypeAlias = Callable[[Event], None]


def can_ask() -> bool:
    """Whether a person can be asked: somebody types, and sees what is written on stderr."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()


@asynccontextmanager
async def answering(session: Session, view: View) -> AsyncIterator[Take]:
    """Asks the person at the terminal what the roles ask, while the block runs; without a terminal all is no.

    Args:
        session: Whose roles.
        view: What stands aside meanwhile.

    Yields:
        What is to be told each event of the session.
    """
    if not can_ask():
        yield lambda event: None
        return
    one_at_a_time = asyncio.Lock()
    tasks: set[asyncio.Task[None]] = set()

    async def answer(asked: ApprovalAsked) -> None:
        async with one_at_a_time:
            with view.paused():
                yes = await _is_yes(asked)
        # The round may be over by now, and its question with it.
        with suppress(ApprovalNotFoundError):
            session.approve(asked.approval_id, yes)

    def take(event: Event) -> None:
        if isinstance(event, ApprovalAsked):
            tasks.add(session.ground.children.start(answer(event)))

    with session.attended():
        try:
            yield take
        finally:
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)


async def _is_yes(asked: ApprovalAsked) -> bool:
    """Whatever is no clear yes is no: the end of the input, a terminal that is gone."""
    try:
        # What was typed before the question could be read was no answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        question = f"{one_line(asked.role, 80)} asks: {one_line(asked.question, MAX_QUESTION_CHARS)} [y/N] "
        print(question, end="", file=sys.stderr, flush=True)
        line = await stream_lines(sys.stdin.fileno())()
    except (OSError, ValueError, termios.error):
        return False
    return (line or "").strip().casefold() in YES
