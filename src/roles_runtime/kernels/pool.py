"""Where kernels are started: each in a fresh folder, which becomes a session's when the kernel is handed out."""

from __future__ import annotations

import fcntl
import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import anyio
import anyio.abc

from roles_runtime.errors import KernelError, WorkspaceError
from roles_runtime.kernels.bytecode import write_bytecode
from roles_runtime.kernels.channel import check_installed
from roles_runtime.kernels.folder import make_private, remove_tree
from roles_runtime.kernels.live import LiveKernel
from roles_runtime.kernels.process import KernelProcess
from roles_runtime.kernels.sandbox import Home, Sandbox
from roles_runtime.kernels.workspace import Workspace

REFILL_S = 2.0
_PREFIX, _SPARE = "rr-", ".spare-"
# A socket's path has 107 bytes, and the system's temporary folder may be far down.
_MAX_BASE_CHARS = 60


class Warming:
    """A kernel on its way: started for a kind of wall and a file system, not yet for a session."""

    def __init__(self, sandbox: Sandbox | None, parent: Path) -> None:
        self.sandbox = sandbox
        self.folder = parent / f"{_SPARE}{token_hex(8)}"
        self.live: LiveKernel | None = None
        self.settled = anyio.Event()
        self.failure: KernelError | None = None
        self.scope = anyio.CancelScope()

    def fits(self, sandbox: Sandbox | None, parent: Path) -> bool:
        """Whether it can serve a session there."""
        return self.sandbox == sandbox and self.folder.parent == parent


class Pool:
    """Starts kernels as tasks of its owner's group, and keeps one ahead."""

    def __init__(self, *, spare: bool) -> None:
        self._keeps_spare = spare
        self._spare: Warming | None = None
        self._tasks: anyio.abc.TaskGroup | None = None
        self._base: Path | None = None
        self._lock = -1
        self._preparing = anyio.Lock()

    def open(self, tasks: anyio.abc.TaskGroup) -> None:
        """Kernels live in this group from now on."""
        self._tasks = tasks

    def close(self) -> None:
        """Removes what is left; all kernels have ended before."""
        self._tasks, self._spare = None, None
        if self._base is not None:
            _remove(self._base)
            os.close(self._lock)
            self._base = None

    def warm(self, sandbox: Sandbox | None, parent: Path) -> None:
        """Begins to start a spare of that kind, if none is there."""
        if self._keeps_spare and self._tasks is not None and self._spare is None:
            self._spare = self._begin(sandbox, parent)

    async def take(self, workspace: Workspace, sandbox: Sandbox | None) -> LiveKernel:
        """A kernel whose current folder is the workspace's ``files/``; the next spare follows.

        Raises:
            KernelError: it could not be started, or not be given the workspace.
        """
        parent = workspace.root.absolute().parent
        spare, self._spare = self._spare, None
        if spare is not None and not spare.fits(sandbox, parent):
            spare.scope.cancel()
            spare = None
        live = await self._settle(spare, workspace) if spare is not None else None
        if live is None:
            live = await self._settle(self._begin(sandbox, parent), workspace)
        if live is None:
            raise KernelError("The kernel ended as soon as it was up.")
        if self._tasks is not None:
            self._tasks.start_soon(self._refill, sandbox, parent)
        return live

    async def _settle(self, warming: Warming, workspace: Workspace) -> LiveKernel | None:
        """Waits until it is up and gives it the workspace; None where it died meanwhile."""
        try:
            await warming.settled.wait()
            if warming.failure is not None:
                raise warming.failure
            if warming.live is None or warming.live.dead:
                return None
            await _bind(workspace, warming.folder, warming.live)
        except BaseException:
            warming.scope.cancel()
            raise
        return warming.live

    async def _refill(self, sandbox: Sandbox | None, parent: Path) -> None:
        # The cell that the last one was taken for has the processor first.
        await anyio.sleep(REFILL_S)
        self.warm(sandbox, parent)

    def _begin(self, sandbox: Sandbox | None, parent: Path) -> Warming:
        if self._tasks is None:
            raise KernelError("These kernels are closed; open them with 'async with' first.")
        warming = Warming(sandbox, parent)
        self._tasks.start_soon(self._run, warming)
        return warming

    async def _run(self, warming: Warming) -> None:
        """The life of a kernel, from the first import to the removal of its last folder."""
        try:
            with warming.scope:
                warming.live = await self._prepare(warming)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(warming.live.run)
                    await warming.live.ready.wait()
                    warming.failure = warming.live.failure
                    warming.settled.set()
        except KernelError as error:
            warming.failure = error
        except Exception as error:
            # Whoever waits for the kernel gets the answer; the other kernels go on.
            warming.failure = KernelError(f"The kernel could not be started: {error}.")
            warming.failure.__cause__ = error
        finally:
            if warming.live is None or warming.live.failure:
                warming.failure = warming.failure or KernelError("The kernel was closed before it was up.")
            warming.settled.set()
            if self._spare is warming:
                self._spare = None
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(remove_tree, warming.folder)

    async def _prepare(self, warming: Warming) -> LiveKernel:
        async with self._preparing:
            if self._base is None:
                check_installed()
                await anyio.to_thread.run_sync(write_bytecode)
                base, self._lock = await anyio.to_thread.run_sync(_new_base)
                self._base = base
            base = self._base
        home = Home(base / token_hex(4), warming.sandbox.new_uid() if warming.sandbox else 0)
        await anyio.to_thread.run_sync(_make_folder, base, warming.folder, home.uid)
        return LiveKernel(KernelProcess(home, warming.folder, warming.sandbox))


