"""Coats: what may be worn round the contracts to watch them. Without one nothing is wrapped, so off costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol, TypeAlias

import msgspec

from roles_runtime.kernels.kernel import Kernel
from roles_runtime.llm.model import Model
from roles_runtime.mail.transport import Transport
from roles_runtime.posts.conversation import Round
from roles_runtime.posts.event import DurableEvent, Outcome
from roles_runtime.posts.post import RoleName
from roles_runtime.roles.turn import Respond, Turn
from roles_runtime.tools.tool import Tool

Act: TypeAlias = Callable[[Turn], Coroutine[object, None, Outcome]]
"""A whole turn: the role answers, the router takes the answer; the outcome is the router's verdict."""


class Asked(msgspec.Struct, frozen=True):
    """A question that is about to become a round.

    Attributes:
        session_id: Whose.
        index: Which round of the session it is, from 0.
        caller: The traceparent of whoever asked, or empty.
        previous: That of the round before, or empty.
    """

    session_id: str
    index: int
    caller: str = ""
    previous: str = ""


Play: TypeAlias = Callable[[Round], Coroutine[object, None, None]]
"""A whole round, from its first Post to its end; the Round tells how it ended."""


class Coats(Protocol):
    """Wraps what it wants to watch; each method may give back what it got."""

    def caller(self) -> str:
        """The W3C traceparent of whoever asks, at that moment; empty if there is none."""
        ...

    def current(self, events: Sequence[DurableEvent]) -> str:
        """The traceparent under which events of one round are being written; empty if there is none."""
        ...

    def wrap_round(self, play: Play, asked: Asked) -> Play:
        """Wraps a round. It may note its own traceparent in ``record.traceparent``, for the next one."""
        ...

    def wrap_transport(self, transport: Transport) -> Transport:
        """Wraps the transport, once a runtime."""
        ...

    def wrap_turn(self, act: Act, role: RoleName) -> Act:
        """Wraps the turns of a role, the router's verdict included."""
        ...

    def wrap_respond(self, respond: Respond, role: RoleName) -> Respond:
        """Wraps what a role and its middleware do in a turn, once a runtime."""
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
