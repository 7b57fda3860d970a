"""What starting costs: imports, the first question of a process, and the way to the kernel in a warm session.

Interleaved with the raw limit of each in one run; medians and ratios are printed. ``python benchmarks/start.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GROUND = "import anyio, msgspec, structlog; from pydantic import BaseModel"
LAZY = "import roles_runtime"
WHOLE = "import roles_runtime as r\nfor name in r.__all__: getattr(r, name)"

BARE_KERNEL = """
from jupyter_client import KernelManager
manager = KernelManager()
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
client.execute_interactive(CELL, timeout=60, output_hook=lambda _: None)
client.stop_channels()
manager.shutdown_kernel(now=True)
"""

FIRST_ASK = """
import anyio
from roles_runtime import Post, Role, Runtime, Team, Turn
class Coder(Role):
    name = "Coder"
    needs_kernel = True
    async def reply(self, turn: Turn) -> Post:
        execution = await turn.kernel.execute(CELL)
        assert execution.is_success, execution.error
        return turn.answer(execution.output, "User")
async def main():
    async with Runtime(Team(Coder()), data_dir=FOLDER) as runtime:
        session = await runtime.session()
        ended = await session.ask("go")
        assert ended.reply is not None, ended.detail
        print(runtime.ground.kernels.sandboxed)
anyio.run(main)
"""

CELL = "import pandas as pd, matplotlib.pyplot as plt; pd.Series([1, 2]).sum()"


def wall(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return time.perf_counter() - start


async def way_to_the_kernel(folder: Path, times: int) -> tuple[float, float]:
    """Seconds from ask() to the kernel's execute_request, and of a whole ask with one trivial cell."""
    from roles_runtime import Event, Post, Role, Runtime, Team, Turn
    from roles_runtime.posts.event import CellStarted

    class Coder(Role):
        name = "Coder"
        needs_kernel = True

        async def reply(self, turn: Turn) -> Post:
            assert turn.kernel is not None
            execution = await turn.kernel.execute("import time; time.time()")
            return turn.answer(execution.output, "User")

    started: list[float] = []

    def listen(event: Event) -> None:
        if isinstance(event, CellStarted):
            started.append(time.perf_counter())

    to_request, whole = [], []
    async with Runtime(Team(Coder()), data_dir=folder) as runtime:
        session = await runtime.session()
        await session.ask("warm up")
        for _ in range(times):
            asked_at, clock_at = time.perf_counter(), time.time()
            ended = await session.ask("go", on_event=listen)
            whole.append(time.perf_counter() - asked_at)
            assert ended.reply is not None
            # The kernel's own clock says when the cell began: later than the request reached it.
            to_request.append(float(ended.reply.message) - clock_at)
    return statistics.median(to_request), statistics.median(whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    cell = f"CELL = {CELL!r}\n"
    with tempfile.TemporaryDirectory() as folder:
        first = f"{cell}FOLDER = {folder!r}\n{FIRST_ASK}"
        cases = {"ground": GROUND, "lazy": LAZY, "whole": WHOLE, "bare kernel": cell + BARE_KERNEL, "first ask": first}
        taken: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(repeats):
            for name, code in cases.items():
                taken[name].append(wall(code))
        median = {name: statistics.median(values) for name, values in taken.items()}
        to_request, whole = asyncio.run(way_to_the_kernel(Path(folder), 20))
    print(json.dumps({name: round(value, 3) for name, value in median.items()}))
    print(f"import roles_runtime / ground          {median['lazy'] / median['ground']:.2f}  (gate 1.3)")
    print(f"import of all its names / ground       {median['whole'] / median['ground']:.2f}")
    bound = 1.3 * median["bare kernel"] + 1.0
    print(f"first ask of a process                 {median['first ask']:.2f} s, bound {bound:.2f} s")
    print(f"from ask() into the kernel's cell      {to_request * 1e3:.1f} ms (gate 50)")
    print(f"a whole ask with one trivial cell      {whole * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
