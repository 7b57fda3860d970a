"""Compiled modules, written once: a kernel sees the packages read-only and would compile them at each start."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import cache_from_source, find_spec
from pathlib import Path

from roles_runtime.kernels.sandbox import bare_environment

TIMEOUT_S = 120.0
# What a kernel imports before its first cell, and a module deep inside by which to see whether it ever was imported.
_IMPORTED = {
    "ipykernel.kernelapp": "zmqshell.py",
    "IPython": "core/interactiveshell.py",
    "pandas": "core/frame.py",
    "matplotlib.pyplot": "pyplot.py",
}


def write_bytecode() -> None:
    """Imports in a process of its own, as any script would, what was never imported here. Blocks for seconds, once."""
    missing = [name for name, file in _IMPORTED.items() if not _is_compiled(name.partition(".")[0], file)]
    if missing:
        with suppress(OSError, subprocess.TimeoutExpired), tempfile.TemporaryDirectory(prefix="rr-home-") as home:
            subprocess.run(
                [sys.executable, "-I", "-c", "\n".join(f"import {name}" for name in missing)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**bare_environment(home), "MPLCONFIGDIR": home},
                timeout=TIMEOUT_S,
                check=False,
            )


def _is_compiled(package: str, file: str) -> bool:
    """Whether there is bytecode, or no such package to compile."""
    found = find_spec(package)
    if found is None or found.origin is None:
        return True
    return Path(cache_from_source(str(Path(found.origin).parent / file))).exists()
