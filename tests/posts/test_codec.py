from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import StoreCorruptError, StoreVersionError
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.codec import decode_entry, encode_entry
from roles_runtime.posts.conversation import ArtifactRef, RoundState
from roles_runtime.posts.event import (
    FORMAT_VERSION,
    ApprovalAsked,
    ApprovalGiven,
    CellDone,
    CellStarted,
    DurableEvent,
    Entry,
    ModelReplied,
    PostCancelled,
    PostSent,
    RoundClosed,
    RoundOpened,
    TaskChanged,
    ToolReturned,
    TurnFinished,
)
from roles_runtime.posts.post import Post
from roles_runtime.posts.shared import SharedMemoryEntry

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_ENTRIES = st.builds(
    SharedMemoryEntry.create,
    st.sampled_from(["plan", "experience_sub_path", "example_sub_path", "file_profile", "summary"]),
    st.sampled_from(["round", "conversation"]),
    _TEXT,
)
_ATTACHMENTS = st.builds(
    Attachment.create, st.sampled_from([*AttachmentType][:-2]), _TEXT, st.none(), _JSON
) | st.builds(lambda entry: Attachment.create("shared_memory_entry", "", extra=entry), _ENTRIES)
_POSTS = st.builds(Post.create, _TEXT, _TEXT, _TEXT, st.lists(_ATTACHMENTS, max_size=3))
_ARTIFACTS = st.tuples() | st.tuples(st.builds(ArtifactRef, _TEXT, _TEXT, _TEXT, st.integers(0, 2**40), _TEXT))
_NUMBERS = st.integers(0, 2**62)
_OUTCOMES = st.sampled_from(["ok", "error", "cancelled", "timeout", "self_correction", "rejected"])
_SOME = st.lists(_TEXT, max_size=3).map(tuple)
_EVENTS: dict[type[DurableEvent], st.SearchStrategy[DurableEvent]] = {
    RoundOpened: st.builds(RoundOpened, _TEXT, _TEXT, _SOME),
    PostSent: st.builds(PostSent, _TEXT, _POSTS, _SOME),
    TurnFinished: st.builds(TurnFinished, _TEXT, _TEXT, _SOME, _NUMBERS, _OUTCOMES, _TEXT),
    ModelReplied: st.builds(
        ModelReplied, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT, _NUMBERS, _NUMBERS, _NUMBERS, _OUTCOMES
    ),
    ToolReturned: st.builds(ToolReturned, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT, _NUMBERS, _OUTCOMES),
    CellStarted: st.builds(CellStarted, _TEXT, _TEXT, _TEXT, _TEXT),
    CellDone: st.builds(CellDone, _TEXT, _TEXT, _TEXT, _TEXT, _NUMBERS, _OUTCOMES, _ARTIFACTS),
    TaskChanged: st.builds(TaskChanged, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT),
    ApprovalAsked: st.builds(ApprovalAsked, _TEXT, _TEXT, _TEXT, _TEXT),
    ApprovalGiven: st.builds(ApprovalGiven, _TEXT, _TEXT, st.booleans(), _TEXT),
    PostCancelled: st.builds(PostCancelled, _TEXT, _TEXT, _TEXT),
    RoundClosed: st.builds(
        RoundClosed,
        _TEXT,
        st.sampled_from(RoundState),
        st.sampled_from(["limit", "cancelled", "timeout", "stalled", "role_error", "interrupted", None]),
        _TEXT,
    ),
}


def _entry(event: DurableEvent, **fields: int) -> Entry:
    return Entry(1, "key", 1_700_000_000_000_000_000, event, **fields)  # type: ignore[arg-type]


def test_every_durable_event_is_tried_below() -> None:
    assert set(_EVENTS) == set(get_args(DurableEvent))


@pytest.mark.parametrize("kind", _EVENTS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_an_entry_comes_back_as_it_was(kind: type[DurableEvent], data: st.DataObject) -> None:
    event = data.draw(_EVENTS[kind])
    entry = Entry(data.draw(_NUMBERS), data.draw(_TEXT), data.draw(_NUMBERS), event, data.draw(_TEXT))
    back = decode_entry(encode_entry(entry))
    assert back == entry
    assert type(back.event) is kind
    assert b"\n" not in encode_entry(entry)


def test_a_post_comes_back_sealed_with_its_shared_entries_as_such() -> None:
    shared = SharedMemoryEntry.create("plan", "round", "go")
    post = Post.create("m", "A", "B", [Attachment.create("shared_memory_entry", "", extra=shared)])
    event = decode_entry(encode_entry(_entry(PostSent("round-1", post)))).event
    assert isinstance(event, PostSent)
    assert event.post.sealed
    assert event.post.id == post.id
    assert event.post.attachment_list[0].extra == shared


def test_an_attachment_of_a_type_unknown_here_survives() -> None:
    post = Post.create("m", "A", "B", [Attachment("atta-1", "from_a_newer_role", "x", {"a": [1]})])
    event = decode_entry(encode_entry(_entry(PostSent("round-1", post)))).event
    assert isinstance(event, PostSent)
    assert event.post == post


def test_an_entry_of_a_newer_format_is_refused_with_both_versions() -> None:
    newer = encode_entry(_entry(RoundOpened("round-1", "q"), format_version=FORMAT_VERSION + 1))
    with pytest.raises(StoreVersionError, match=f"format {FORMAT_VERSION + 1}.*up to {FORMAT_VERSION}"):
        decode_entry(newer)


def test_an_entry_of_a_newer_format_is_refused_as_such_also_where_its_event_is_unknown() -> None:
    newer = msgspec.json.encode(
        {"seq": 1, "key": "k", "time_ns": 1, "event": {"kind": "Tomorrow"}, "format_version": FORMAT_VERSION + 1}
    )
    with pytest.raises(StoreVersionError):
        decode_entry(newer)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"seq": "one"}',
        encode_entry(_entry(RoundOpened("r", "q")))[:-2],
    ],
)
def test_what_is_no_entry_is_refused_as_corrupt(data: bytes) -> None:
    with pytest.raises(StoreCorruptError, match="no entry"):
        decode_entry(data)
