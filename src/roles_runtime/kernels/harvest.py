"""What a cell left behind: displayed images and new or changed files, kept as artifacts."""

from __future__ import annotations

from collections.abc import Mapping

from roles_runtime.errors import WorkspaceError
from roles_runtime.kernels.cell import Cell
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.posts.conversation import ArtifactRef

MAX_FILES = 100
MAX_TOTAL_BYTES = 512 << 20
"""Of the files of one cell."""
MAX_KEPT_BYTES = 4 << 30
"""Of all artifacts of a session; what code makes anew in each cell would fill any disk."""

Snapshot = Mapping[str, tuple[int, int]]


def keep_all(workspace: Workspace, cell: Cell, before: Snapshot) -> tuple[ArtifactRef, ...]:
    """Keeps a cell's images and files; what can not be kept is said in the cell's log. Blocks.

    Args:
        workspace: Where the cell worked.
        cell: It has ended.
        before: The workspace as it was when the cell began.
    """
    kept: list[ArtifactRef] = []
    for image in cell.images:
        try:
            kept.append(workspace.keep_bytes(image.name, image.content, image.mime))
        except WorkspaceError as error:
            cell.note(str(error))
    try:
        after = workspace.snapshot()
    except WorkspaceError as error:
        cell.note(str(error))
        return tuple(kept)
    return (*kept, *_keep_files(workspace, cell, changed_files(before, after), after))


def changed_files(before: Snapshot, after: Snapshot) -> list[str]:
    """Names that are new or whose time or size is another, oldest first."""
    return sorted((name for name in after if before.get(name) != after[name]), key=lambda name: (after[name][0], name))


def _keep_files(workspace: Workspace, cell: Cell, names: list[str], sizes: Snapshot) -> list[ArtifactRef]:
    kept: list[ArtifactRef] = []
    room = min(MAX_TOTAL_BYTES, MAX_KEPT_BYTES - workspace.kept_bytes())
    for name in names[:MAX_FILES]:
        if sizes[name][1] > room:
            cell.note(
                f"{name}: not kept; the files of a cell may take {MAX_TOTAL_BYTES >> 20} MiB, "
                f"those of a session {MAX_KEPT_BYTES >> 20} MiB."
            )
            continue
        try:
            kept.append(workspace.keep(name))
        except WorkspaceError as error:
            cell.note(str(error))
        else:
            room -= kept[-1].size_bytes
    if len(names) > MAX_FILES:
        cell.note(f"{len(names) - MAX_FILES} more files were not kept; write fewer, or an archive of them.")
    return kept
