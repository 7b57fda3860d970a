"""Kernels on this machine: one a session, started with its first cell, a spare one kept warm."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from types import TracebackType
from typing import Self, TypeVar

import anyio
import anyio.abc

from roles_runtime.errors import (
    KernelError,
    KernelLostError,
    KernelUnavailableError,
    SandboxUnavailableError,
    WorkspaceError,
)
from roles_runtime.kernels.cell import Cell
from roles_runtime.kernels.folder import excess_below
from roles_runtime.kernels.harvest import keep_all
from roles_runtime.kernels.kernel import CELL_TIMEOUT_S, Execution
from roles_runtime.kernels.live import LiveKernel
from roles_runtime.kernels.pool import Pool
from roles_runtime.kernels.sandbox import Limits, Sandbox, find_sandbox
from roles_runtime.kernels.workspace import MAX_WORKSPACE_BYTES, Workspace

_T = TypeVar("_T")
RESERVE_BYTES = 2 << 30
"""Of the disk, when less is left, a kernel that may have filled it is stopped."""

_WATCH_S = 1.0
_TIDY_S = 5.0


class LocalKernels:
    """Makes kernels of jupyter_client and ipykernel, behind bubblewrap unless a session is opened without.

    Entering costs a folder; the first `open` begins to warm a kernel up. Leaving ends all of them.

    Args:
        idle_s: A kernel that ran no cell for so long goes.
        max_live: How many run at most, the spare not counted; then the least recently used idle one goes. Where all
            are busy, a new one waits.
        spare: Whether one is kept warm.
        limits: What each sandbox may take.
    """

    def __init__(
        self, *, idle_s: float = 900.0, max_live: int = 8, spare: bool = True, limits: Limits | None = None
    ) -> None:
        self._idle_s, self._max_live = idle_s, max_live
        self._limits = limits or Limits()
        self._pool = Pool(spare=spare)
        self._found: Sandbox | SandboxUnavailableError | None = None
        self._kernels: dict[str, LocalKernel] = {}
        self._tasks: anyio.abc.TaskGroup | None = None
        self._slots = anyio.Semaphore(max_live)

    @property
    def sandboxed(self) -> bool:
        """Whether there is a working sandbox. The first time it blocks for some tenths of a second."""
        return isinstance(self._look(), Sandbox)

    @property
    def problem(self) -> str:
        """Why there is no sandbox and how to get one; empty where there is one."""
        found = self._look()
        return "" if isinstance(found, Sandbox) else str(found)

    def _look(self) -> Sandbox | SandboxUnavailableError:
        if self._found is None:
            try:
                self._found = find_sandbox(self._limits)
            except SandboxUnavailableError as error:
                self._found = error
        return self._found

    async def __aenter__(self) -> Self:
        tasks = await anyio.create_task_group().__aenter__()
        self._tasks = tasks
        self._pool.open(tasks)
        tasks.start_soon(self._tidy)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks, self._tasks = self._tasks, None
        self._kernels.clear()
        if tasks is not None:
            try:
                tasks.cancel_scope.cancel()
                await tasks.__aexit__(None, None, None)
            finally:
                self._pool.close()

    def open(self, session_id: str, workspace: Workspace, *, sandbox: bool = True) -> LocalKernel:
        """The kernel of a session; a spare one begins to warm up for it. See `Kernels.open`."""
        if self._tasks is None:
            raise KernelError("These kernels are closed; open them with 'async with' first.")
        known = self._kernels.get(session_id)
        if known is not None:
            return known
        _require_packages()
        wall: Sandbox | None = None
        if sandbox:
            found = self._look()
            if isinstance(found, SandboxUnavailableError):
                raise SandboxUnavailableError(str(found))
            wall = found
        self._pool.warm(wall, workspace.root.absolute().parent)
        kernel = self._kernels[session_id] = LocalKernel(self, session_id, workspace, wall)
        return kernel

    async def release(self, session_id: str) -> None:
        """Ends that session's kernel, if there is one."""
        kernel = self._kernels.get(session_id)
        if kernel is not None:
            await kernel.aclose()

    # --- for LocalKernel -----------------------------------------------------------------------------------

    async def obtain(self, workspace: Workspace, sandbox: Sandbox | None) -> LiveKernel:
        """A kernel that is bound to a workspace; waits while `max_live` are busy."""
        try:
            self._slots.acquire_nowait()
        except anyio.WouldBlock:
            await self._make_room()
            await self._slots.acquire()
        try:
            return await self._pool.take(workspace, sandbox)
        except BaseException:
            self._slots.release()
            raise

    async def dispose(self, live: LiveKernel, reason: str) -> None:
        """Ends a kernel that `obtain` gave, dead or alive, and frees its place."""
        with anyio.CancelScope(shield=True):
            await live.aclose(reason)
        self._slots.release()

    def forget(self, session_id: str) -> None:
        """That session's kernel was closed."""
        self._kernels.pop(session_id, None)

    @property
    def crowded(self) -> bool:
        """Whether somebody waits for a place."""
        return self._slots.statistics().tasks_waiting > 0

    async def _make_room(self) -> None:
        idle = [kernel for kernel in self._kernels.values() if kernel.is_idle]
        if idle:
            await min(idle, key=lambda kernel: kernel.last_used).drop("it idled, and another session needed the room")

    async def _tidy(self) -> None:
        while True:
            await anyio.sleep(min(_TIDY_S, self._idle_s / 4))
            before = time.monotonic() - self._idle_s
            for kernel in list(self._kernels.values()):
                if kernel.is_idle and (kernel.last_used < before or kernel.is_dead):
                    await kernel.drop(f"it idled for {self._idle_s:g} s")
                elif kernel.is_idle:
                    await kernel.drop_if_outgrown()
                elif kernel.owes_nothing and kernel.last_used < before:
                    kernel.forget()


