from __future__ import annotations

from pathlib import Path

import pytest

from roles_runtime.errors import KernelLostError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.kernels.workspace import Workspace

pytestmark = pytest.mark.anyio


async def test_steps_are_replayed_in_order_by_each_session(tmp_path: Path) -> None:
    steps = [
        Execution("", "", True, output="1"),
        KernelLostError("it was said to"),
        lambda code: Execution("", "", True, output=code.upper()),
    ]
    async with ScriptedKernels(steps) as kernels:
        for session in ("a", "b"):
            kernel = kernels.open(session, Workspace(tmp_path))
            assert (await kernel.execute("x")).output == "1"
            with pytest.raises(KernelLostError):
                await kernel.execute("y")
            assert (await kernel.execute("z")).output == "Z"
            assert (await kernel.execute("beyond")).is_success
            assert kernel.cells == ["x", "y", "z", "beyond"]


async def test_they_say_what_they_were_told_of_a_sandbox() -> None:
    assert ScriptedKernels().sandboxed
    assert ScriptedKernels().problem == ""
    assert not ScriptedKernels(sandboxed=False).sandboxed
    assert ScriptedKernels(sandboxed=False).problem
