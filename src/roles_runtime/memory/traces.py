"""What the turns of a session thought, called and got back, for the roles whose turns they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from roles_runtime.posts.event import ModelReplied, ToolReturned
from roles_runtime.posts.post import RoleName

Step: TypeAlias = ModelReplied | ToolReturned
"""An event of a turn. The message or the result in it is JSON text, which its reader decodes."""

MAX_TURN_BYTES = 64 << 10
"""What is kept of one turn: some 16,000 tokens, as much as the result of one call may have."""

MAX_SESSION_BYTES = 1 << 20
"""What is kept of all turns of a session; the oldest turns go first."""


class TurnTrace(msgspec.Struct):
    """The steps of one turn.

    Attributes:
        groups: Each begins with a model's answer, and what its calls gave follows.
        dropped: How many steps are missing, since a trace has a bound.
        size_bytes: Of what is kept.
    """

    groups: list[list[Step]] = msgspec.field(default_factory=list)
    dropped: int = 0
    size_bytes: int = 0

    @property
    def steps(self) -> Sequence[Step]:
        """What is kept, in order."""
        return [step for group in self.groups for step in group]


class Traces:
    """The traces of a session, by role and Post answered. They are folded from the journal, so that nothing is lost."""

    __slots__ = ("_size_bytes", "_turns")

    def __init__(self) -> None:
        self._turns: dict[tuple[RoleName, str], TurnTrace] = {}
        self._size_bytes = 0

    def take(self, step: Step) -> None:
        """Takes the next step of a turn. An answer that holds neither thoughts nor calls leaves no trace."""
        _, _, rest = step.turn.partition("/")
        key = (step.role, rest.partition("/")[0])
        if isinstance(step, ModelReplied):
            if not step.traced:
                return
            trace = self._turns.setdefault(key, TurnTrace())
            trace.groups.append([step])
        else:
            found = self._turns.get(key)
            if found is None or not found.groups:
                return
            trace = found
            trace.groups[-1].append(step)
        self._count(trace, size_of(step))
        while trace.size_bytes > MAX_TURN_BYTES and trace.groups:
            self._drop(trace)
        self._bound()

    def of(self, role: RoleName, post_id: str) -> TurnTrace | None:
        """The trace of the turn in which that role answered that Post, if it left one."""
        return self._turns.get((role, post_id))

    def _count(self, trace: TurnTrace, size_bytes: int) -> None:
        trace.size_bytes += size_bytes
        self._size_bytes += size_bytes

    def _drop(self, trace: TurnTrace) -> None:
        group = trace.groups.pop(0)
        trace.dropped += len(group)
        self._count(trace, -sum(size_of(step) for step in group))

    def _bound(self) -> None:
        while self._size_bytes > MAX_SESSION_BYTES and len(self._turns) > 1:
            oldest = self._turns.pop(next(iter(self._turns)))
            self._size_bytes -= oldest.size_bytes


def size_of(step: Step) -> int:
    """What a step takes, near enough."""
    return len(step.message if isinstance(step, ModelReplied) else step.result)
