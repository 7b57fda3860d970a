"""A role that repeats what it is told: to try a team, a transport or a store without any model."""

from __future__ import annotations

from roles_runtime.posts.post import Post, RoleName
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Turn


class Echo(Role):
    """Answers each Post with its own text."""

    def __init__(
        self, name: RoleName = "Echo", *, intro: str = "Repeats what it is told.", decorator: str = ""
    ) -> None:
        """Makes one.

        Args:
            name: Its address.
            intro: What the leader is told about it.
            decorator: Stands before and after what is repeated.
        """
        self.name, self.intro, self.decorator = name, intro, decorator

    async def reply(self, turn: Turn) -> Post:
        """The text of the Post, to whoever asked."""
        return turn.answer(f"{self.decorator}{turn.post.message}{self.decorator}")
