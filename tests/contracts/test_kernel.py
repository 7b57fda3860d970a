"""What every maker of kernels keeps."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from roles_runtime.errors import KernelError, KernelLostError
from roles_runtime.kernels.kernel import Execution, Kernel, Kernels
from roles_runtime.kernels.local import LocalKernels
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.kernels.workspace import Workspace

pytestmark = pytest.mark.anyio

_FAILS = "raise ValueError('no')"
_DIES = "import os; os._exit(1)"
_DIES_LATER = "import os, threading, time; threading.Thread(target=lambda: (time.sleep(0.1), os._exit(1))).start()"
_SCRIPT = {
    "6 * 7": Execution("", "", True, output="42"),
    "print('said')": Execution("", "", True, stdout=("said\n",)),
    _FAILS: Execution("", "", error="ValueError: no", outcome="error"),
    _DIES: Execution("", "", error="The kernel was lost; its variables are gone.", outcome="lost"),
    "'after the loss'": KernelLostError("it died"),
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=["scripted", "walled", "plain"])
async def kernels(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[Kernels]:
    made: Kernels = ScriptedKernels(_SCRIPT) if request.param == "scripted" else LocalKernels()
    async with made as opened:
        yield opened


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("contract")


@pytest.fixture
async def kernel(kernels: Kernels, root: Path, request: pytest.FixtureRequest) -> Kernel:
    return kernels.open("shared", Workspace(root / "shared"), sandbox="plain" not in request.node.name)


async def test_it_fulfils_the_protocols(kernels: Kernels, kernel: Kernel) -> None:
    assert isinstance(kernels, Kernels)
    assert isinstance(kernel, Kernel)
    assert kernels.sandboxed == (kernels.problem == "")


async def test_a_cell_comes_back_as_an_execution(kernel: Kernel) -> None:
    done = await kernel.execute("6 * 7", timeout_s=60)
    assert re.fullmatch("exec-[0-9a-f]{12}", done.execution_id)
    assert (done.code, done.is_success, done.output, done.outcome) == ("6 * 7", True, "42", "ok")
    assert (await kernel.execute("print('said')")).stdout == ("said\n",)


async def test_a_cell_that_fails_is_an_execution_too(kernel: Kernel) -> None:
    done = await kernel.execute(_FAILS)
    assert (done.is_success, done.outcome) == (False, "error")
    assert done.error is not None
    assert "ValueError: no" in done.error


async def test_cells_given_side_by_side_all_come_back(kernel: Kernel) -> None:
    seen: list[str] = []

    async def run() -> None:
        seen.append((await kernel.execute("6 * 7")).output)

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(run)
    assert seen == ["42"] * 4


async def test_opening_a_session_again_gives_its_kernel_until_it_is_released(
    kernels: Kernels, root: Path, request: pytest.FixtureRequest
) -> None:
    walled = "plain" not in request.node.name
    workspace = Workspace(root / "again")
    first = kernels.open("again", workspace, sandbox=walled)
    assert kernels.open("again", workspace, sandbox=walled) is first
    await kernels.release("again")
    await kernels.release("again")
    assert kernels.open("again", workspace, sandbox=walled) is not first
    with pytest.raises(KernelError, match="closed"):
        await first.execute("6 * 7")


async def test_a_cell_that_kills_its_kernel_is_told_of_and_closing_twice_changes_nothing(
    kernels: Kernels, root: Path, request: pytest.FixtureRequest
) -> None:
    mortal = kernels.open("mortal", Workspace(root / "mortal"), sandbox="plain" not in request.node.name)
    done = await mortal.execute(_DIES)
    assert (done.is_success, done.outcome) == (False, "lost")
    assert done.error is not None
    assert "variables are gone" in done.error
    assert (await mortal.execute("6 * 7")).output == "42"
    await mortal.aclose()
    await mortal.aclose()


async def test_a_loss_between_cells_is_raised_once(
    kernels: Kernels, root: Path, request: pytest.FixtureRequest
) -> None:
    mortal = kernels.open("between", Workspace(root / "between"), sandbox="plain" not in request.node.name)
    await mortal.execute(_DIES_LATER)
    await anyio.sleep(1)
    with pytest.raises(KernelLostError):
        await mortal.execute("'after the loss'")
    assert (await mortal.execute("6 * 7")).output == "42"
    await mortal.aclose()
