from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import WorkspaceError
from roles_runtime.kernels import workspace as workspace_module
from roles_runtime.kernels.workspace import MAX_NAME_BYTES, Workspace, clean_name


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "session")


def content(workspace: Workspace, name: str) -> bytes:
    with workspace.open(name) as file:
        return file.read()


def test_a_file_is_copied_in_under_its_base_name(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_bytes(b"a,b\n")
    assert workspace.add(tmp_path / "orders.csv") == "orders.csv"
    assert content(workspace, "orders.csv") == b"a,b\n"
    assert stat.S_IMODE((workspace.files / "orders.csv").stat().st_mode) == 0o600
    assert stat.S_IMODE(workspace.root.stat().st_mode) == 0o700


def test_a_taken_name_gets_a_number_unless_the_content_is_the_same(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"one")
    assert [workspace.add(tmp_path / "a.csv"), workspace.add(tmp_path / "a.csv")] == ["a.csv", "a.csv"]
    assert workspace.write("a.csv", b"two") == "a-1.csv"
    assert workspace.write("a.csv", b"two") == "a-1.csv"
    assert workspace.write("a.csv", b"three") == "a-2.csv"
    assert content(workspace, "a.csv") == b"one"


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("../x", "x"),
        ("..\\..\\evil.csv", "evil.csv"),
        ("/etc/passwd", "passwd"),
        ("a\x1b[31m\n\tb.csv", "a[31mb.csv"),
        (".bashrc", "bashrc"),
        ("数据.csv", "数据.csv"),
        ("a\udcffb.csv", "a\ufffdb.csv"),
        ("\u202egpj.exe", "gpj.exe"),
    ],
)
def test_hostile_names_are_cleaned(name: str, clean: str) -> None:
    assert clean_name(name) == clean


@pytest.mark.parametrize("name", ["", "..", ".", "...", "/", "\n", " ", "a/"])
def test_a_name_of_which_nothing_is_left_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(WorkspaceError, match="usable name"):
        workspace.write(name, b"")


@given(st.text(max_size=400))
def test_a_clean_name_is_one_safe_part(name: str) -> None:
    try:
        clean = clean_name(name)
    except WorkspaceError:
        return
    assert "/" not in clean
    assert clean.isprintable()
    assert not clean.startswith(".")
    assert 0 < len(clean.encode()) <= MAX_NAME_BYTES
    assert clean_name(clean) == clean


def test_what_is_no_readable_file_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, problem in (
        (tmp_path / "missing", "no such file"),
        (tmp_path / "pipe", "no regular file"),
        (tmp_path, "no regular file"),
        (Path("/dev/zero"), "no regular file"),
        (tmp_path / "loop", "link"),
        (str(tmp_path / "a\0b"), "it is no path"),
    ):
        with pytest.raises(WorkspaceError, match=problem):
            workspace.add(path)
    assert workspace.snapshot() == {}


def test_a_file_of_more_than_two_gigabytes_is_refused_before_it_is_copied(workspace: Workspace, tmp_path: Path) -> None:
    with (tmp_path / "huge.csv").open("wb") as file:
        file.truncate((2 << 30) + 1)
    with pytest.raises(WorkspaceError, match="larger than 2048 MiB"):
        workspace.add(tmp_path / "huge.csv")
    assert workspace.total_bytes() == 0


def test_a_full_workspace_takes_no_more(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_module, "MAX_WORKSPACE_BYTES", 10_000)
    workspace.write("a", bytes(8_000))
    with pytest.raises(WorkspaceError, match="delete some files"):
        workspace.write("b", bytes(8_000))


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "", ".", "a/../../x", "x\0y", "missing", "dir/missing"])
def test_nothing_outside_is_opened(workspace: Workspace, name: str) -> None:
    with pytest.raises(WorkspaceError):
        workspace.open(name)


def test_links_pipes_and_folders_in_it_are_not_read(workspace: Workspace, tmp_path: Path) -> None:
    workspace.write("real.txt", b"x")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret", encoding="utf-8")
    (workspace.files / "link").symlink_to(tmp_path / "secret" / "key")
    (workspace.files / "folder").symlink_to(tmp_path / "secret")
    (workspace.files / "inner").mkdir()
    os.mkfifo(workspace.files / "pipe")
    for name in ("link", "folder/key", "pipe", "inner"):
        with pytest.raises(WorkspaceError):
            workspace.open(name)
        with pytest.raises(WorkspaceError):
            workspace.keep(name)
    assert list(workspace.snapshot()) == ["real.txt"]


def test_a_folder_of_files_that_became_a_link_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    workspace.root.mkdir()
    workspace.files.symlink_to(tmp_path)
    with pytest.raises(WorkspaceError):
        workspace.snapshot()


def test_the_snapshot_knows_files_in_folders_but_no_dot_files(workspace: Workspace) -> None:
    workspace.write("a.txt", b"12")
    for folder in ("sub", ".git", "__pycache__"):
        (workspace.files / folder).mkdir()
        (workspace.files / folder / "b.txt").write_bytes(b"345")
    (workspace.files / ".hidden").write_bytes(b"")
    assert {name: size for name, (_, size) in workspace.snapshot().items()} == {"a.txt": 2, "sub/b.txt": 3}


def test_kept_files_are_addressed_by_their_content(workspace: Workspace) -> None:
    workspace.write("a.png", b"pixels")
    kept = workspace.keep("a.png")
    again = workspace.keep_bytes("other.png", b"pixels", "image/png")
    assert kept.path == again.path
    assert Path(kept.path).read_bytes() == b"pixels"
    assert (kept.mime, kept.name, kept.size_bytes) == ("image/png", "a.png", 6)
    assert [path.name for path in workspace.artifacts.iterdir()] == [f"{kept.sha256}.png"]
    assert stat.S_IMODE(Path(kept.path).stat().st_mode) == 0o600


def test_a_file_that_is_too_large_is_not_kept(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_module, "MAX_ARTIFACT_BYTES", 3)
    workspace.write("a", b"1234")
    with pytest.raises(WorkspaceError, match="larger"):
        workspace.keep("a")
    with pytest.raises(WorkspaceError, match="larger"):
        workspace.keep_bytes("a", b"1234", "text/plain")


def test_an_adopted_folder_becomes_the_files_and_keeps_its_identity(workspace: Workspace, tmp_path: Path) -> None:
    workspace.write("mine.txt", b"x")
    (workspace.files / "sealed").mkdir(mode=0o500)
    spare = tmp_path / "spare"
    spare.mkdir(mode=0o700)
    identity = spare.stat().st_ino
    workspace.adopt(spare)
    assert workspace.files.stat().st_ino == identity
    assert content(workspace, "mine.txt") == b"x"
    assert (workspace.files / "sealed").is_dir()
    assert not spare.exists()


def test_an_adoption_that_was_cut_off_loses_nothing(workspace: Workspace) -> None:
    workspace.write("left.txt", b"left")
    half = workspace.root / "files.next"
    half.mkdir(mode=0o700)
    (half / "moved.txt").write_bytes(b"moved")
    assert sorted(workspace.snapshot()) == ["left.txt", "moved.txt"]
    assert not half.exists()


def test_a_folder_that_can_not_be_adopted_is_an_error_and_nothing_is_lost(workspace: Workspace, tmp_path: Path) -> None:
    workspace.write("mine.txt", b"x")
    with pytest.raises(WorkspaceError):
        workspace.adopt(tmp_path / "missing")
    assert content(workspace, "mine.txt") == b"x"
