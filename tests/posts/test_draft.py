from __future__ import annotations

import pytest

from posts.answers import new_draft
from roles_runtime.errors import AttachmentTypeError
from roles_runtime.posts.draft import Draft
from roles_runtime.posts.event import AttachmentGrew, MessageGrew, PassingEvent, PostWithdrawn, StatusChanged
from roles_runtime.posts.shared import SharedMemoryEntry


def test_pieces_grow_one_post_that_may_be_looked_at_at_any_time() -> None:
    draft = new_draft()
    draft.grow_message("a")
    post = draft.post
    draft.grow_message("b", is_end=True)
    draft.address("User")
    assert draft.post is post
    assert (post.message, post.send_to, post.send_from) == ("ab", "User", "Planner")


def test_an_attachment_grows_until_it_ends_or_another_type_begins() -> None:
    draft = new_draft()
    for kind, text, is_end in [
        ("thought", "a", False),
        ("thought", "b", True),
        ("thought", "c", False),
        ("plan", "d", False),
    ]:
        draft.grow_attachment(kind, text, is_end=is_end)
    assert [(each.type, each.content) for each in draft.post.attachment_list] == [
        ("thought", "ab"),
        ("thought", "c"),
        ("plan", "d"),
    ]


def test_listeners_hear_each_piece_and_what_the_role_is_busy_with() -> None:
    events: list[PassingEvent] = []
    draft = new_draft(events)
    draft.status("calling model")
    draft.grow_attachment("plan", "1.")
    draft.grow_message("hi")
    draft.address("User")
    draft.grow_message("", is_end=True)
    assert events == [
        StatusChanged("round-1", "Planner", "calling model"),
        AttachmentGrew("round-1", "Planner", draft.post.attachment_list[0].id, "plan", "1.", False),
        MessageGrew("round-1", "Planner", "hi", "", False),
        MessageGrew("round-1", "Planner", "", "User", True),
    ]


def test_a_withdrawn_draft_begins_anew_and_tells_so_only_if_something_had_grown() -> None:
    events: list[PassingEvent] = []
    draft = Draft("round-1", "Planner", events.append, send_to="User")
    draft.withdraw()
    assert events == []
    draft.grow_message("a")
    draft.grow_attachment("plan", "p")
    draft.address("Nobody")
    draft.complete, draft.problem, draft.reasoning = False, "it is empty", "hmm"
    first = draft.post
    draft.withdraw()
    assert events[-1] == PostWithdrawn("round-1", "Planner")
    assert draft.post.id != first.id
    assert (draft.post.message, list(draft.post.attachment_list), draft.post.send_to) == ("", [], "User")
    assert (draft.complete, draft.problem, draft.reasoning, draft.fields) == (True, None, "", [])
    draft.withdraw()
    assert len(events) == 3


def test_an_attachment_may_carry_a_shared_entry() -> None:
    draft, entry = new_draft(), SharedMemoryEntry.create("plan", "round", "go")
    draft.grow_attachment("shared_memory_entry", "", is_end=True, extra=entry)
    assert draft.post.attachment_list[0].extra is entry


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(AttachmentTypeError):
        new_draft().grow_attachment("nope", "x")