class LocalKernel:
    """One session's kernel; it may have none at the moment, and gets one with its next cell.

    Attributes:
        last_used: When a cell last ended, by the monotonic clock.
    """

    def __init__(self, kernels: LocalKernels, session_id: str, workspace: Workspace, sandbox: Sandbox | None) -> None:
        self._kernels, self._session_id = kernels, session_id
        self._workspace, self._sandbox = workspace, sandbox
        self._turn = anyio.Lock()
        self._live: LiveKernel | None = None
        self._free_bytes = 0
        self._loss = ""
        self._closed = False
        self.last_used = time.monotonic()

    @property
    def is_idle(self) -> bool:
        """Whether it is alive and runs nothing."""
        return self._live is not None and not self._turn.locked()

    @property
    def is_dead(self) -> bool:
        """Whether its process ended by itself."""
        return self._live is not None and self._live.dead

    @property
    def owes_nothing(self) -> bool:
        """Whether it has no kernel, runs nothing, and has no loss to tell of."""
        return self._live is None and not self._loss and not self._turn.locked()

    def forget(self) -> None:
        """Closes it while it has no kernel: opening the session's kernel again makes another."""
        self._closed = True
        self._kernels.forget(self._session_id)

    async def execute(self, code: str, *, timeout_s: float | None = None, traceparent: str = "") -> Execution:
        """Runs one cell. See `Kernel.execute`."""
        async with self._turn:
            try:
                return await self._execute(Cell(code), CELL_TIMEOUT_S if timeout_s is None else timeout_s, traceparent)
            finally:
                self.last_used = time.monotonic()
                if self._kernels.crowded and not self._turn.statistics().tasks_waiting:
                    await self.drop("another session needed the room")

    async def _execute(self, cell: Cell, timeout_s: float, traceparent: str) -> Execution:
        live = await self._awake()
        before = await _in_thread(self._workspace.snapshot)
        told = False
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch_size, live, cell)
                await live.converse(cell, timeout_s, traceparent)
                tasks.cancel_scope.cancel()
            if live.dead:
                told = cell.mourn(live.reason)
            artifacts = await _in_thread(lambda: keep_all(self._workspace, cell, before))
            return cell.execution(artifacts)
        finally:
            if live.dead:
                await self.drop(live.reason, told=told)

    async def _awake(self) -> LiveKernel:
        """The kernel, started if there is none; a loss that nobody was told of is told first."""
        if self._closed:
            raise KernelError("This kernel was closed; open the session's kernel again.")
        if self._live is not None and self._live.dead:
            await self.drop(self._live.reason)
        if self._loss:
            reason, self._loss = self._loss, ""
            raise KernelLostError(reason)
        if self._live is None:
            self._live = await self._kernels.obtain(self._workspace, self._sandbox)
            self._free_bytes = _free_bytes(self._workspace)
        return self._live

    async def _watch_size(self, live: LiveKernel, cell: Cell) -> None:
        while True:
            await anyio.sleep(_WATCH_S)
            problem = await _in_thread(lambda: self._excess(live))
            if problem:
                cell.judge("error", f"The cell was stopped: {problem}.")
                await live.stop(cell)
                return

    def _excess(self, live: LiveKernel) -> str:
        """Why it fills the host too much: the workspace, the folder of its sockets, or what shows on the disk alone."""
        try:
            held = self._workspace.excess() or excess_below(live.process.home.ipc, MAX_WORKSPACE_BYTES)
        except WorkspaceError:
            held = ""
        if held:
            return f"the workspace holds {held}; delete some"
        free = _free_bytes(self._workspace)
        # A file that was unlinked while it is open stands in no folder.
        if free < RESERVE_BYTES and self._free_bytes - free > MAX_WORKSPACE_BYTES:
            return f"the disk is nearly full, {free >> 20} MiB are left"
        return ""

    async def drop_if_outgrown(self) -> None:
        """What a cell left running may fill the disk between cells, too."""
        live = self._live
        if live is not None:
            problem = await _in_thread(lambda: self._excess(live))
            if problem and self.is_idle and self.last_used < time.monotonic() - _TIDY_S:
                await self.drop(problem)

    async def drop(self, reason: str, *, told: bool = False) -> None:
        """Ends the kernel behind it; unless the role knows already, the next cell tells of the loss."""
        live, self._live = self._live, None
        if live is not None:
            self._loss = "" if told else reason
            await self._kernels.dispose(live, reason)

    async def aclose(self) -> None:
        """Ends the kernel; closing again changes nothing. A cell that runs comes back as lost."""
        self._closed = True
        self._kernels.forget(self._session_id)
        if self._live is not None:
            await self._live.aclose("the session was closed")
        async with self._turn:
            await self.drop("the session was closed", told=True)


def _require_packages() -> None:
    for package in ("jupyter_client", "ipykernel"):
        if find_spec(package) is None:
            raise KernelUnavailableError(
                f"Running code needs roles-runtime[interpreter]; install it ({package} is missing)."
            )


def _free_bytes(workspace: Workspace) -> int:
    try:
        disk = os.statvfs(workspace.root)
    except OSError:
        return 0
    return disk.f_bavail * disk.f_frsize


async def _in_thread(call: Callable[[], _T]) -> _T:
    return await anyio.to_thread.run_sync(call)
