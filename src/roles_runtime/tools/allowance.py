"""The allowance of a turn: how many calls its model may make, and how often one and the same."""

from __future__ import annotations

from collections.abc import Sequence

from roles_runtime.llm.calls import ToolCall
from roles_runtime.posts.ids import create_id

MAX_CALLS_A_TURN = 128
"""How many calls of a turn are carried out."""

MAX_CALLS_AN_ANSWER = 32
"""How many calls of one answer are carried out."""

MAX_REPEATS = 5
"""How often in a row one and the same call is carried out."""


class Allowance:
    """The calls of one turn so far. What is beyond it is refused, with words that tell the model what to do instead."""

    def __init__(self) -> None:
        self._spent = 0
        self._last: tuple[str, str] | None = None
        self._repeats = 0
        self._ids: set[str] = set()

    def with_unique_ids(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """The calls of an answer, each with an id that no other call of the turn has: a later one gets a fresh id.

        They are the same ones, in the same tuple, where all ids were unique already.
        """
        given = [call.call_id for call in calls]
        if "" not in given and self._ids.isdisjoint(given) and len(set(given)) == len(given):
            self._ids.update(given)
            return calls
        unique: list[ToolCall] = []
        for call in calls:
            if not call.call_id or call.call_id in self._ids:
                call = call.model_copy(update={"call_id": f"call-{create_id()}"})
            self._ids.add(call.call_id)
            unique.append(call)
        return tuple(unique)

    def refusals(self, calls: Sequence[ToolCall]) -> list[str]:
        """Why each call of an answer is not carried out; empty for one that is. What is carried out is spent."""
        carried_out = 0
        refusals: list[str] = []
        for call in calls:
            refusal = self._refusal(call, carried_out)
            carried_out += not refusal
            self._spent += not refusal
            refusals.append(refusal)
        return refusals

    def _refusal(self, call: ToolCall, carried_out: int) -> str:
        same = (call.name, call.arguments)
        self._repeats = self._repeats + 1 if same == self._last else 1
        self._last = same
        if self._repeats > MAX_REPEATS:
            return (
                f"You called {call.name} with these arguments {self._repeats} times in a row, so it was not called "
                "again. Use the results that you have: do something else, or answer."
            )
        if self._spent >= MAX_CALLS_A_TURN:
            return f"{MAX_CALLS_A_TURN} calls were made in this turn, and no more are; answer now with what you have."
        if carried_out >= MAX_CALLS_AN_ANSWER:
            return f"{MAX_CALLS_AN_ANSWER} calls are carried out at once, and this is one more; make fewer at a time."
        return ""
