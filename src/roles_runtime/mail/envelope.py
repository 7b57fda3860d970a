"""A Post under way."""

from __future__ import annotations

import msgspec

from roles_runtime.posts.post import Post, RoleName


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """What a transport carries: Posts to one role of one session, and what they answer.

    Attributes:
        session_id, round_id: Where it belongs.
        recipient: The role whose mailbox it is for.
        posts: One Post; several where the branches of a fan-out are joined, in sending order.
        key: The id of the last of them: a second delivery is known by it.
        position: How many Posts of the round stood in the journal when the last one was written, itself included.
        branch: Of which fan-out this is a branch, or 0; whatever answers it inherits it.
        traceparent: W3C trace context, or empty.
    """

    session_id: str
    round_id: str
    recipient: RoleName
    posts: tuple[Post, ...]
    key: str
    position: int
    branch: int = 0
    traceparent: str = ""
