"""How the runtime speaks with a kernel: Jupyter's messages as JSON over ipc sockets, each capped."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec

from roles_runtime.errors import KernelUnavailableError

if TYPE_CHECKING:
    import zmq.asyncio

MAX_FRAME_BYTES = 16 << 20
_HIGH_WATER = 32
_POLL_S = 0.005
SHELL, IOPUB, CONTROL = 1, 2, 4


class Message(msgspec.Struct, frozen=True):
    """What a kernel said. Whoever wrote it may be the cell: nothing in ``content`` has a certain type."""

    kind: str
    parent_id: str
    content: Mapping[str, object]

    def text(self, name: str) -> str:
        """A field of the content as text; empty where it is missing or something else."""
        value = self.content.get(name)
        return value if isinstance(value, str) else ""

    def mapping(self, name: str) -> Mapping[str, object]:
        """A field of the content as a mapping; empty where it is missing or something else."""
        value = self.content.get(name)
        return value if isinstance(value, dict) else {}


class Channel:
    """The sockets of one kernel. It connects once, before any cell runs, and never again.

    A cell can put another socket, or a link to one, in the place of its own; so nobody looks there a second time.
    """

    def __init__(self, context: zmq.asyncio.Context, address: Path, key: str) -> None:
        from jupyter_client.session import Session

        self._context, self._address = context, address
        self._session = Session(key=key.encode(), username="roles_runtime")
        self._sockets: dict[int, zmq.asyncio.Socket] = {}

    async def connect(self) -> None:
        """Connects as soon as the kernel listens on all its sockets."""
        import zmq

        for number, kind in ((SHELL, zmq.DEALER), (IOPUB, zmq.SUB), (CONTROL, zmq.DEALER)):
            path = f"{self._address}-{number}"
            while not _listens(path):  # noqa: ASYNC110 - nothing tells when a socket appears
                await anyio.sleep(_POLL_S)
            line = self._sockets[number] = self._context.socket(kind)
            for option, value in ((zmq.LINGER, 0), (zmq.RECONNECT_IVL, -1), (zmq.MAXMSGSIZE, MAX_FRAME_BYTES)):
                line.setsockopt(option, value)
            line.setsockopt(zmq.RCVHWM, _HIGH_WATER)
            if number == IOPUB:
                line.setsockopt(zmq.SUBSCRIBE, b"")
            line.connect(f"ipc://{path}")

    def compose(
        self, kind: str, content: Mapping[str, object], metadata: Mapping[str, str] | None = None
    ) -> tuple[str, list[bytes]]:
        """A request's id, which the answers name as their parent, and its frames."""
        message = self._session.msg(kind, dict(content), metadata=dict(metadata or {}))
        return message["header"]["msg_id"], self._session.serialize(message)

    async def send(self, number: int, frames: list[bytes]) -> None:
        """Sends a request."""
        await self._sockets[number].send_multipart(frames)

    async def receive(self, number: int) -> Message:
        """The next message on a socket; what is none is dropped."""
        while True:
            frames = await self._sockets[number].recv_multipart()
            message = self._read(frames)
            if message is not None:
                return message

    def _read(self, frames: list[bytes]) -> Message | None:
        try:
            _, parts = self._session.feed_identities(frames)
            found = self._session.deserialize(parts)
            raw = {"kind": found["msg_type"], "parent_id": found["parent_header"].get("msg_id", "")}
            return msgspec.convert({**raw, "content": found["content"]}, Message)
        except Exception:
            # A cell can write to these sockets; whatever its bytes make the parser raise, they are no message.
            return None

    def close(self) -> None:
        """Closes the sockets; closing again changes nothing."""
        for line in self._sockets.values():
            line.close(linger=0)
        self._sockets.clear()


def load_protocol() -> None:
    """Imports what speaks the protocol; it takes some tenths of a second and is done on first use.

    Raises:
        KernelUnavailableError: jupyter_client or ipykernel is not installed.
    """
    try:
        import jupyter_client.session  # noqa: F401
        import zmq.asyncio  # noqa: F401
    except ImportError as error:
        raise KernelUnavailableError(
            f"Running code needs roles-runtime[interpreter]; install it ({error.name or error} is missing)."
        ) from error


def new_context() -> zmq.asyncio.Context:
    """The context that all sockets of one runtime share; made in the event loop's thread, after `load_protocol`."""
    import zmq.asyncio

    return zmq.asyncio.Context()


def _listens(path: str) -> bool:
    """Whether a kernel listens there already: a socket that does not reconnect must not come too early."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as visitor:
        return visitor.connect_ex(path) == 0
