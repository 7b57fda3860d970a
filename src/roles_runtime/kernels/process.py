"""A kernel's process: started behind the wall or beside it, watched, and ended with all that it started."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio

from roles_runtime.errors import KernelError, KernelUnavailableError
from roles_runtime.kernels.folder import remove_tree
from roles_runtime.kernels.sandbox import Home, Sandbox, bare_environment, python_command

POLL_S = 0.05
END_TIMEOUT_S = 5.0
_COMPLAINT_BYTES = 1 << 16


class KernelProcess:
    """One started process. Start it in the event loop's thread: the kernel dies with the thread that began it."""

    def __init__(self, home: Home, files: Path, sandbox: Sandbox | None) -> None:
        self.home, self.files, self.sandbox = home, files, sandbox
        self._process: subprocess.Popen[bytes] | None = None
        self._handles: list[int] = []
        self._complaints = -1

    @property
    def address(self) -> Path:
        """Its sockets are ``{address}-1`` and so on, as the host sees them."""
        return self.home.ipc / "k"

    def start(self, key: str) -> None:
        """Starts it; blocks for some milliseconds.

        Raises:
            KernelError: the process could not be started.
        """
        try:
            self._start_behind(self.sandbox, key) if self.sandbox else self._start_plain(key)
        except OSError as error:
            raise KernelError(f"The kernel could not be started: {error}.") from error

    def _start_behind(self, sandbox: Sandbox, key: str) -> None:
        self.home.furnish({**sandbox.settings(), "address": "/ipc/k", "key": key})
        told, tell = os.pipe()
        try:
            with sandbox.command(self.home, self.files, tell) as (argv, inherited):
                self._spawn(argv, bare_environment("/tmp"), inherited)
        finally:
            os.close(tell)
        try:
            self._watch_inner(told)
        finally:
            os.close(told)

    def _start_plain(self, key: str) -> None:
        settings = {"parent": os.getpid(), "limits": {"RLIMIT_CORE": 0}, "folder": str(self.files)}
        self.home.furnish({**settings, "address": str(self.address), "key": key})
        self._spawn(python_command(self.home.sources), bare_environment(str(self.home.tmp)), ())

    def _spawn(self, argv: list[str], environment: dict[str, str], inherited: tuple[int, ...]) -> None:
        # A pipe and no file: what is inside can open its first process's stderr anew, and write to it for ever. Who
        # writes does not wait either, for nobody reads before the end.
        self._complaints, written = os.pipe()
        os.set_blocking(self._complaints, False)
        os.set_blocking(written, False)
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=written,
                env=environment,
                pass_fds=inherited,
                start_new_session=True,
            )
        finally:
            os.close(written)
        self._handles.append(_handle(self._process.pid))

    def _watch_inner(self, told: int) -> None:
        """Opens a handle on the sandbox's first process: when that one is gone, all inside are."""
        text = b""
        while not text.rstrip().endswith(b"}"):
            ready, _, _ = select.select([told], [], [], END_TIMEOUT_S)
            piece = os.read(told, 4096) if ready else b""
            if not piece:
                return
            text += piece
        with suppress(ProcessLookupError):
            self._handles.append(_handle(int(json.loads(text)["child-pid"])))

    async def wait(self) -> None:
        """Returns when the process has ended."""
        assert self._process is not None
        handle = self._handles[0]
        while self._process.poll() is None:
            if handle < 0:
                await anyio.sleep(POLL_S)
            else:
                await anyio.wait_readable(handle)

    def ended_how(self) -> str:
        """How the process ended, in a few words."""
        assert self._process is not None
        status = self._process.returncode
        # Bubblewrap reports a signal as a shell does.
        number = -status if status < 0 else status - 128 if status > 128 else 0
        try:
            return f"it was ended by {signal.Signals(number).name}" if number else f"it exited with status {status}"
        except ValueError:
            return f"it exited with status {status}"

    def failure(self) -> KernelError:
        """Why it did not come up, by what it complained of."""
        try:
            text = os.read(self._complaints, _COMPLAINT_BYTES).decode("utf-8", "replace").strip()
        except OSError:
            text = ""
        last = text.splitlines()[-1] if text else self.ended_how()
        if "ModuleNotFoundError" in last:
            return KernelUnavailableError(f"The kernel needs roles-runtime[interpreter]; install it ({last}).")
        return KernelError(f"The kernel did not start: {last}.")

    def kill(self) -> None:
        """Ends it, and what it started, at once; what is gone already is left alone."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()

    async def aclose(self) -> None:
        """Kills it, waits until it is gone, bounded, and removes its folder."""
        self.kill()
        if self._process is not None:
            with anyio.move_on_after(END_TIMEOUT_S):
                await self.wait()
                for handle in self._handles[1:]:
                    await anyio.wait_readable(handle)
        for handle in self._handles:
            if handle >= 0:
                os.close(handle)
        self._handles.clear()
        if self._complaints >= 0:
            os.close(self._complaints)
            self._complaints = -1
        await anyio.to_thread.run_sync(remove_tree, self.home.root)


def _handle(pid: int) -> int:
    """A descriptor that is readable once the process is gone; -1 where the system has none."""
    return os.pidfd_open(pid) if sys.platform == "linux" else -1
