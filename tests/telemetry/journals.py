"""Journals that no runtime would write: any events in any order, their keys from so few that they meet."""

from __future__ import annotations

from hypothesis import strategies as st

from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import (
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
from roles_runtime.posts.post import USER, Post

TEXT = st.sampled_from(["", "x", "two\nlines", "\x1b[2Jcleared", "\u202eevil", "宽" * 300, "\ud800", "long " * 200])
ROLES = st.sampled_from(["A", "B", USER, ""])
IDS = st.sampled_from(["p1", "p2", "p3", ""])
ROUNDS = st.sampled_from(["r", "q"])
TURNS = st.sampled_from(["r/p1/A", "r/p2/B", "q/p1/A", "r/files", "", "/"])
TIMES = st.integers(-5, 50)
OUTCOMES = st.sampled_from(["ok", "error", "cancelled", "timeout", "self_correction", "rejected"])
MANY = st.lists(IDS, max_size=2).map(tuple)
JSON = st.sampled_from(
    ["", "{}", '{"result": 3}', '{"error": "e\\nf"}', '{"tool_calls": [{}]}', '{"subject": "s"}', "[" * 5000]
)
ATTACHED = st.lists(st.builds(Attachment, IDS, st.sampled_from(["plan", "revise_message", "x"]), TEXT), max_size=2)
EVENTS: st.SearchStrategy[DurableEvent] = st.one_of(
    st.builds(RoundOpened, ROUNDS, TEXT),
    st.builds(PostSent, ROUNDS, st.builds(Post, IDS, TEXT, ROLES, ROLES, ATTACHED), MANY),
    st.builds(TurnFinished, ROUNDS, ROLES, MANY, TIMES, OUTCOMES, TEXT),
    st.builds(ModelReplied, ROUNDS, ROLES, TURNS, st.just("m"), JSON, st.just("stop"), TIMES, TIMES, TIMES, OUTCOMES),
    st.builds(ToolReturned, ROUNDS, ROLES, TURNS, IDS, st.sampled_from(["t", "TaskUpdate"]), JSON, TIMES, OUTCOMES),
    st.builds(CellStarted, ROUNDS, ROLES, TURNS.map("{}/cell-1".format), TEXT),
    st.builds(CellDone, ROUNDS, ROLES, TURNS.map("{}/cell-1".format), JSON, TIMES, OUTCOMES),
    st.builds(TaskChanged, ROUNDS, IDS, IDS, IDS, ROLES, JSON),
    st.builds(ApprovalAsked, ROUNDS, ROLES, TURNS.map("{}/approval-1".format), TEXT),
    st.builds(ApprovalGiven, ROUNDS, TURNS.map("{}/approval-1".format), st.booleans()),
    st.builds(PostCancelled, ROUNDS, IDS, ROLES),
    st.builds(RoundClosed, ROUNDS, st.sampled_from(RoundState), st.sampled_from([None, "limit", "interrupted"])),
)


def _entries(drawn: list[tuple[DurableEvent, int, str]]) -> list[Entry]:
    return [Entry(n, key, time_ns, event) for n, (event, time_ns, key) in enumerate(drawn, 1)]


JOURNALS = st.lists(st.tuples(EVENTS, TIMES, IDS), min_size=1, max_size=25).map(_entries)
