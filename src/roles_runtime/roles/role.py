"""The Role contract, and ModelRole: any role that thinks with a model."""

from __future__ import annotations

from abc import ABC, abstractmethod

from roles_runtime.posts.post import RoleName
from roles_runtime.roles.turn import Answer, Turn


class Role(ABC):
    """Who answers. One object serves all sessions side by side and keeps no state of theirs.

    Attributes:
        name: Its address: what stands in ``send_to``.
        intro: What the leader is told about it.
    """

    name: RoleName
    intro: str = ""

    @abstractmethod
    async def reply(self, turn: Turn) -> Answer:
        """Answers a Post: with one Post, or with several to distinct other roles.

        Raises:
            Exception: whatever it raises fails the round with a clear reason; the session goes on.
        """
