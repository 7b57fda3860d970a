from __future__ import annotations

import threading
from pathlib import Path

import anyio
import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import KernelError
from roles_runtime.kernels.channel import Line
from roles_runtime.kernels.zmtp import MAX_FRAMES, Messages, greeting, message

_MESSAGES = st.lists(st.lists(st.binary(max_size=600), min_size=1, max_size=5), max_size=4)


def _greeted(max_bytes: int = 1 << 20) -> Messages:
    messages = Messages(max_bytes)
    messages.feed(greeting("ROUTER"))
    assert messages.next() is None
    assert messages.greeted
    return messages


@given(sent=_MESSAGES, size=st.integers(1, 700))
def test_messages_are_found_however_their_bytes_are_cut(sent: list[list[bytes]], size: int) -> None:
    data = greeting("ROUTER") + b"".join(map(message, sent))
    messages, found = Messages(1 << 20), []
    for start in range(0, len(data), size):
        messages.feed(data[start : start + size])
        while (frames := messages.next()) is not None:
            found.append(frames)
    assert found == sent


def test_a_message_that_never_ends_is_refused() -> None:
    messages = _greeted()
    more = b"\x01\x01x"
    messages.feed(more * MAX_FRAMES)
    assert messages.next() is None
    messages.feed(more)
    with pytest.raises(KernelError, match="frames"):
        messages.next()


def test_a_message_is_refused_by_the_sum_of_its_frames_before_they_are_there() -> None:
    messages = _greeted(max_bytes=1000)
    messages.feed(b"\x03" + (600).to_bytes(8, "big") + bytes(600))
    assert messages.next() is None
    messages.feed(b"\x03" + (2**60).to_bytes(8, "big"))
    with pytest.raises(KernelError, match="MiB"):
        messages.next()


@given(st.binary(min_size=11, max_size=64).filter(lambda data: data[:1] != b"\xff"))
def test_another_protocol_is_refused(data: bytes) -> None:
    messages = Messages(1000)
    messages.feed(data)
    with pytest.raises(KernelError, match="ZMTP 3"):
        messages.next()


@pytest.mark.anyio
@pytest.mark.parametrize(("ours", "theirs"), [("DEALER", zmq.ROUTER), ("SUB", zmq.XPUB)])
async def test_it_speaks_with_the_library(tmp_path: Path, ours: str, theirs: int) -> None:
    address = tmp_path / "s"
    sent = [b"short", b"", b"long" * 100_000]

    def serve() -> None:
        with zmq.Context() as context, context.socket(theirs) as peer:
            peer.setsockopt(zmq.LINGER, 1000)
            peer.bind(f"ipc://{address}")
            assert peer.poll(10_000)
            came = peer.recv_multipart()
            if theirs == zmq.ROUTER:
                assert came[1:] == sent
                peer.send_multipart([came[0], *sent])
            else:
                assert came == [b"\x01"]
                peer.send_multipart(sent)

    library = threading.Thread(target=serve)
    library.start()
    try:
        while not address.exists():  # noqa: ASYNC110 - nothing tells when a socket appears
            await anyio.sleep(0.005)
        line = Line(await anyio.connect_unix(address))
        await line.greet(ours)
        if ours == "DEALER":
            await line.send(message(sent))
        with anyio.fail_after(10):
            assert await line.receive() == sent
        await line.aclose()
    finally:
        await anyio.to_thread.run_sync(library.join)
