"""What must be true of every journal, whatever happened in its session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from roles_runtime.posts.event import Entry, PostCancelled, PostSent, RoundClosed, RoundOpened, TurnFinished
from roles_runtime.posts.post import USER


def audit(entries: Sequence[Entry], *, interrupted: bool = False) -> None:
    """Checks a journal.

    Args:
        entries: All of one session.
        interrupted: Whether its process was killed: Posts of a round that was cut off have no end then.
    """
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1)), "seq has a gap"
    keys = Counter(entry.key for entry in entries)
    assert len(keys) == len(entries), f"keys repeat: {[key for key, n in keys.items() if n > 1]}"
    _audit_rounds(entries)
    cut_off = {
        entry.event.round_id
        for entry in entries
        if isinstance(entry.event, RoundClosed) and entry.event.reason == "interrupted"
    }
    assert interrupted or not cut_off
    _audit_posts(entries, cut_off)


def _audit_rounds(entries: Sequence[Entry]) -> None:
    current: str | None = None
    for entry in entries:
        event = entry.event
        if isinstance(event, RoundOpened):
            assert current is None, "a round opened while another was open"
            current = event.round_id
        elif isinstance(event, RoundClosed):
            assert event.round_id == current, "a round closed that was not the open one"
            current = None
        elif isinstance(event, PostSent | TurnFinished | PostCancelled):
            assert event.round_id == current, f"{type(event).__name__} outside its round"
    assert current is None, "a round is still open"


def _audit_posts(entries: Sequence[Entry], cut_off: set[str]) -> None:
    sent: dict[str, PostSent] = {}
    ends: Counter[str] = Counter()
    for entry in entries:
        match entry.event:
            case PostSent() as event:
                assert event.post.sealed
                assert event.post.id not in sent, f"{event.post} was sent twice"
                sent[event.post.id] = event
            case TurnFinished(answered=answered, role=role):
                for post_id in answered:
                    assert sent[post_id].post.send_to == role, "a role answered what was not for it"
                    ends[post_id] += 1
            case PostCancelled(post_id=post_id, role=role):
                assert sent[post_id].post.send_to == role, "a Post was cancelled for a role that it was not for"
                ends[post_id] += 1
            case _:
                pass
    for post_id, event in sent.items():
        if event.round_id in cut_off:
            continue
        expected = 0 if event.post.send_to == USER else 1
        assert ends[post_id] == expected, f"{event.post} had {ends[post_id]} ends, not {expected}"
