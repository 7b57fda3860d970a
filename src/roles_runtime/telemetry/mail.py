"""TracedTransport: each envelope that is sent is a span, and carries that span's place with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind

from roles_runtime.done import DONE
from roles_runtime.mail.envelope import Envelope
from roles_runtime.mail.transport import Address, Mailbox, Transport
from roles_runtime.posts.post import USER
from roles_runtime.telemetry import names
from roles_runtime.telemetry.content import size_bytes
from roles_runtime.telemetry.tracing import Sent, Tracing, traceparent_of


class TracedTransport:
    """A transport whose sends are seen."""

    def __init__(self, worn: Transport, tracing: Tracing) -> None:
        self._worn, self._tracing = worn, tracing

    def open(self, address: Address, wake: Callable[[], None], *, capacity: int) -> Mailbox:
        """Opens a mailbox. See `Transport.open`."""
        return self._worn.open(address, wake, capacity=capacity)

    def send(self, envelope: Envelope) -> Awaitable[None]:
        """Hands an envelope over. See `Transport.send`."""
        tracing, recipient = self._tracing, envelope.recipient
        seen = tracing.rounds.get(envelope.round_id)
        is_inside = trace.get_current_span().get_span_context().is_valid
        span = tracing.tracer.start_span(
            f"send {recipient}",
            None if is_inside or seen is None else seen.context,
            SpanKind.PRODUCER,
            hop_attributes(envelope, "send"),
        )
        place = span.get_span_context()
        if seen is not None:
            seen.sent[envelope.key] = Sent(place, recipient, perf_counter())
        tracing.meters.landed(recipient)
        if envelope.posts[-1].send_from == USER:
            tracing.meters.posted("user")
        try:
            landed = self._worn.send(
                Envelope(
                    envelope.session_id,
                    envelope.round_id,
                    recipient,
                    envelope.posts,
                    envelope.key,
                    envelope.position,
                    envelope.branch,
                    traceparent_of(place),
                )
            )
        except BaseException as error:
            tracing.fail(span, error)
            span.end()
            raise
        if landed is DONE:
            span.end()
            return DONE
        return self._sent(span, landed)

    async def _sent(self, span: Span, landed: Awaitable[None]) -> None:
        try:
            await landed
        except Exception as error:
            self._tracing.fail(span, error)
            raise
        finally:
            span.end()

    async def aclose(self) -> None:
        """Closes all mailboxes."""
        await self._worn.aclose()


def hop_attributes(envelope: Envelope, operation: str) -> dict[str, str | int | bool | tuple[str, ...]]:
    """What the send and the processing of an envelope have in common."""
    posts = envelope.posts
    post = posts[-1]
    attributes: dict[str, str | int | bool | tuple[str, ...]] = {
        names.MESSAGING_SYSTEM: names.SYSTEM,
        names.MESSAGING_OPERATION: operation,
        names.MESSAGING_TYPE: operation,
        names.MESSAGING_DESTINATION: envelope.recipient,
        names.MESSAGING_ID: envelope.key,
        names.MESSAGING_CONVERSATION: envelope.session_id,
        names.POST_FROM: post.send_from,
        names.POST_TO: envelope.recipient,
        names.SELF_SEND: post.send_from == envelope.recipient,
    }
    carried = [each for post in posts for each in post.attachment_list]
    if carried:
        attributes[names.ATTACHMENTS] = len(carried)
        attributes[names.ATTACHMENT_BYTES] = sum(map(size_bytes, carried))
        attributes[names.ATTACHMENT_TYPES] = tuple(str(each.type) for each in carried)
    return attributes
