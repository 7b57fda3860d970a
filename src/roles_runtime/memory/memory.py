"""What one role may see of a conversation, at one moment."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from roles_runtime.posts.conversation import Conversation, Round
from roles_runtime.posts.post import RoleName
from roles_runtime.posts.shared import SharedMemoryEntry, SharedType


class Horizon(msgspec.Struct, frozen=True, gc=False):
    """How far a snapshot sees.

    Attributes:
        rounds: How many rounds of the conversation there were.
        posts: How many Posts the last of these had at the turn's start.
        shared_posts: How many Posts the last of these had when the one being answered was written, itself included:
            shared entries of later ones are not seen.
        hidden: Ids of Posts that are queued for the role and not answered yet.
    """

    rounds: int
    posts: int
    shared_posts: int
    hidden: tuple[str, ...] = ()


class Memory:
    """An immutable, lazy snapshot. What it hands out are open copies with the same ids; the stored Posts stay."""

    def __init__(self, conversation: Conversation, horizon: Horizon | None = None) -> None:
        self._conversation, self._horizon = conversation, horizon

    def get_role_rounds(self, role: RoleName, include_failure_rounds: bool = False) -> list[Round]:
        """The rounds with the Posts that this role sent or received, each once, in order."""
        raise NotImplementedError

    def get_shared_memory_entries(self, entry_type: SharedType) -> Sequence[SharedMemoryEntry]:
        """What was shared of that type: the latest of each sender, by the time of writing."""
        raise NotImplementedError
