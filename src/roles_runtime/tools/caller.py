"""The Caller: what a tool may know of who called it, and where it may put files and say what it is busy with."""

from __future__ import annotations

import msgspec

from roles_runtime.kernels.workspace import Workspace
from roles_runtime.posts.draft import Emit
from roles_runtime.posts.event import StatusChanged
from roles_runtime.posts.post import RoleName


class Caller(msgspec.Struct, frozen=True):
    """Who called a tool. A parameter of this type is filled in at each call, and no model hears of it.

    Attributes:
        session_id, round_id: Where the call belongs.
        role: Whose model called.
        call_id: The call's id; unique within its turn.
        workspace: The session's files.
        emit: Hands a passing event to whoever listens; it never blocks.
    """

    session_id: str
    round_id: str
    role: RoleName
    call_id: str
    workspace: Workspace
    emit: Emit

    def status(self, status: str) -> None:
        """Says what the role is busy with."""
        self.emit(StatusChanged(self.round_id, self.role, status))
