"""A Model made of an adapter and a connection: what every provider's model is."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import msgspec
from anyio import to_thread

from roles_runtime.errors import ModelError
from roles_runtime.llm.adapter import Adapter
from roles_runtime.llm.assembly import assemble
from roles_runtime.llm.call_gathering import MAX_CALLS
from roles_runtime.llm.connection import Connection, HttpStatusError
from roles_runtime.llm.events import format_of
from roles_runtime.llm.faults import fault_of, without_key
from roles_runtime.llm.model import Chunk, Finish, ToolCallChunk
from roles_runtime.llm.options import ModelSettings
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.prices import context_window
from roles_runtime.llm.request import LLMRequest
from roles_runtime.llm.sse import TooLongError

MAX_ANSWER_BYTES = 128 << 20
"""An answer above it is refused, whatever it is made of: pings, empty pieces, text without an end."""


class _Measure:
    """How much of an answer there was so far."""

    def __init__(self) -> None:
        self._size_bytes = self._calls = 0

    def add_bytes(self, piece: bytes) -> None:
        self._size_bytes += len(piece)
        if self._size_bytes > MAX_ANSWER_BYTES:
            raise TooLongError(f"an answer of more than {MAX_ANSWER_BYTES:,} bytes")

    def add(self, chunk: Chunk) -> Chunk:
        self._calls += isinstance(chunk, ToolCallChunk)
        if self._calls > MAX_CALLS:
            raise TooLongError(f"more than {MAX_CALLS:,} tool calls")
        return chunk


class ProviderModel:
    """A provider's model. It keeps no state of sessions; what is open to the provider belongs to an event loop.

    It asks once: trying again, waiting and falling back are `reliable.ReliableModel`'s.
    """

    writes_code = True

    def __init__(self, adapter: Adapter, connection: Connection, settings: ModelSettings | None = None) -> None:
        """Takes its two halves; the connection is closed by `aclose`."""
        self.adapter, self.connection = adapter, connection
        self.settings = settings or ModelSettings()
        self._looked_up = adapter.capabilities.context_window is not None

    @property
    def name(self) -> str:
        """``provider:model``."""
        return self.adapter.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def body(self, request: LLMRequest) -> JsonObject:
        """What would be sent.

        Raises:
            MessageError: a message does not say what a model is told by it.
            WireError: the provider would refuse or misread it.
        """
        body = assemble(self.adapter, self.settings.applied(request))
        return {**body, **self.settings.params}

    async def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        """Asks once.

        Raises:
            ModelError: it could not answer; `transient` says whether the same call may well succeed later.
        """
        if not self._looked_up:
            await self._look_up_window()
        body = self.body(request)
        reader, measure = self.adapter.reader(), _Measure()
        finish: Finish | None = None
        try:
            with format_of(self.name):
                async with self.connection.open(body) as data:
                    async for piece in data:
                        measure.add_bytes(piece)
                        for chunk in reader.feed(piece):
                            if isinstance(chunk, Finish):
                                finish = chunk
                                break
                            yield measure.add(chunk)
                        if finish is not None:
                            break
                # It is said when the line is given back: whoever hears it asks no more, and closes what is still open.
                for chunk in reader.close() if finish is None else (finish,):
                    yield measure.add(chunk)
        except HttpStatusError as fault:
            said = self.adapter.read_error(fault.status, fault.body)
            error = fault_of(self.name, fault.status, fault.headers, fault.body, said)
            raise without_key(error, self.connection.key()) from None
        except ModelError as error:
            raise without_key(error, self.connection.key()) from None

    async def _look_up_window(self) -> None:
        """Learns how long a prompt may be, once, where nobody said."""
        self._looked_up = True
        # The tables take a moment to load.
        window = await to_thread.run_sync(context_window, self.name)
        if window is not None:
            self.adapter.capabilities = msgspec.structs.replace(self.adapter.capabilities, context_window=window)

    def ready(self) -> str:
        """What is missing before it can be asked: a key, an extra. Empty where nothing is; the network is not tried."""
        return self.connection.ready()

    async def aclose(self) -> None:
        """Closes what is open to the provider; the next call opens it anew."""
        await self.connection.aclose()
