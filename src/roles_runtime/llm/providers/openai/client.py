"""The way to OpenAI and to servers with its wires, by its SDK: auth, transport, and the answer's bytes as they come."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec
from anyio import to_thread
from pydantic import SecretStr

from roles_runtime.errors import ModelError, ModelUnavailableError
from roles_runtime.llm.http_connection import (
    CONNECT_TIMEOUT_S,
    MAX_CONNECTIONS,
    SILENCE_TIMEOUT_S,
    check_address,
    host_of,
    missing_extra,
)
from roles_runtime.llm.keys import find_key, in_header, missing_key, needed_key
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.per_loop import PerLoop

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

EXTRA = "openai"
NO_KEY = "none"
"""What a server is sent that wants no key: the SDK wants to send something."""


class OpenAIConnection:
    """Asks one address. The client is made at the first call, for each event loop its own.

    Args:
        name: ``provider:model``, for errors.
        path: Of the wire, below `base_url`.
        base_url: Where the API is, with its version.
        api_key: The key; looked for in the environment at the first call where it is left out.
        key_variables: Where it is looked for, in this order.
        needs_key: Whether the server answers nobody without a key; one on this machine never does.
        connect_timeout_s: How long a connection may take to be made.
        silence_timeout_s: How long the server may say nothing at all.

    Raises:
        ModelError: the address is none.
    """

    def __init__(
        self,
        name: str,
        path: str,
        base_url: str,
        api_key: SecretStr | None = None,
        *,
        key_variables: tuple[str, ...] = (),
        needs_key: bool = True,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
    ) -> None:
        check_address(name, base_url)
        self._name, self._path, self._base_url = name, path, base_url
        self._api_key, self._key_variables = api_key, key_variables
        self._needs_key = needs_key and not is_loopback(base_url)
        self._connect_timeout_s, self._silence_timeout_s = connect_timeout_s, silence_timeout_s
        self._clients: PerLoop[AsyncOpenAI] = PerLoop(self._client)

    @asynccontextmanager
    async def open(self, body: JsonObject) -> AsyncIterator[AsyncIterator[bytes]]:
        """Sends a body; inside the block the answer's bytes come as they arrive. See `Connection.open`."""
        if EXTRA not in sys.modules:
            # It takes the SDK a second to be imported, in which the loop goes on.
            await to_thread.run_sync(find_sdk, self._name)
        client = self._clients.get()
        # Importable, since there is a client.
        from roles_runtime.llm.http_errors import as_model_errors, streamed

        with as_model_errors(self._name):
            async with streamed(await self._post(client, msgspec.json.encode(body))) as pieces:
                yield pieces

    async def aclose(self) -> None:
        """Closes what is open in this event loop; the next call opens it anew."""
        client = self._clients.take()
        if client is not None:
            await client.close()

    def key(self) -> SecretStr | None:
        """The key, if there is one. See `Connection.key`."""
        return self._api_key or find_key(*self._key_variables)

    def ready(self) -> str:
        """What is missing before anything can be asked; empty where nothing is."""
        if find_spec(EXTRA) is None:
            return missing_extra(EXTRA)
        if not self._needs_key or self._api_key or find_key(*self._key_variables):
            return ""
        return missing_key(*self._key_variables)

    def _key(self) -> str:
        if self._needs_key:
            key: SecretStr | None = needed_key(self._name, self._api_key, *self._key_variables)
        else:
            key = self._api_key or find_key(*self._key_variables)
        return NO_KEY if key is None else in_header(self._name, key)

    async def _post(self, client: AsyncOpenAI, content: bytes) -> httpx2.Response:
        """The answer, its body unread.

        Cast to the transport's own response, the SDK hands it over as it is: no typed events are made of it.
        """
        import httpx2
        import openai

        headers: dict[str, str | openai.Omit] = {"content-type": "application/json"}
        if not is_openai(self._base_url):
            # The SDK finds them in the environment; they are nobody else's affair.
            headers |= {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
        try:
            response: object = await client.post(
                self._path,
                cast_to=httpx2.Response,
                content=content,
                options={"headers": headers},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.HTTPError | httpx2.InvalidURL):
                raise error.__cause__ from None
            raise ModelUnavailableError(self._name, f"it can not be reached: {error}") from None
        assert isinstance(response, httpx2.Response)
        return response

    def _client(self) -> AsyncOpenAI:
        find_sdk(self._name)
        import httpx2
        import openai

        from roles_runtime.llm.http_errors import answered
        from roles_runtime.llm.http_lines import on_lines

        timeout = httpx2.Timeout(self._silence_timeout_s, connect=self._connect_timeout_s)
        return openai.AsyncOpenAI(
            api_key=self._key(),
            base_url=self._base_url,
            max_retries=0,
            timeout=timeout,
            http_client=on_lines(
                openai.DefaultAsyncHttpxClient(
                    timeout=timeout,
                    limits=httpx2.Limits(max_connections=MAX_CONNECTIONS),
                    follow_redirects=False,
                    # An error is refused before the SDK sees it, which would read its whole body, however long.
                    event_hooks={"response": [answered]},
                )
            ),
        )


def find_sdk(name: str) -> None:
    """Imports it.

    Raises:
        ModelError: it is not installed.
    """
    try:
        import httpx2  # noqa: F401
        import openai  # noqa: F401
    except ImportError:
        raise ModelError(name, missing_extra(EXTRA)) from None


def is_loopback(base_url: str) -> bool:
    """Whether that address is on this machine."""
    host = host_of(base_url)
    return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")


def is_openai(base_url: str) -> bool:
    """Whether that address is OpenAI's own."""
    host = host_of(base_url)
    return host == "openai.com" or host.endswith(".openai.com")
