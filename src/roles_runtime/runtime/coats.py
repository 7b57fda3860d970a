"""Coats: what may be worn round the contracts to watch them. Without one nothing is wrapped, so off costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Protocol, TypeAlias

from roles_runtime.kernels.kernel import Kernel
from roles_runtime.llm.model import Model
from roles_runtime.mail.transport import Transport
from roles_runtime.posts.conversation import Round
from roles_runtime.posts.event import Outcome
from roles_runtime.posts.post import RoleName
from roles_runtime.roles.turn import Turn
from roles_runtime.tools.tool import Tool

Act: TypeAlias = Callable[[Turn], Coroutine[object, None, Outcome]]
"""A whole turn: the role answers, the router takes the answer; the outcome is the router's verdict."""

Play: TypeAlias = Callable[[Round], Coroutine[object, None, None]]
"""A whole round, from its first Post to its end; the Round tells how it ended."""


class Coats(Protocol):
    """Wraps what it wants to watch; each method may give back what it got."""

    def caller(self) -> str:
        """The W3C traceparent of whoever asks, at that moment; empty if there is none."""
        ...

    def current(self) -> str:
        """The traceparent under which an event is being written; empty if there is none."""
        ...

    def wrap_round(self, play: Play, session_id: str, traceparent: str) -> Play:
        """Wraps a round; ``traceparent`` is what `caller` said."""
        ...

    def wrap_transport(self, transport: Transport) -> Transport:
        """Wraps the transport, once a runtime."""
        ...

    def wrap_turn(self, act: Act, role: RoleName) -> Act:
        """Wraps the turns of a role, the router's verdict included."""
        ...

    def wrap_model(self, model: Model, role: RoleName) -> Model:
        """Wraps a role's model, once a runtime."""
        ...

    def wrap_tools(self, tools: tuple[Tool, ...], role: RoleName) -> tuple[Tool, ...]:
        """Wraps the tools that a turn calls."""
        ...

    def wrap_kernel(self, kernel: Kernel, role: RoleName) -> Kernel:
        """Wraps a session's kernel as one role sees it."""
        ...
