"""A transport within the process: an envelope lands in its mailbox before `send` returns."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from roles_runtime.done import DONE
from roles_runtime.errors import TransportError
from roles_runtime.mail.envelope import Envelope
from roles_runtime.mail.transport import Address


class LocalMailbox:
    """A bounded line of envelopes. What is taken is not delivered again, so that `ack` has nothing to do."""

    __slots__ = ("_boxes", "address", "capacity", "line", "wake")

    def __init__(
        self, address: Address, wake: Callable[[], None], capacity: int, boxes: dict[Address, LocalMailbox]
    ) -> None:
        self.address, self.wake, self.capacity, self._boxes = address, wake, capacity, boxes
        self.line: deque[Envelope] = deque()

    def take(self) -> Envelope | None:
        """The envelope that came first, or None."""
        return self.line.popleft() if self.line else None

    def ack(self, envelope: Envelope) -> None:
        """Changes nothing."""

    def waiting(self) -> tuple[Envelope, ...]:
        """What has landed and was not taken, in order."""
        return tuple(self.line)

    def close(self) -> tuple[Envelope, ...]:
        """Closes the address and gives back what was not taken; closing again gives nothing."""
        if self._boxes.get(self.address) is self:
            del self._boxes[self.address]
        left = tuple(self.line)
        self.line.clear()
        # Whoever is woken has the mailbox: without this only the collector could take them apart.
        self.wake = _wake_nobody
        return left


class LocalTransport:
    """Carries envelopes between the mailboxes of one object; all calls come from one event loop's thread."""

    def __init__(self) -> None:
        self._boxes: dict[Address, LocalMailbox] = {}
        self._closed = False

    def open(self, address: Address, wake: Callable[[], None], *, capacity: int) -> LocalMailbox:
        """Opens a mailbox. See `Transport.open`."""
        session_id, role = address
        if self._closed:
            raise TransportError(f"The transport is closed; the mailbox of {role} in {session_id} was not opened.")
        if capacity < 1:
            raise TransportError(f"The mailbox of {role} needs room for at least 1 envelope, not {capacity}.")
        if address in self._boxes:
            raise TransportError(f"The mailbox of {role} in session {session_id} is open already; close it first.")
        mailbox = self._boxes[address] = LocalMailbox(address, wake, capacity, self._boxes)
        return mailbox

    def send(self, envelope: Envelope) -> Awaitable[None]:
        """Lands the envelope, once, and wakes its owner; never waits. See `Transport.send`."""
        try:
            mailbox = self._boxes[envelope.session_id, envelope.recipient]
        except KeyError:
            raise _nobody(envelope) from None
        line, wake = mailbox.line, mailbox.wake
        if len(line) >= mailbox.capacity:
            raise _full(envelope, mailbox.capacity)
        line.append(envelope)
        wake()
        return DONE

    async def aclose(self) -> None:
        """Closes all mailboxes; none can be opened afterwards."""
        self._closed = True
        for mailbox in tuple(self._boxes.values()):
            mailbox.close()


def _wake_nobody() -> None:
    """Nothing lands any more."""


def _nobody(envelope: Envelope) -> TransportError:
    return TransportError(
        f"Nobody opened the mailbox of {envelope.recipient} in session {envelope.session_id}; "
        f"the envelope {envelope.key} was not sent."
    )


def _full(envelope: Envelope, capacity: int) -> TransportError:
    return TransportError(
        f"The mailbox of {envelope.recipient} in session {envelope.session_id} is full ({capacity} envelopes); "
        f"the envelope {envelope.key} was not sent."
    )
