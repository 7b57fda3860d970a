"""What every transport promises. A maker joins by one row of `MAKERS`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import TransportError
from roles_runtime.mail.envelope import Envelope
from roles_runtime.mail.local import LocalTransport
from roles_runtime.mail.transport import Transport
from roles_runtime.posts.post import Post

pytestmark = pytest.mark.anyio

MAKERS = [pytest.param(LocalTransport, id="local")]
PLANNER = ("s-1", "Planner")


@pytest.fixture(params=MAKERS)
def transport(request: pytest.FixtureRequest) -> Transport:
    made: Transport = request.param()
    return made


def letter(key: str, session_id: str = "s-1", recipient: str = "Planner") -> Envelope:
    post = Post.create(key, "User", recipient)
    return Envelope(session_id, "round-1", recipient, (post,), key, position=1)


def nothing() -> None:
    """A wake that nobody listens to."""


async def test_a_maker_fulfils_the_contract(transport: Transport) -> None:
    assert isinstance(transport, Transport)


async def test_envelopes_are_taken_in_the_order_in_which_they_were_sent(transport: Transport) -> None:
    woken: list[str] = []
    mailbox = transport.open(PLANNER, lambda: woken.append("woken"), capacity=8)
    first, second = letter("1"), letter("2")

    await transport.send(first)
    await transport.send(second)

    assert len(woken) == 2
    assert mailbox.waiting() == (first, second)
    assert mailbox.take() is first
    mailbox.ack(first)
    assert mailbox.waiting() == (second,)
    assert mailbox.take() is second
    assert mailbox.take() is None


async def test_the_owner_finds_the_envelope_when_it_is_woken(transport: Transport) -> None:
    found: list[Envelope | None] = []
    take: list[Callable[[], Envelope | None]] = []
    mailbox = transport.open(PLANNER, lambda: found.append(take[0]()), capacity=1)
    take.append(mailbox.take)

    sent = letter("1")
    await transport.send(sent)

    assert found == [sent]


async def test_each_address_has_its_own_mailbox(transport: Transport) -> None:
    planner = transport.open(PLANNER, nothing, capacity=8)
    other = transport.open(("s-2", "Planner"), nothing, capacity=8)

    await transport.send(letter("1", session_id="s-2"))

    assert planner.take() is None
    assert other.take() is not None


@pytest.mark.parametrize("recipient", ["planner", "User", ""])
async def test_an_address_that_nobody_opened_refuses(transport: Transport, recipient: str) -> None:
    transport.open(PLANNER, nothing, capacity=8)

    with pytest.raises(TransportError, match="Nobody opened"):
        await transport.send(letter("1", recipient=recipient))


async def test_a_full_mailbox_refuses_and_keeps_what_it_has(transport: Transport) -> None:
    mailbox = transport.open(PLANNER, nothing, capacity=2)
    await transport.send(letter("1"))
    await transport.send(letter("2"))

    with pytest.raises(TransportError, match=r"full \(2 envelopes\)"):
        await transport.send(letter("3"))

    assert [each.key for each in mailbox.waiting()] == ["1", "2"]
    mailbox.take()
    await transport.send(letter("3"))
    assert [each.key for each in mailbox.waiting()] == ["2", "3"]


async def test_an_address_is_opened_once_at_a_time(transport: Transport) -> None:
    mailbox = transport.open(PLANNER, nothing, capacity=8)
    with pytest.raises(TransportError, match="open already"):
        transport.open(PLANNER, nothing, capacity=8)

    mailbox.close()

    assert transport.open(PLANNER, nothing, capacity=8).take() is None


async def test_a_mailbox_without_room_can_not_be_opened(transport: Transport) -> None:
    with pytest.raises(TransportError, match="at least 1"):
        transport.open(PLANNER, nothing, capacity=0)


async def test_closing_gives_back_what_was_not_taken_and_once_only(transport: Transport) -> None:
    mailbox = transport.open(PLANNER, nothing, capacity=8)
    for key in "123":
        await transport.send(letter(key))
    mailbox.take()

    assert [each.key for each in mailbox.close()] == ["2", "3"]
    assert mailbox.close() == ()
    assert mailbox.take() is None
    with pytest.raises(TransportError, match="Nobody opened"):
        await transport.send(letter("4"))


async def test_closing_an_old_mailbox_leaves_its_successor_open(transport: Transport) -> None:
    old = transport.open(PLANNER, nothing, capacity=8)
    old.close()
    new = transport.open(PLANNER, nothing, capacity=8)

    old.close()
    await transport.send(letter("1"))

    assert new.take() is not None


async def test_a_closed_transport_carries_nothing(transport: Transport) -> None:
    mailbox = transport.open(PLANNER, nothing, capacity=8)
    await transport.send(letter("1"))

    await transport.aclose()
    await transport.aclose()

    assert mailbox.take() is None
    with pytest.raises(TransportError):
        await transport.send(letter("2"))
    with pytest.raises(TransportError, match="closed"):
        transport.open(PLANNER, nothing, capacity=8)


@given(steps=st.lists(st.sampled_from(["send", "take"]), max_size=40), capacity=st.integers(1, 5))
@pytest.mark.parametrize("make", MAKERS)
async def test_a_mailbox_is_a_bounded_line(make: Callable[[], Transport], steps: list[str], capacity: int) -> None:
    transport, line = make(), list[Envelope]()
    mailbox = transport.open(PLANNER, nothing, capacity=capacity)
    for number, step in enumerate(steps):
        if step == "take":
            assert mailbox.take() is (line.pop(0) if line else None)
        elif len(line) < capacity:
            line.append(letter(str(number)))
            await transport.send(line[-1])
        else:
            with pytest.raises(TransportError, match="full"):
                await transport.send(letter(str(number)))
        assert mailbox.waiting() == tuple(line)
