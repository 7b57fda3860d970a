from __future__ import annotations

from pathlib import Path

import pytest

from roles_runtime.kernels import harvest
from roles_runtime.kernels.cell import Cell
from roles_runtime.kernels.harvest import keep_all
from roles_runtime.kernels.workspace import Workspace


def test_code_that_writes_anew_in_each_cell_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harvest, "MAX_KEPT_BYTES", 2 << 20)
    workspace = Workspace(tmp_path)
    kept, notes = 0, ""
    for n in range(5):
        before = workspace.snapshot()
        (workspace.files / "same name").write_bytes(bytes([n]) * (800 << 10))
        cell = Cell("…")
        kept += len(keep_all(workspace, cell, before))
        notes += "".join(text for _, _, text in cell.log)
    assert kept == 2
    assert "those of a session 2 MiB" in notes
    assert workspace.kept_bytes() < 2 << 20
