"""The Kernel contract: a stateful place where code runs, one a session, and what comes of a cell."""

from __future__ import annotations

from types import TracebackType
from typing import Literal, Protocol, Self, runtime_checkable

import msgspec

from roles_runtime.kernels.workspace import Workspace
from roles_runtime.posts.conversation import ArtifactRef

CELL_TIMEOUT_S = 120.0
"""How long a cell may run where nobody says otherwise."""


class Execution(msgspec.Struct, frozen=True):
    """What came of one cell.

    Attributes:
        execution_id: ``exec-`` + 12 hex.
        code: What ran.
        is_success: Whether it ended without an error.
        error: The error with its traceback, without colours; None on success.
        output: The last expression's or assignment's value as text (at most 5,000 characters), or empty.
        stdout, stderr: Pieces in order, capped; the cap is said in the text.
        log: (level, tag, message) that the code logged.
        artifacts: Displayed images and new or changed files, copied out and content-addressed.
        outcome: ``ok``, ``error``, ``timeout`` (interrupted at its limit), ``cancelled``, ``lost`` (the kernel died).
        duration_s: Wall time.
    """

    execution_id: str
    code: str
    is_success: bool = False
    error: str | None = None
    output: str = ""
    stdout: tuple[str, ...] = ()
    stderr: tuple[str, ...] = ()
    log: tuple[tuple[str, str, str], ...] = ()
    artifacts: tuple[ArtifactRef, ...] = ()
    outcome: Literal["ok", "error", "timeout", "cancelled", "lost"] = "ok"
    duration_s: float = 0.0


@runtime_checkable
class Kernel(Protocol):
    """One session's kernel. Cells run in the order in which they were given; variables stay."""

    async def execute(self, code: str, *, timeout_s: float | None = None, traceparent: str = "") -> Execution:
        """Runs one cell, after those given before it; starts the kernel if there is none.

        At ``timeout_s`` the cell is interrupted, 5 s later the kernel is killed. A cell that fails, times out or
        kills its kernel is an `Execution` that says so, never an exception. Cancelling the call interrupts the cell
        in the same way, within a bound, and then goes on being cancelled.

        Args:
            code: Python, as for one cell of a notebook.
            timeout_s: From the cell's start; 120 s, or what the session is limited to, where it is left out.
            traceparent: W3C trace context for the cell; nothing else of the environment reaches it.

        Raises:
            KernelLostError: the kernel that held the session's variables is gone since the last cell; the next
                call starts a new one. Raised once a loss, before anything ran, and only where no Execution told of
                it: one that is ``lost``, or a ``timeout`` whose error says that the kernel was lost, has.
            KernelError: no kernel could be started; the subclass says why and how to mend it.
        """
        ...

    async def aclose(self) -> None:
        """Ends the kernel; closing again changes nothing."""
        ...


@runtime_checkable
class Kernels(Protocol):
    """Makes kernels, keeps a spare one warm, and ends those that idle. Opened and closed by ``async with``."""

    @property
    def sandboxed(self) -> bool:
        """Whether what runs in these kernels is walled off; asks the machine once."""
        ...

    @property
    def problem(self) -> str:
        """Why there is no sandbox and how to get one; empty where there is one."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def open(self, session_id: str, workspace: Workspace, *, sandbox: bool = True) -> Kernel:
        """The kernel of a session, started with its first cell.

        Args:
            session_id: Whose it is; opening it again gives the same kernel while it lives.
            workspace: Its files: mounted read-write as the current folder.
            sandbox: False runs it without one. The runtime decides that, once a session.

        Raises:
            SandboxUnavailableError: ``sandbox`` is asked for and can not be had.
        """
        ...

    async def release(self, session_id: str) -> None:
        """Ends that session's kernel, if there is one."""
        ...
