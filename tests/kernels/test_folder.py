from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from roles_runtime.kernels import folder as folder_module
from roles_runtime.kernels.folder import excess_below, own_everything, remove_tree
from roles_runtime.kernels.workspace import Workspace

SOMEBODY = 65_534
DEEPER_THAN_A_STACK = 3_000


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of a user whom permissions bind; root is none, so that it turns into one."""
    made = Path(tempfile.mkdtemp(prefix="rr-test-"))
    was = os.geteuid()
    if was == 0:
        os.chown(made, SOMEBODY, SOMEBODY)
        os.seteuid(SOMEBODY)
    try:
        yield made
    finally:
        os.seteuid(was)
        remove_tree(made)
        assert not made.exists()


def _dig(root: Path, levels: int) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        here, above = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_a_tree_that_is_deeper_than_any_stack_is_removed(tmp_path: Path) -> None:
    _dig(tmp_path, DEEPER_THAN_A_STACK)
    (tmp_path / "wide").mkdir()
    for n in range(50):
        (tmp_path / "wide" / f"{n}").mkdir()
        (tmp_path / "wide" / f"{n}" / "file").write_text("x", encoding="utf-8")
    remove_tree(tmp_path)
    assert not tmp_path.exists()


def test_what_a_link_leads_to_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x", encoding="utf-8")
    (tmp_path / "gone" / "below").mkdir(parents=True)
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "gone" / "below" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "itself").symlink_to(tmp_path / "kept")
    remove_tree(tmp_path / "gone")
    remove_tree(tmp_path / "itself")
    remove_tree(tmp_path / "missing")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["itself", "kept"]
    assert (tmp_path / "kept" / "file").exists()


def test_a_tree_without_permissions_is_removed(unprivileged: Path) -> None:
    (unprivileged / "top" / "a" / "b").mkdir(parents=True)
    (unprivileged / "top" / "a" / "b" / "file").write_text("x", encoding="utf-8")
    for folder in ("top/a/b", "top/a", "top"):
        (unprivileged / folder).chmod(0)
    remove_tree(unprivileged / "top")
    assert list(unprivileged.iterdir()) == []


@pytest.mark.parametrize("locked", ["files/deny", "files"])
@pytest.mark.parametrize("mode", [0o000, 0o500, 0o300])
def test_a_folder_without_permissions_locks_no_session_out(unprivileged: Path, locked: str, mode: int) -> None:
    workspace = Workspace(unprivileged / "s")
    workspace.write("old.txt", b"old")
    (workspace.files / "deny").mkdir()
    (workspace.files / "deny" / "file").write_text("x", encoding="utf-8")
    (unprivileged / "s" / locked).chmod(mode)
    fresh = unprivileged / "fresh"
    fresh.mkdir()
    workspace.adopt(fresh)
    assert workspace.write("new.txt", b"new") == "new.txt"
    with workspace.open("old.txt") as old:
        assert old.read() == b"old"
    assert set(workspace.snapshot()) >= {"old.txt", "new.txt", "deny/file"}


def test_own_everything_ends_at_some_depth_and_not_with_an_error(tmp_path: Path) -> None:
    _dig(tmp_path, DEEPER_THAN_A_STACK)
    own_everything(tmp_path, os.geteuid())
    remove_tree(tmp_path)


def test_too_much_is_found_however_it_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert excess_below(tmp_path, 1 << 20) == ""
    assert excess_below(tmp_path / "missing", 1 << 20) == ""
    hidden = tmp_path.joinpath(*[".d"] * 20)
    hidden.mkdir(parents=True)
    (hidden / ".big").write_bytes(b"x" * (2 << 20))
    assert excess_below(tmp_path, 1 << 20) == "more than 1 MiB"
    assert excess_below(tmp_path, 10 << 20) == ""
    monkeypatch.setattr(folder_module, "MAX_ENTRIES", 10)
    assert excess_below(tmp_path, 10 << 20) == "more than 10 files"


def test_folders_that_nobody_can_follow_are_too_much(tmp_path: Path) -> None:
    _dig(tmp_path, folder_module.MAX_NESTED)
    assert excess_below(tmp_path, 1 << 30) == ""
    _dig(tmp_path.joinpath(*["d"] * folder_module.MAX_NESTED), 1)
    assert excess_below(tmp_path, 1 << 30) == f"folders nested deeper than {folder_module.MAX_NESTED}"


def test_what_a_user_handed_over_is_not_held_against_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roles_runtime.kernels.workspace.MAX_WORKSPACE_BYTES", 1 << 20)
    workspace = Workspace(tmp_path)
    (tmp_path / "large.csv").write_bytes(b"x" * (3 << 20))
    name = workspace.add(tmp_path / "large.csv")
    assert workspace.excess() == ""
    assert Workspace(tmp_path).add(tmp_path / "large.csv") == name
    (workspace.files / "made").write_bytes(b"y" * (2 << 20))
    assert workspace.excess() == "more than 4 MiB"
