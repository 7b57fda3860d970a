"""A kernel that is alive: its process, its channel, and the tasks that listen to both."""

from __future__ import annotations

from secrets import token_hex

import anyio
import anyio.abc

from roles_runtime.errors import KernelError
from roles_runtime.kernels.cell import Cell
from roles_runtime.kernels.channel import CONTROL, IOPUB, SHELL, Channel
from roles_runtime.kernels.jupyter import Message
from roles_runtime.kernels.process import KernelProcess

START_TIMEOUT_S = 90.0
INTERRUPT_TIMEOUT_S = 5.0
IDLE_TIMEOUT_S = 1.0
_HELLO_S = 0.5
_END_S = 0.5


class LiveKernel:
    """From its start to its end; `run` is that life, as a task of whoever owns it.

    Attributes:
        ready: Set when it takes cells, or will never.
        gone: Set when its process, sockets and folder are gone.
        failure: Why it never came up, else None.
        reason: How it died, once it did.
    """

    def __init__(self, process: KernelProcess) -> None:
        self.process = process
        self.ready, self.gone = anyio.Event(), anyio.Event()
        self.failure: KernelError | None = None
        self.reason = ""
        self._key = token_hex(32)
        self._channel = Channel(process.address, self._key)
        self._cell: Cell | None = None
        self._greeted = anyio.Event()
        self._dead = anyio.Event()

    @property
    def dead(self) -> bool:
        """Whether its process has ended."""
        return self._dead.is_set()

    async def run(self) -> None:
        """Starts the process, listens until it ends, and leaves nothing behind; also when it is cancelled."""
        try:
            self.process.start(self._key)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._come_up, tasks)
                await self.process.wait()
                self.reason = self.reason or self.process.ended_how()
                tasks.cancel_scope.cancel()
            if not self.ready.is_set():
                self.failure = self.failure or self.process.failure()
        except KernelError as error:
            self.failure = error
        except Exception as error:
            # Whoever waits for this kernel is told; the other kernels of the group go on.
            self.reason = self.reason or f"its channel failed: {error!r}"
            self.failure = KernelError(f"The kernel could not be run: {error!r}.")
        finally:
            self._dead.set()
            self.ready.set()
            if self._cell is not None:
                self._cell.replied.set()
            with anyio.CancelScope(shield=True):
                await self._channel.aclose()
                await self.process.aclose()
                self.gone.set()

    async def _come_up(self, tasks: anyio.abc.TaskGroup) -> None:
        with anyio.move_on_after(START_TIMEOUT_S) as clock:
            await self._channel.connect()
            tasks.start_soon(self._listen, SHELL)
            tasks.start_soon(self._listen, IOPUB)
            # A subscription takes a moment; until it holds, what the kernel publishes is lost.
            while not self._greeted.is_set():
                await self._channel.send(SHELL, self._channel.compose("kernel_info_request", {})[1])
                with anyio.move_on_after(_HELLO_S):
                    await self._greeted.wait()
            self.ready.set()
        if clock.cancelled_caught:
            self.failure = KernelError(f"The kernel did not start within {START_TIMEOUT_S:.0f} s.")
            self.process.kill()

    async def _listen(self, number: int) -> None:
        try:
            await self._hear(number)
        except KernelError as error:
            # A process that ends closes its sockets, too, and how it ended is the better reason.
            await anyio.sleep(_END_S)
            self.reason = self.reason or str(error)
            self.process.kill()

    async def _hear(self, number: int) -> None:
        while True:
            message = await self._channel.receive(number)
            if number == IOPUB and message.parent_id:
                self._greeted.set()
            self._hand_over(message)

    def _hand_over(self, message: Message) -> None:
        cell = self._cell
        if cell is not None and message.parent_id == cell.message_id:
            cell.take(message)

    async def converse(self, cell: Cell, timeout_s: float, traceparent: str) -> None:
        """Runs one cell to its end, or to the end of its time or of the kernel."""
        request = {"code": cell.code, "silent": False, "store_history": True, "allow_stdin": False}
        metadata = {"traceparent": traceparent} if traceparent else None
        cell.message_id, frames = self._channel.compose(
            "execute_request", {**request, "user_expressions": {}, "stop_on_error": False}, metadata
        )
        self._cell = cell
        try:
            with anyio.move_on_after(timeout_s) as clock:
                await self._channel.send(SHELL, frames)
                await cell.replied.wait()
            if clock.cancelled_caught:
                cell.judge("timeout", f"The cell ran longer than {timeout_s:g} s and was interrupted.")
                await self.stop(cell)
            if not self.dead:
                with anyio.move_on_after(IDLE_TIMEOUT_S) as idling:
                    await cell.idle.wait()
                if idling.cancelled_caught:
                    cell.note("The kernel did not finish its output in time; some of it may be missing.")
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.stop(cell)
            raise
        finally:
            self._cell = None

    async def stop(self, cell: Cell) -> None:
        """Interrupts a cell by a message (a signal would end the sandbox); kills the kernel if it does not heed."""
        with anyio.move_on_after(INTERRUPT_TIMEOUT_S):
            if not self.dead:
                await self._channel.send(CONTROL, self._channel.compose("interrupt_request", {})[1])
            await cell.replied.wait()
        if cell.outcome == "lost":
            await self.aclose("a cell did not heed its interruption")

    async def aclose(self, reason: str) -> None:
        """Kills it and waits, within a bound, until nothing is left."""
        self.reason = self.reason or reason
        self.process.kill()
        await self.gone.wait()
