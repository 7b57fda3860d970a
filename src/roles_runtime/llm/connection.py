"""The Connection contract: a body goes out, bytes come in. Auth and transport stand here, no format does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from pydantic import SecretStr

from roles_runtime.llm.parts import JsonObject

MAX_ERROR_BYTES = 64 << 10
"""How much of an answer that is an error is read."""


class HttpStatusError(Exception):
    """The provider answered with an error. Between a Connection and `faults` alone: a user sees a ModelError.

    Attributes:
        status: The HTTP status.
        headers: Its headers; names in lower case.
        body: The beginning of its body, at most `MAX_ERROR_BYTES`.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body
        super().__init__(f"HTTP {status}")


class Connection(Protocol):
    """A way to one provider, with the key in its pocket. One object serves all calls side by side.

    It never retries, follows no redirect to another host, and says nothing of the key in any error.
    """

    def open(self, body: JsonObject) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Sends a body; inside the block the answer's bytes come as they arrive, decompressed.

        Raises:
            HttpStatusError: the provider answered with an error, or with what is no stream (a status below 300 whose
                content type is HTML).
            ModelUnavailableError: it could not be reached, or cut the line.
            ModelTimeoutError: it took longer than the transport's bounds.
            ModelKeyError: there is no key.
        """
        ...

    def key(self) -> SecretStr | None:
        """The key, if it has one now: it is taken out of whatever the provider says."""
        ...

    def ready(self) -> str:
        """What is missing before anything can be asked: a key, an extra. Empty where nothing is."""
        ...

    async def aclose(self) -> None:
        """Closes what is open in this event loop; the next call opens it anew."""
        ...
