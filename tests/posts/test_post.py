from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from roles_runtime.errors import DocumentError, PostSealedError
from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.post import UNKNOWN, Post, RecalledPost, seal
from roles_runtime.posts.shared import SharedMemoryEntry


def _post(*attachments: Attachment) -> Post:
    return Post.create("hello", "User", "Planner", list(attachments))


def test_a_new_post_has_an_identity_and_sane_defaults() -> None:  # TW-33
    post = Post.create(None, "User")
    assert re.fullmatch(r"post-\d{8}-\d{6}-[0-9a-f]{8}", post.id)
    assert (post.message, post.send_to, list(post.attachment_list)) == ("", UNKNOWN, [])
    assert not post.sealed


def test_two_posts_made_without_attachments_share_no_list() -> None:
    first, second = Post.create("a", "User"), Post.create("b", "User")
    first.add_attachment(Attachment.create("plan", "p"))
    assert list(second.attachment_list) == []


def test_attachments_are_added_got_by_type_and_deleted_by_types() -> None:
    post = _post()
    plan, one, two = (Attachment.create(*each) for each in (("plan", "p"), ("thought", "1"), ("thought", "2")))
    for each in (one, plan, two):
        post.add_attachment(each)
    assert post.get_attachment("thought") == [one, two]
    post.del_attachment(["thought", "stop"])
    assert list(post.attachment_list) == [plan]


def test_it_becomes_a_dict_with_its_keys_in_order() -> None:  # TW-33
    assert list(_post().to_dict()) == ["id", "message", "send_from", "send_to", "attachment_list"]


def test_loaded_as_an_example_it_is_another_post_with_the_same_attachments() -> None:
    made = _post(Attachment.create("plan", "p"))
    loaded = Post.from_dict(made.to_dict())
    assert re.fullmatch(r"post-[0-9a-f]{12}", loaded.id)
    assert loaded.attachment_list[0].id == made.attachment_list[0].id


def test_loaded_from_a_journal_it_is_the_same_post() -> None:
    made = _post(Attachment.create("plan", "p"))
    assert Post.from_dict(made.to_dict(), keep_id=True) == made


def test_null_attachments_are_none_and_a_null_message_is_empty() -> None:  # TW-33
    loaded = Post.from_dict({"message": None, "send_from": "A", "send_to": "B", "attachment_list": None})
    assert (loaded.message, list(loaded.attachment_list)) == ("", [])


@pytest.mark.parametrize(
    "change",
    [
        {"attachment_list": ...},
        {"attachment_list": "plan"},
        {"attachment_list": ["plan"]},
        {"message": 3},
        {"send_from": None},
        {"send_to": 7},
    ],
)
def test_a_document_of_the_wrong_shape_is_refused(change: dict[str, object]) -> None:
    content: dict[str, object] = {"message": "m", "send_from": "A", "send_to": "B", "attachment_list": []} | change
    with pytest.raises(DocumentError, match=r"^post: "):
        Post.from_dict({key: value for key, value in content.items() if value is not ...})


_MUTATORS: dict[str, Callable[[Post], object]] = {
    "message": lambda post: setattr(post, "message", "x"),
    "send_from": lambda post: setattr(post, "send_from", "x"),
    "send_to": lambda post: setattr(post, "send_to", "x"),
    "id": lambda post: setattr(post, "id", "x"),
    "attachment_list": lambda post: setattr(post, "attachment_list", []),
    "add_attachment": lambda post: post.add_attachment(Attachment.create("plan", "p")),
    "del_attachment": lambda post: post.del_attachment(["plan"]),
    "list append": lambda post: post.attachment_list.append(Attachment.create("plan", "p")),  # type: ignore[attr-defined]
    "list extend": lambda post: post.attachment_list.extend([]),  # type: ignore[attr-defined]
    "list insert": lambda post: post.attachment_list.insert(0, None),  # type: ignore[attr-defined]
    "list remove": lambda post: post.attachment_list.remove(None),  # type: ignore[attr-defined]
    "list pop": lambda post: post.attachment_list.pop(),  # type: ignore[attr-defined]
    "list clear": lambda post: post.attachment_list.clear(),  # type: ignore[attr-defined]
    "list sort": lambda post: post.attachment_list.sort(key=str),  # type: ignore[attr-defined]
    "list reverse": lambda post: post.attachment_list.reverse(),  # type: ignore[attr-defined]
    "list item": lambda post: post.attachment_list.__setitem__(0, None),  # type: ignore[index]
    "list del": lambda post: post.attachment_list.__delitem__(0),  # type: ignore[attr-defined]
    "attachment content": lambda post: setattr(post.attachment_list[0], "content", "x"),
    "attachment type": lambda post: setattr(post.attachment_list[0], "type", "plan"),
    "attachment extra": lambda post: setattr(post.attachment_list[0], "extra", 1),
    "attachment id": lambda post: setattr(post.attachment_list[0], "id", "x"),
}


@pytest.mark.parametrize("mutate", _MUTATORS.values(), ids=_MUTATORS.keys())
def test_a_sealed_post_refuses_every_change(mutate: Callable[[Post], object]) -> None:
    post = _post(Attachment.create("thought", "t"))
    before = post.to_dict()
    seal(post)
    with pytest.raises(PostSealedError):
        mutate(post)
    assert post.to_dict() == before


def test_a_sealed_post_reads_as_before() -> None:
    post = _post(Attachment.create("thought", "t"))
    before = post.to_dict()
    seal(post)
    assert post.sealed
    assert post.to_dict() == before
    assert [each.content for each in post.get_attachment("thought")] == ["t"]


def test_the_list_that_a_role_kept_does_not_change_the_sealed_post() -> None:
    kept: list[Attachment] = []
    post = Post.create("m", "User", "Planner", kept)
    seal(post)
    kept.append(Attachment.create("plan", "p"))
    assert list(post.attachment_list) == []


def test_an_open_copy_has_the_same_identity_and_leaves_the_sealed_post_alone() -> None:
    entry = SharedMemoryEntry.create("plan", "round", "go")
    post = _post(
        Attachment.create("thought", "t", extra={"deep": [1]}),
        Attachment.create("shared_memory_entry", "", extra=entry),
    )
    seal(post)
    before = post.to_dict()
    copy = post.open_copy()
    assert isinstance(copy, RecalledPost)
    assert (copy, copy.id, copy.sealed) == (post, post.id, False)
    copy.message = "changed"
    copy.attachment_list[0].content = "changed"
    copy.attachment_list[0].extra["deep"].append(2)  # type: ignore[index, call-overload, union-attr]
    copy.add_attachment(Attachment.create("plan", "p"))
    assert post.to_dict() == before


def test_as_text_it_says_who_said_what_to_whom() -> None:
    assert str(_post()) == "User -> Planner: hello"
