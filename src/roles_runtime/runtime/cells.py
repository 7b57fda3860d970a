"""A session's kernel as its roles see it: opened with the first cell, every cell in the journal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import time_ns

import msgspec
from anyio import to_thread

from roles_runtime.errors import KernelError, KernelUnavailableError
from roles_runtime.kernels.kernel import Execution, Kernel
from roles_runtime.posts.event import CellDone, CellStarted, Outcome
from roles_runtime.posts.post import RoleName
from roles_runtime.runtime.ground import Home
from roles_runtime.runtime.text import fault_of


class JournaledKernel:
    """A Kernel that writes CellStarted and CellDone round each cell, for one role in one round."""

    def __init__(self, session: Home, role: RoleName, round_id: str, turn_id: Callable[[], str]) -> None:
        """Made once a role and round.

        Args:
            session: Whose kernel it is.
            role: Who runs cells in it.
            round_id: In which round.
            turn_id: Says in which turn, when asked; a cell's identity follows from it and its place in the turn.
        """
        self._session, self._role, self._round_id, self._turn_id = session, role, round_id, turn_id
        self._turn, self._cells = "", 0

    async def execute(self, code: str, *, timeout_s: float | None = None, traceparent: str = "") -> Execution:
        """Runs one cell, within the session's limit unless another is given, and writes down what came of it.

        Raises:
            KernelLostError: the variables are gone; see `Kernel.execute`.
            KernelError: no kernel could be started, or the code is none.
            StoreError: it could not be written down.
        """
        session = self._session
        if not session.runs(self._round_id):
            raise KernelError("The round that this cell belongs to is over; the cell was not run.")
        if fault := fault_of(code):
            raise KernelError(f"The code of a cell {fault}; the cell was not run.")
        kernel = await open_kernel(session)
        cell_id = self._next_id()
        started_at = time_ns()
        await session.journal.write(CellStarted(self._round_id, self._role, cell_id, code), cell_id)
        done = partial(CellDone, self._round_id, self._role, cell_id)
        key = f"{cell_id}/done"
        cancelled = Execution(cell_id, code, outcome="cancelled")
        session.begin_cell(cell_id, (done(_json(cancelled), started_at, "cancelled"), key))
        try:
            execution = await kernel.execute(
                code, timeout_s=timeout_s or session.ground.limits.cell_timeout_s, traceparent=traceparent
            )
        except KernelError as error:
            if session.runs(self._round_id):
                session.end_cell(cell_id)
                lost = Execution(cell_id, code, error=str(error), outcome="lost")
                await session.journal.write(done(_json(lost), started_at, "error"), key)
            raise
        if not session.runs(self._round_id):
            return execution  # too late for the round: what came of it is dropped
        session.end_cell(cell_id)
        session.keep_artifacts(execution.artifacts)
        event = done(_json(execution), started_at, _OUTCOMES[execution.outcome], execution.artifacts)
        await session.journal.write(event, key)
        return execution

    def _next_id(self) -> str:
        turn = self._turn_id()
        self._turn, self._cells = turn, self._cells + 1 if turn == self._turn else 1
        return f"{turn}/cell-{self._cells}"

    async def aclose(self) -> None:
        """Does nothing: the session owns the kernel."""


_OUTCOMES: dict[str, Outcome] = {
    "ok": "ok",
    "error": "error",
    "lost": "error",
    "timeout": "timeout",
    "cancelled": "cancelled",
}


def _json(execution: Execution) -> str:
    return msgspec.json.encode(execution).decode()


async def open_kernel(session: Home) -> Kernel:
    """The session's kernel, walled off unless all models of the team say that their code is not an LLM's.

    Raises:
        SandboxUnavailableError: there must be a sandbox and can be none.
        KernelUnavailableError: the team has no kernel.
    """
    ground = session.ground
    kernels = ground.kernels
    if kernels is None:
        raise KernelUnavailableError("This runtime has no kernel; give it Runtime(team, kernels='local').")
    if session.sandbox is None:
        # Decided once a session, so that a wall never comes down in the middle of one.
        walled = await to_thread.run_sync(lambda: kernels.sandboxed)
        session.sandbox = walled or not ground.may_run_unsandboxed
    return kernels.open(session.id, session.workspace, sandbox=session.sandbox)
