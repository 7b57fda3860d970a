"""A Connection by plain HTTP: a POST of JSON, and bytes as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
from pydantic import SecretStr

from roles_runtime.errors import ModelError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.per_loop import PerLoop

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT_S = 10.0
"""How long a connection may take to be made."""

SILENCE_TIMEOUT_S = 600.0
"""How long a provider may say nothing at all; whoever asks has shorter bounds."""

MAX_CONNECTIONS = 1000


class HttpConnection:
    """Asks one URL. The client is made at the first call, for each event loop its own.

    Args:
        name: ``provider:model``, for errors.
        extra: The extra of this package that brings what it needs, for the error where that is missing.
        url: Where the body goes.
        headers: Asked for at each call, keys included; what it raises comes out of `open`.
        lacks: What is missing beside the package, as a key; empty where nothing is.
        silence_timeout_s: How long the provider may say nothing at all.

    Raises:
        ModelError: the address is none.
    """

    def __init__(
        self,
        name: str,
        extra: str,
        url: str,
        headers: Callable[[], Mapping[str, str]] = dict,
        lacks: Callable[[], str] = str,
        *,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
    ) -> None:
        check_address(name, url)
        self._name, self._extra, self._url = name, extra, url
        self._headers, self._lacks = headers, lacks
        self._silence_timeout_s = silence_timeout_s
        self._clients: PerLoop[httpx2.AsyncClient] = PerLoop(self._client)

    @asynccontextmanager
    async def open(self, body: JsonObject) -> AsyncIterator[AsyncIterator[bytes]]:
        """Sends a body; inside the block the answer's bytes come as they arrive. See `Connection.open`."""
        headers = {**self._headers(), "content-type": "application/json"}
        client = self._clients.get()
        # Importable, since there is a client.
        from roles_runtime.llm.http_errors import as_model_errors, streamed

        with as_model_errors(self._name):
            request = client.build_request("POST", self._url, content=msgspec.json.encode(body), headers=headers)
            response = await client.send(request, stream=True)
            async with streamed(response) as pieces:
                yield pieces

    async def aclose(self) -> None:
        """Closes what is open in this event loop; the next call opens it anew."""
        client = self._clients.take()
        if client is not None:
            await client.aclose()

    def key(self) -> SecretStr | None:
        """The key that its headers hold, if there is one."""
        with suppress(ModelError):
            for name, value in self._headers().items():
                if name.lower() == "authorization" or "key" in name.lower():
                    return SecretStr(value.removeprefix("Bearer "))
        return None

    def ready(self) -> str:
        """What is missing before anything can be asked; empty where nothing is."""
        return self._lacks() if find_spec("httpx2") is not None else missing_extra(self._extra)

    def _client(self) -> httpx2.AsyncClient:
        try:
            import httpx2
        except ImportError:
            raise ModelError(self._name, missing_extra(self._extra)) from None
        from roles_runtime.llm.http_lines import on_lines

        return on_lines(
            httpx2.AsyncClient(
                timeout=httpx2.Timeout(self._silence_timeout_s, connect=CONNECT_TIMEOUT_S),
                limits=httpx2.Limits(max_connections=MAX_CONNECTIONS),
                follow_redirects=False,
            )
        )


def host_of(base_url: str) -> str:
    """The host of an ``http(s)`` address; empty where it is no such address."""
    try:
        parts = urlsplit(base_url)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        return ""
    return (host or "") if parts.scheme in ("http", "https") else ""


def check_address(name: str, base_url: str) -> None:
    """Checks that a provider may be there.

    Raises:
        ModelError: the address is none.
    """
    if not host_of(base_url):
        raise ModelError(name, "its base_url is no address; write http://HOST/… or https://HOST/…")


def missing_extra(extra: str) -> str:
    """What is said where an extra is not installed."""
    return f'what it needs is not installed: pip install "roles-runtime[{extra}]"'
