"""The Transport contract: what carries envelopes to mailboxes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from roles_runtime.mail.envelope import Envelope
from roles_runtime.posts.post import RoleName

Address = tuple[str, RoleName]
"""(session id, role name)."""


class Mailbox(Protocol):
    """Where envelopes for one address land, in the order in which they were sent. Its owner alone takes."""

    def take(self) -> Envelope | None:
        """The envelope that came first, or None. It counts as under way until `ack`."""
        ...

    def ack(self, envelope: Envelope) -> None:
        """Says that the envelope was answered: it will not be delivered again."""
        ...

    def waiting(self) -> tuple[Envelope, ...]:
        """What has landed and was not taken, in order."""
        ...

    def close(self) -> tuple[Envelope, ...]:
        """Closes the address and gives back what was not taken; closing again gives nothing."""
        ...


@runtime_checkable
class Transport(Protocol):
    """Carries envelopes. Delivery is at least once and, for one sender and address, in order."""

    def open(self, address: Address, wake: Callable[[], None], *, capacity: int) -> Mailbox:
        """Opens a mailbox; ``wake`` is called, in the loop's thread, whenever something lands.

        Args:
            address: Whose it is.
            wake: Must neither block nor raise.
            capacity: How many envelopes may wait in it.

        Raises:
            TransportError: the address is open already.
        """
        ...

    def send(self, envelope: Envelope) -> Awaitable[None]:
        """Hands an envelope over; to be awaited until the transport has it.

        A transport that never waits gives `DONE`, and gives it always: it says that the envelope has landed, once.

        Raises:
            TransportError: nobody opened that address, or its mailbox is full.
        """
        ...

    async def aclose(self) -> None:
        """Closes all mailboxes."""
        ...
