"""Kernels that replay what they are given: for tests and examples. They need nothing installed and run no code."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from secrets import token_hex
from types import TracebackType
from typing import Self, TypeAlias

import anyio
import msgspec

from roles_runtime.errors import KernelError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.workspace import Workspace

Step: TypeAlias = Execution | KernelError | Callable[[str], Execution]
"""What one cell comes to: an Execution, an error to raise, or a function of its code."""


class ScriptedKernels:
    """Hands out kernels that all replay the same steps, each from its start.

    Args:
        steps: One a cell, in order; where they end, every further cell succeeds without output. A step that stands
            under its code in a mapping is taken whenever that code comes.
        sandboxed: What `sandboxed` says.
    """

    def __init__(self, steps: Iterable[Step] | Mapping[str, Step] = (), *, sandboxed: bool = True) -> None:
        self._by_code = dict(steps) if isinstance(steps, Mapping) else {}
        self._steps = () if isinstance(steps, Mapping) else tuple(steps)
        self._sandboxed = sandboxed
        self._kernels: dict[str, ScriptedKernel] = {}

    @property
    def sandboxed(self) -> bool:
        """As it was given."""
        return self._sandboxed

    @property
    def problem(self) -> str:
        """Empty, or a word that there is no sandbox."""
        return "" if self._sandboxed else "These kernels are scripted to have no sandbox; give ScriptedKernels one."

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kernels.clear()

    def open(self, session_id: str, workspace: Workspace, *, sandbox: bool = True) -> ScriptedKernel:
        """The kernel of a session; no sandbox is missed, since nothing runs."""
        kernel = self._kernels.get(session_id)
        if kernel is None:
            kernel = self._kernels[session_id] = ScriptedKernel(self._steps, self._by_code)
        return kernel

    async def release(self, session_id: str) -> None:
        """Forgets that session's kernel."""
        kernel = self._kernels.pop(session_id, None)
        if kernel is not None:
            await kernel.aclose()


class ScriptedKernel:
    """One session's script. ``cells`` is the code that was asked for, in order."""

    def __init__(self, steps: Iterable[Step], by_code: Mapping[str, Step]) -> None:
        self._steps, self._by_code = deque(steps), by_code
        self._turn = anyio.Lock()
        self._closed = False
        self.cells: list[str] = []

    async def execute(self, code: str, *, timeout_s: float | None = None, traceparent: str = "") -> Execution:
        """The next step, as if the code had run.

        Raises:
            KernelError: the step is one, or the kernel was closed.
        """
        async with self._turn:
            if self._closed:
                raise KernelError("This kernel was closed; open the session's kernel again.")
            self.cells.append(code)
            step = self._by_code.get(code) or (self._steps.popleft() if self._steps else Execution("", "", True))
            if isinstance(step, KernelError):
                raise step
            given = step if isinstance(step, Execution) else step(code)
            identity = given.execution_id or "exec-" + token_hex(6)
            return msgspec.structs.replace(given, execution_id=identity, code=code)

    async def aclose(self) -> None:
        """Ends it; closing again changes nothing."""
        self._closed = True
