"""Where the chat's lines come from: a prompt with history on a terminal, else whatever stdin is."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import anyio

from roles_runtime.errors import WorkspaceError

ReadLine: TypeAlias = Callable[[], Awaitable[str | None]]
"""Gives the next line; an empty one where the user thought better of it; None at the end."""

MAX_LINE_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 16


def prompt_lines(history: Path, commands: Sequence[str]) -> ReadLine:
    """Lines of a terminal, with history and completion of the commands.

    Args:
        history: A file for what was typed; made for this user alone.
        commands: What Tab completes.

    Raises:
        WorkspaceError: the history can not be written.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory

    try:
        os.close(os.open(history, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise WorkspaceError(str(history), f"the history can not be kept: {error.strerror}.") from error
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        completer=WordCompleter(list(commands), sentence=True, ignore_case=True),
        complete_while_typing=False,
    )

    async def read() -> str | None:
        try:
            return await session.prompt_async("> ")
        except KeyboardInterrupt:
            return ""
        except EOFError:
            return None

    return read


def stream_lines(descriptor: int) -> ReadLine:
    """Lines of a pipe or a file, read without blocking the event loop; of a longer one only its pieces."""
    buffer = bytearray()
    ended = False

    async def read() -> str | None:
        nonlocal ended
        while b"\n" not in buffer and not ended and len(buffer) < MAX_LINE_BYTES:
            # A regular file can not be waited for, and need not be.
            with suppress(PermissionError):
                await anyio.wait_readable(descriptor)
            chunk = os.read(descriptor, _CHUNK_BYTES)
            ended = not chunk
            buffer.extend(chunk)
        if not buffer:
            return None
        end = buffer.find(b"\n")
        taken = min(end + 1 if end >= 0 else len(buffer), MAX_LINE_BYTES)
        line = bytes(buffer[:taken])
        del buffer[:taken]
        return line.decode("utf-8", "replace")

    return read


async def no_lines() -> None:
    """The end at once: there is no stdin."""


def is_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
