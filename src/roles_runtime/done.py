"""What a call answers that has nothing to wait for."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Final


class _Done:
    """An awaitable that is over."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


DONE: Final[Awaitable[None]] = _Done()
"""Stands for a coroutine that would never wait. Awaiting it is harmless; asking ``is DONE`` first is cheaper."""
