from __future__ import annotations

from pathlib import Path

import pytest

from roles_runtime.errors import DocumentError
from roles_runtime.memory.examples import load_examples
from roles_runtime.posts.conversation import Conversation, Round
from roles_runtime.posts.post import Post


def _write(path: Path, query: str, *, enabled: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    posts = [
        Post.create(query, "User", "Planner"),
        Post.create("do it", "Planner", "CodeInterpreter"),
        Post.create("done", "CodeInterpreter", "Planner"),
        Post.create("there", "Planner", "User"),
    ]
    conversation = Conversation.create([Round.create(query, post_list=posts)])
    conversation.enabled = enabled
    conversation.to_yaml(path)


@pytest.mark.parametrize("sub_path", ["", "sub"])
@pytest.mark.parametrize(
    ("roles", "count"),
    [  # TW-69
        ({"Planner", "User", "CodeInterpreter"}, 1),
        (None, 1),
        ({"Planner"}, 0),
        ({"User"}, 0),
        ({"Planner", "User", "Other"}, 0),
        ({"Planner", "User", "CodeInterpreter", "Other"}, 1),
    ],
)
def test_an_example_is_loaded_where_all_its_roles_are_in_the_set(
    tmp_path: Path, sub_path: str, roles: set[str] | None, count: int
) -> None:
    _write(tmp_path / sub_path / "example.yaml", "q")
    assert len(load_examples(tmp_path, roles, sub_path)) == count


def test_examples_come_by_name_and_disabled_ones_and_other_files_do_not(tmp_path: Path) -> None:
    _write(tmp_path / "b.yaml", "second")
    _write(tmp_path / "a.yaml", "first")
    _write(tmp_path / "c.yaml", "off", enabled=False)
    (tmp_path / "README.md").write_text("no example", encoding="utf-8")
    assert [each.rounds[0].user_query for each in load_examples(tmp_path)] == ["first", "second"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"planner_examples: there is no such folder"):
        load_examples(tmp_path / "planner_examples")


def test_a_sub_path_can_not_leave_the_folder(tmp_path: Path) -> None:
    _write(tmp_path / "other" / "example.yaml", "q")
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "link").symlink_to(tmp_path / "other")
    for sub_path in ("../other", str(tmp_path / "other"), "link"):
        with pytest.raises(DocumentError, match="leads out of the folder"):
            load_examples(tmp_path / "examples", None, sub_path)


def test_a_broken_example_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("enabled: true\nrounds: [", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"broken\.yaml, line \d"):
        load_examples(tmp_path)
