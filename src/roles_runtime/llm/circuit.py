"""A circuit: a model that failed again and again is left alone for a while, then tried by one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from roles_runtime.errors import ModelCircuitOpenError, ModelError, WireError


class CircuitState(msgspec.Struct, frozen=True):
    """How a model has fared, for whoever looks.

    Attributes:
        model: ``provider:model``.
        state: ``closed``: it is asked; ``open``: it is left alone; ``half-open``: one call tries it.
        failures: How many calls in a row failed for a passing reason.
        problem: What the last of them said; empty without one.
        left_s: How long it is still left alone, in seconds.
    """

    model: str
    state: Literal["closed", "open", "half-open"]
    failures: int = 0
    problem: str = ""
    left_s: float = 0.0


class Permit:
    """Leave to ask once; `settle` tells what came of it, and only the first time counts."""

    __slots__ = ("_circuit", "_is_settled")

    def __init__(self, circuit: Circuit) -> None:
        self._circuit, self._is_settled = circuit, False

    def begun(self) -> None:
        """Tells that the answer begins. The others need not wait for its end to ask again."""
        self._circuit.begun(self)

    def settle(self, error: BaseException | None) -> None:
        """Tells how the call ended; None: it was answered.

        A provider that refused has answered too. A call that was cancelled, or that never went out, says nothing.
        """
        if self._is_settled:
            return
        self._is_settled = True
        if error is None:
            self._circuit.answered()
        elif not isinstance(error, ModelError) or isinstance(error, WireError):
            self._circuit.abandoned(self)
        elif error.transient:
            self._circuit.failed(self, error.problem)
        else:
            self._circuit.answered()


class Circuit:
    """Counts how one model fares, in this process and over all sessions. Not for several threads."""

    def __init__(self, model: str, opens_after: int, cool_down_s: float, clock: Callable[[], float]) -> None:
        """Makes a closed one.

        Args:
            model: ``provider:model``.
            opens_after: How many failures in a row open it.
            cool_down_s: How long it stays open before a call may try.
            clock: Seconds, growing.
        """
        self._model, self._opens_after, self._cool_down_s, self._clock = model, opens_after, cool_down_s, clock
        self._failures, self._problem = 0, ""
        self._opened_at: float | None = None
        self._trial: Permit | None = None

    @property
    def state(self) -> CircuitState:
        """How it stands now."""
        if self._opened_at is None:
            return CircuitState(self._model, "closed", self._failures, self._problem)
        left_s = max(0.0, self._opened_at + self._cool_down_s - self._clock())
        return CircuitState(self._model, "open" if left_s else "half-open", self._failures, self._problem, left_s)

    def admit(self) -> Permit | None:
        """Leave to ask the model, or None: it is left alone. Every permit must be settled."""
        if self._opened_at is None:
            return Permit(self)
        if self._trial is not None or self.state.left_s:
            return None
        self._trial = Permit(self)
        return self._trial

    def refusal(self) -> ModelCircuitOpenError:
        """Why it was not asked."""
        state = self.state
        since_s = 0.0 if self._opened_at is None else self._clock() - self._opened_at
        until = (
            f"for another {rounded(state.left_s)}" if state.left_s else "until the call that tries it now is answered"
        )
        return ModelCircuitOpenError(
            self._model,
            f"it was not asked, for it failed {state.failures} times in a row; it is left alone since "
            f"{rounded(since_s)} and {until}. What it said last: {state.problem}",
            retry_after_s=state.left_s,
        )

    def begun(self, permit: Permit) -> None:
        """The call that tries begins to be answered: it is closed, and the next failure opens it again."""
        if permit is self._trial:
            self._failures, self._opened_at, self._trial = self._opens_after - 1, None, None

    def answered(self) -> None:
        """A call was answered: it is closed."""
        self._failures, self._problem, self._opened_at, self._trial = 0, "", None, None

    def failed(self, permit: Permit, problem: str) -> None:
        """A call failed. Calls that were under way when it opened do not keep it open."""
        if self._opened_at is not None and permit is not self._trial:
            return
        self._failures, self._problem = self._failures + 1, problem
        if permit is self._trial or self._failures >= self._opens_after:
            self._opened_at, self._trial = self._clock(), None

    def abandoned(self, permit: Permit) -> None:
        """A call ended without telling anything of the model; the next one may try."""
        if permit is self._trial:
            self._trial = None


def rounded(seconds: float) -> str:
    """A measured time as people read it."""
    return f"{round(seconds, 1):g} s"
