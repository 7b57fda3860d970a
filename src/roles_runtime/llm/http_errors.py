"""What goes wrong on the way to a provider, as errors of ours; over httpx2, which all SDKs stand on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import anyio
import httpx2

from roles_runtime.errors import ModelRefusedError, ModelTimeoutError, ModelUnavailableError
from roles_runtime.llm.connection import MAX_ERROR_BYTES, HttpStatusError

DRAIN_S = 0.25
"""How long the end behind a stream's last event is waited for, so that the line serves the next call too."""


@contextmanager
def as_model_errors(name: str) -> Iterator[None]:
    """Errors of the transport become ModelErrors; `HttpStatusError` and all that is not its own pass.

    Args:
        name: ``provider:model``, for the error.

    Raises:
        ModelTimeoutError: it took longer than the transport's bounds.
        ModelUnavailableError: the provider could not be reached, cut the line, or does not speak HTTP.
        ModelRefusedError: its address is none.
    """
    try:
        yield
    except httpx2.TimeoutException as error:
        raise ModelTimeoutError(name, f"it did not answer in time ({type(error).__name__}).") from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
        raise ModelRefusedError(name, f"its address is none: {_words(error)} Check the base_url.") from error
    except httpx2.ConnectError as error:
        raise ModelUnavailableError(name, f"it can not be reached: {_words(error)}. Check the base_url.") from error
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise ModelUnavailableError(name, f"the line was cut: {_words(error)}.") from error


async def answered(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The bytes of an answer that is a stream, as they arrive, decompressed.

    Raises:
        HttpStatusError: it is an error, a redirect, or a page for a browser.
    """
    kind = response.headers.get("content-type", "").lower()
    if response.is_success and "html" not in kind:
        return response.aiter_bytes()
    raise HttpStatusError(response.status_code, headers_of(response), await _beginning(response))


@asynccontextmanager
async def streamed(response: httpx2.Response) -> AsyncIterator[AsyncIterator[bytes]]:
    """The bytes of an answer, inside the block; the answer is closed behind it.

    Raises:
        HttpStatusError: see `answered`.
    """
    try:
        pieces = await answered(response)
        yield pieces
        # Whatever happens behind the last event, the answer was whole.
        with anyio.move_on_after(DRAIN_S), suppress(httpx2.HTTPError, httpx2.StreamError):
            async for _ in pieces:
                pass
    finally:
        await response.aclose()


def headers_of(response: httpx2.Response) -> dict[str, str]:
    """Its headers, names in lower case."""
    return {name.lower(): value for name, value in response.headers.items()}


async def _beginning(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) >= MAX_ERROR_BYTES:
            break
    return bytes(body[:MAX_ERROR_BYTES])


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
