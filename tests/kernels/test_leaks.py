# ruff: noqa: ASYNC110, ASYNC220, ASYNC240
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import psutil
import pytest

from roles_runtime.kernels.local import LocalKernels
from roles_runtime.kernels.workspace import Workspace

pytestmark = pytest.mark.anyio

_RUNTIME = """
import sys, time, anyio
from pathlib import Path
from roles_runtime.kernels.local import LocalKernels
from roles_runtime.kernels.workspace import Workspace

async def main():
    async with LocalKernels() as kernels:
        kernel = kernels.open("s", Workspace(Path(sys.argv[1]) / "s"), sandbox=sys.argv[2] == "walled")
        await kernel.execute("1")
        print("up", flush=True)
        await kernel.execute("while True: pass")

anyio.run(main)
"""

# Killed when bubblewrap has been started, and has not bound itself to its parent's life yet.
_KILLED_EARLY = """
import os
from roles_runtime.kernels.process import KernelProcess
KernelProcess._watch_inner = lambda self, told: os.kill(os.getpid(), 9)
"""


def _kernel_processes(folder: Path) -> list[psutil.Process]:
    """Processes of kernels whose own folder is there; both walls show it in their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(folder) in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("sandbox", [True, False])
async def test_nothing_is_left_when_kernels_close(temporary: Path, tmp_path: Path, sandbox: bool) -> None:
    process = psutil.Process()
    before = len(process.net_connections("unix")), process.num_fds()
    others = set(process.children(recursive=True))
    async with LocalKernels() as kernels:
        kernel = kernels.open("a", Workspace(tmp_path / "a"), sandbox=sandbox)
        await kernel.execute("import subprocess; subprocess.Popen(['sleep', '1000']); open('f', 'w')")
        assert _kernel_processes(temporary)
        children = set(process.children(recursive=True)) - others
    assert not _kernel_processes(temporary)
    # A whole namespace that is killed takes a moment to be gone.
    _, left = psutil.wait_procs(children, timeout=2)
    assert not [child for child in left if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert list(temporary.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (len(process.net_connections("unix")), process.num_fds()) <= (before[0], before[1] + 2)


async def test_nothing_is_left_when_the_loop_is_cancelled_in_the_middle(temporary: Path, tmp_path: Path) -> None:
    for wait in (0.02, 0.3, 0.8):
        with anyio.move_on_after(wait):
            async with LocalKernels() as kernels:
                kernel = kernels.open("a", Workspace(tmp_path / "a"), sandbox=False)
                await kernel.execute("import time; time.sleep(100)")
        assert not _kernel_processes(temporary)
        assert list(temporary.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["a"] or list(tmp_path.iterdir()) == []


async def test_a_closed_kernel_ends_its_running_cell_and_closing_again_changes_nothing(
    new_session: Callable,
) -> None:
    kernel, _ = new_session(sandbox=False)
    outcomes = []

    async def run() -> None:
        outcomes.append((await kernel.execute("import time; time.sleep(100)")).outcome)

    await kernel.execute("1")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await anyio.sleep(0.3)
            await kernel.aclose()
            await kernel.aclose()
    assert outcomes == ["lost"]


async def test_what_a_runtime_killed_while_a_kernel_starts_leaves_is_tidied_up(temporary: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    words = [sys.executable, "-c", _KILLED_EARLY + _RUNTIME, str(tmp_path), "walled"]
    for _ in range(6):
        done = await anyio.run_process(words, env=environment, check=False)
        assert done.returncode == -signal.SIGKILL
    async with LocalKernels(spare=False) as kernels:
        await kernels.open("s", Workspace(tmp_path / "s")).execute("1")
    with anyio.fail_after(20):
        while _kernel_processes(temporary):
            await anyio.sleep(0.05)


@pytest.mark.parametrize("wall", ["walled", "plain"])
async def test_a_killed_runtime_takes_its_kernels_along_and_the_next_one_tidies_up(
    temporary: Path, tmp_path: Path, wall: str
) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", _RUNTIME, str(tmp_path), wall], stdout=subprocess.PIPE, env=environment
    ) as runtime:
        assert runtime.stdout is not None
        assert runtime.stdout.readline() == b"up\n"
        assert _kernel_processes(temporary)
        await anyio.sleep(3)
        runtime.send_signal(signal.SIGKILL)
    with anyio.fail_after(20):
        while _kernel_processes(temporary):
            await anyio.sleep(0.05)
    async with LocalKernels(spare=False) as kernels:
        kernel = kernels.open("s", Workspace(tmp_path / "s"), sandbox=False)
        await kernel.execute("1")
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["s"]
