"""Kernels are shared between tests as far as they can be: each costs a second."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path

import pytest

from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.local import LocalKernel, LocalKernels
from roles_runtime.kernels.workspace import Workspace

_numbers = count()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def kernels(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalKernels]:
    async with LocalKernels(max_live=20) as opened:
        yield opened


@pytest.fixture(scope="session")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture(scope="session")
def new_session(kernels: LocalKernels, sessions: Path) -> Callable[..., tuple[LocalKernel, Workspace]]:
    def new(*, sandbox: bool = True) -> tuple[LocalKernel, Workspace]:
        name = f"s{next(_numbers)}"
        workspace = Workspace(sessions / name)
        return kernels.open(name, workspace, sandbox=sandbox), workspace

    return new


class Session:
    """A kernel with its workspace, for tests that leave it as they found it."""

    def __init__(self, kernel: LocalKernel, workspace: Workspace) -> None:
        self.kernel, self.workspace = kernel, workspace

    async def __call__(self, code: str, timeout_s: float = 60.0) -> Execution:
        return await self.kernel.execute(code, timeout_s=timeout_s)


@pytest.fixture(scope="session", params=["walled", "plain"])
async def either(
    request: pytest.FixtureRequest, new_session: Callable[..., tuple[LocalKernel, Workspace]]
) -> AsyncIterator[Session]:
    kernel, workspace = new_session(sandbox=request.param == "walled")
    yield Session(kernel, workspace)
    await kernel.aclose()


@pytest.fixture(scope="session")
async def walled(new_session: Callable[..., tuple[LocalKernel, Workspace]]) -> AsyncIterator[Session]:
    kernel, workspace = new_session()
    yield Session(kernel, workspace)
    await kernel.aclose()


@pytest.fixture
async def doomed(new_session: Callable[..., tuple[LocalKernel, Workspace]]) -> AsyncIterator[Session]:
    """One of its own, for a test that breaks it."""
    kernel, workspace = new_session()
    yield Session(kernel, workspace)
    await kernel.aclose()
