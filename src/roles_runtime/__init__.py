"""An asyncio actor runtime for teams of agent roles. Nothing inside the house imports this front door."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roles_runtime.errors import RolesError
    from roles_runtime.posts.attachment import Attachment, AttachmentType, register_attachment_type
    from roles_runtime.posts.conversation import Conversation, Round, RoundState
    from roles_runtime.posts.post import Post
    from roles_runtime.roles.role import Role
    from roles_runtime.roles.turn import Middleware, Turn

# A name is imported when it is first asked for, so that `import roles_runtime` costs little more than its ground.
_HOMES = {
    "Attachment": "posts.attachment",
    "AttachmentType": "posts.attachment",
    "Conversation": "posts.conversation",
    "Middleware": "roles.turn",
    "Post": "posts.post",
    "Role": "roles.role",
    "RolesError": "errors",
    "Round": "posts.conversation",
    "RoundState": "posts.conversation",
    "Turn": "roles.turn",
    "register_attachment_type": "posts.attachment",
}

__all__ = [
    "Attachment",
    "AttachmentType",
    "Conversation",
    "Middleware",
    "Post",
    "Role",
    "RolesError",
    "Round",
    "RoundState",
    "Turn",
    "register_attachment_type",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
