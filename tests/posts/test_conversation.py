from __future__ import annotations

import re
from pathlib import Path

import pytest

from roles_runtime.errors import DocumentError
from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.conversation import Conversation, Round, RoundState
from roles_runtime.posts.post import Post
from roles_runtime.posts.shared import SharedMemoryEntry

SEED_EXAMPLE = """\
enabled: True
rounds:
  - user_query: count the rows of /home/data.csv
    state: created
    post_list:
      - message: count the rows of /home/data.csv
        send_from: User
        send_to: Planner
        attachment_list:
      - message: Please load the data file /home/data.csv and count the rows of the loaded data
        send_from: Planner
        send_to: CodeInterpreter
        attachment_list:
          - type: init_plan
            content: |-
              1. load the data file
              2. count the rows of the loaded data <narrow depend on 1>
              3. report the result to the user <wide depend on 2>
          - type: plan
            content: |-
              1. instruct CodeInterpreter to load the data file and count the rows of the loaded data
              2. report the result to the user
          - type: current_plan_step
            content: 1. instruct CodeInterpreter to load the data file and count the rows of the loaded data
      - message: Load the data file /home/data.csv successfully and there are 100 rows in the data file
        send_from: CodeInterpreter
        send_to: Planner
        attachment_list:
      - message: The data file /home/data.csv is loaded and there are 100 rows in the data file
        send_from: Planner
        send_to: User
        attachment_list:
          - type: init_plan
            content: |-
              1. load the data file
              2. count the rows of the loaded data <narrow depend on 1>
              3. report the result to the user <wide depend on 2>
          - type: plan
            content: |-
              1. instruct CodeInterpreter to load the data file and count the rows of the loaded data
              2. report the result to the user
          - type: current_plan_step
            content: 2. report the result to the user
"""


def _conversation() -> Conversation:
    entry = SharedMemoryEntry.create("plan", "round", "1. 计数")
    posts = [
        Post.create("统计行数\n第二行", "User", "Planner"),
        Post.create("yes", "Planner", "User", [Attachment.create("shared_memory_entry", "", extra=entry)]),
    ]
    finished = Round.create("统计行数", state=RoundState.finished, post_list=posts)
    return Conversation.create([finished, Round.create("next")])


def test_a_round_becomes_a_dict_with_its_keys_in_order_and_back() -> None:  # TW-33
    made = _conversation().rounds[0]
    assert list(made.to_dict()) == ["id", "user_query", "state", "post_list"]
    assert made.to_dict()["state"] == "finished"
    assert Round.from_dict(made.to_dict(), keep_id=True) == made
    example = Round.from_dict(made.to_dict())
    assert re.fullmatch(r"round-[0-9a-f]{12}", example.id)
    assert {post.id for post in example.post_list}.isdisjoint({post.id for post in made.post_list})


def test_a_round_without_posts_or_state_is_a_new_one() -> None:
    loaded = Round.from_dict({"user_query": "q", "post_list": None})
    assert (loaded.state, loaded.post_list) == (RoundState.created, [])


def test_only_a_finished_round_has_a_reply() -> None:
    finished, created = _conversation().rounds
    assert finished.reply is finished.post_list[1]
    assert created.reply is None
    finished.change_round_state(RoundState.failed)
    assert finished.reply is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"post_list": []}, "user_query"),
        ({"user_query": "q", "post_list": 3}, "post_list"),
        ({"user_query": "q", "post_list": ["x"]}, "post_list"),
        ({"user_query": "q", "state": "asleep"}, "created, finished or failed"),
    ],
)
def test_a_round_of_the_wrong_shape_is_refused(content: dict[str, object], problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        Round.from_dict(content)


def test_a_conversation_becomes_a_dict_with_its_keys_in_order_and_back() -> None:
    made = _conversation()
    assert list(made.to_dict()) == ["id", "plugins", "roles", "enabled", "rounds"]
    back = Conversation.from_dict(made.to_dict(), keep_id=True)
    assert (back.id, back.rounds, back.roles) == (made.id, made.rounds, ["Planner", "User"])


@pytest.mark.parametrize(
    "content",
    [{}, {"enabled": True}, {"rounds": []}, {"enabled": "yes", "rounds": []}, {"enabled": True, "rounds": ["x"]},
     {"enabled": True, "rounds": [], "plugins": "p"}],
)  # fmt: skip
def test_a_conversation_of_the_wrong_shape_is_refused(content: dict[str, object]) -> None:
    with pytest.raises(DocumentError, match=r"^conversation: "):
        Conversation.from_dict(content)


def test_the_seeds_example_loads(tmp_path: Path) -> None:
    path = tmp_path / "example-planner.yaml"
    path.write_text(SEED_EXAMPLE, encoding="utf-8")
    loaded = Conversation.from_yaml(path)
    assert (loaded.enabled, loaded.roles) == (True, ["CodeInterpreter", "Planner", "User"])
    assert re.fullmatch(r"conv-[0-9a-f]{12}", loaded.id)
    (only,) = loaded.rounds
    assert [(post.send_from, post.send_to) for post in only.post_list] == [
        ("User", "Planner"),
        ("Planner", "CodeInterpreter"),
        ("CodeInterpreter", "Planner"),
        ("Planner", "User"),
    ]
    assert [len(post.attachment_list) for post in only.post_list] == [0, 3, 0, 3]
    assert only.post_list[1].get_attachment("init_plan")[0].content.splitlines()[1] == (
        "2. count the rows of the loaded data <narrow depend on 1>"
    )
    assert only.post_list[3].get_attachment("current_plan_step")[0].content == "2. report the result to the user"


def test_a_saved_conversation_loads_as_itself(tmp_path: Path) -> None:
    made, path = _conversation(), tmp_path / "saved.yaml"
    made.to_yaml(path)
    loaded = Conversation.from_yaml(path, keep_id=True)
    assert (loaded.id, loaded.rounds) == (made.id, made.rounds)
    assert "统计行数\n" in path.read_text(encoding="utf-8")


def test_a_document_of_the_wrong_shape_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("enabled: true\nrounds:\n  - post_list: []\n", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"wrong\.yaml: round: it needs a 'user_query'"):
        Conversation.from_yaml(path)