async def _bind(workspace: Workspace, folder: Path, live: LiveKernel) -> None:
    try:
        await anyio.to_thread.run_sync(workspace.adopt, folder, live.process.home.uid)
    except WorkspaceError as error:
        raise KernelError(f"The kernel could not be given the workspace: {error}") from error


def _make_folder(base: Path, folder: Path, uid: int) -> None:
    """The folder that the kernel will work in; its name is noted, for whoever cleans up after a crash."""
    with (base / "spares").open("a", encoding="utf-8") as notes:
        notes.write(f"{folder}\n")
    make_private(folder)
    if uid:
        os.chown(folder, uid, uid)


def _new_base() -> tuple[Path, int]:
    """This runtime's folder for sockets, short and 0700, locked while it lives; what crashed ones left goes."""
    parent = Path(tempfile.gettempdir())
    if len(str(parent)) > _MAX_BASE_CHARS:
        parent = Path("/tmp")
    for lock in parent.glob(f"{_PREFIX}*/lock"):
        _remove_abandoned(lock)
    base = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    descriptor = os.open(base / "lock.new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.rename(base / "lock.new", base / "lock")
    return base, descriptor


def _remove_abandoned(lock: Path) -> None:
    """Removes the folder of a runtime of ours that is dead, with the spare folders that it had noted."""
    with suppress(OSError):
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if os.fstat(descriptor).st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _end_stranded(lock.parent)
                _remove(lock.parent)
        finally:
            os.close(descriptor)


def _end_stranded(base: Path) -> None:
    """Bubblewrap waits for ever where its other half was ended, with the runtime, while it was starting."""
    within = f"{base}/".encode()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = line.read_bytes().split(b"\0")
            if os.path.basename(words[0]) == b"bwrap" and any(word.startswith(within) for word in words):
                os.kill(int(line.parent.name), signal.SIGKILL)


def _remove(base: Path) -> None:
    with suppress(OSError, UnicodeDecodeError):
        for line in (base / "spares").read_text(encoding="utf-8").splitlines():
            if Path(line).name.startswith(_SPARE):
                remove_tree(Path(line))
    remove_tree(base)
