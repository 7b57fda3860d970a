"""The way to Anthropic, by its SDK: auth and transport, and the answer's bytes as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

import msgspec
from pydantic import SecretStr

from roles_runtime.errors import ModelError, ModelUnavailableError
from roles_runtime.llm.connection import HttpStatusError
from roles_runtime.llm.http_connection import (
    CONNECT_TIMEOUT_S,
    MAX_CONNECTIONS,
    SILENCE_TIMEOUT_S,
    check_address,
    missing_extra,
)
from roles_runtime.llm.keys import find_key, in_header, missing_key, needed_key
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.per_loop import PerLoop

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

BASE_URL = "https://api.anthropic.com"
KEY_VARIABLES = ("ANTHROPIC_API_KEY",)


class AnthropicConnection:
    """Asks Anthropic, or a server that speaks as it does.

    The client is made at the first call, for each event loop its own.

    Args:
        name: ``provider:model``, for errors.
        api_key: The key; looked for in the environment at the first call where it is left out.
        base_url: Where the API is, without ``/v1``.
        silence_timeout_s: How long the provider may say nothing at all.

    Raises:
        ModelError: the address is none.
    """

    def __init__(
        self,
        name: str,
        api_key: SecretStr | None = None,
        base_url: str | None = None,
        *,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
    ) -> None:
        check_address(name, base_url or BASE_URL)
        self._name, self._api_key, self._base_url = name, api_key, base_url or BASE_URL
        self._silence_timeout_s = silence_timeout_s
        self._clients: PerLoop[AsyncAnthropic] = PerLoop(self._client)

    @asynccontextmanager
    async def open(self, body: JsonObject) -> AsyncIterator[AsyncIterator[bytes]]:
        """Sends a body; inside the block the answer's bytes come as they arrive. See `Connection.open`."""
        client = self._clients.get()
        # Importable, since there is a client.
        from roles_runtime.llm.http_errors import as_model_errors, streamed

        with as_model_errors(self._name):
            response = await self._post(client, msgspec.json.encode(body))
            async with streamed(response) as pieces:
                yield pieces

    async def aclose(self) -> None:
        """Closes what is open in this event loop; the next call opens it anew."""
        client = self._clients.take()
        if client is not None:
            await client.close()

    def key(self) -> SecretStr | None:
        """The key, if there is one. See `Connection.key`."""
        return self._api_key or find_key(*KEY_VARIABLES)

    def ready(self) -> str:
        """What is missing before anything can be asked; empty where nothing is."""
        if find_spec("anthropic") is None:
            return missing_extra("anthropic")
        return "" if self._api_key or find_key(*KEY_VARIABLES) else missing_key(*KEY_VARIABLES)

    async def _post(self, client: AsyncAnthropic, content: bytes) -> httpx2.Response:
        """The answer, its body unread.

        Cast to the transport's own response, the SDK hands it over as it is: no typed events are made of it.
        """
        import anthropic
        import httpx2

        try:
            response = await client.post(
                "/v1/messages",
                cast_to=httpx2.Response,
                content=content,
                options={"headers": {"content-type": "application/json"}},
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
        except anthropic.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.HTTPError | httpx2.InvalidURL | HttpStatusError):
                raise error.__cause__ from None
            raise ModelUnavailableError(self._name, f"it can not be reached: {error}") from error
        return cast(httpx2.Response, response)

    def _client(self) -> AsyncAnthropic:
        try:
            import anthropic
            import httpx2
        except ImportError:
            raise ModelError(self._name, missing_extra("anthropic")) from None

        from roles_runtime.llm.http_errors import answered, as_model_errors
        from roles_runtime.llm.http_lines import on_lines

        timeout = httpx2.Timeout(self._silence_timeout_s, connect=CONNECT_TIMEOUT_S)
        key = in_header(self._name, needed_key(self._name, self._api_key, *KEY_VARIABLES))
        # It looks at the address at once.
        with as_model_errors(self._name):
            return anthropic.AsyncAnthropic(
                api_key=key,
                base_url=self._base_url,
                max_retries=0,
                timeout=timeout,
                http_client=on_lines(
                    anthropic.DefaultAsyncHttpxClient(
                        timeout=timeout,
                        limits=httpx2.Limits(max_connections=MAX_CONNECTIONS),
                        follow_redirects=False,
                        # An error is refused before the SDK sees it, which would read its whole body, however long.
                        event_hooks={"response": [answered]},
                    )
                ),
                open_telemetry=False,
            )
