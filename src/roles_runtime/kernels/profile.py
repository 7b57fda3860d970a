"""The profile cell: what the files of a session hold, seen from inside a kernel, never by the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources

from roles_runtime.errors import DocumentError, KernelError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.posts.shared import FileProfiles

_MARK = "file profiles: "


def profile_code(names: Sequence[str]) -> str:
    """A cell that profiles files of the workspace and prints the result; it leaves no name behind.

    Args:
        names: As `Workspace.add` returned them. They enter the code by repr.
    """
    return f"exec({_source()!r}, {{'__name__': 'file_profiles', 'NAMES': {[str(name) for name in names]!r}}})"


def read_profiles(execution: Execution) -> FileProfiles:
    """The profiles that such a cell printed. A file that is no table is among them, with its problem.

    Raises:
        KernelError: the cell did not come to its end, or printed something else.
    """
    lines = "".join(execution.stdout).split("\n")
    found = next((line for line in reversed(lines) if line.startswith(_MARK)), None)
    if found is None:
        why = (execution.error or "it printed nothing").strip().splitlines()[-1]
        raise KernelError(f"The files could not be looked at: {why}")
    try:
        return FileProfiles.from_json(found.removeprefix(_MARK))
    except DocumentError as error:
        raise KernelError(f"The files could not be looked at: {error}") from error


@cache
def _source() -> str:
    return (resources.files("roles_runtime.kernels") / "inside" / "profile_cell.py").read_text(encoding="utf-8")
