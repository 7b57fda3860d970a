"""One client per event loop: what is open belongs to the loop that opened it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

Client = TypeVar("Client")


class PerLoop(Generic[Client]):
    """Makes a client when a loop first needs one, and keeps it as long as the loop.

    Args:
        make: Makes one; it may raise, and is then asked again the next time.
    """

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()

    def get(self) -> Client:
        """The running loop's client."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._make()
        return client

    def take(self) -> Client | None:
        """The running loop's client, for whoever closes it; the next `get` makes another one."""
        return self._clients.pop(asyncio.get_running_loop(), None)
