from __future__ import annotations

from collections.abc import Sequence

from roles_runtime.memory.memory import Horizon, Memory
from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.conversation import Conversation, Round, RoundState
from roles_runtime.posts.delimiters import DELIMITER_TEMPORAL, wrap_text_with_delimiter
from roles_runtime.posts.post import Post, RecalledPost, seal
from roles_runtime.posts.shared import Scope, SharedMemoryEntry, SharedType

_LONG = wrap_text_with_delimiter("long result", DELIMITER_TEMPORAL)


def _round(*posts: Post, query: str = "q", state: RoundState = RoundState.finished) -> Round:
    for post in posts:
        seal(post)
    return Round.create(query, state=state, post_list=list(posts))


def _three_rounds() -> Conversation:
    return Conversation.create(
        [
            _round(
                Post.create(f"do {number}", "Planner", "CodeInterpreter"),
                Post.create(f"done {number}: {_LONG}", "CodeInterpreter", "Planner"),
            )
            for number in (1, 2, 3)
        ]
    )


def _messages(rounds: Sequence[Round]) -> list[list[str]]:
    return [[post.message for post in each.post_list] for each in rounds]


# --- get_role_rounds --------------------------------------------------------------------------------------


def test_temporal_parts_are_seen_in_the_last_round_only() -> None:  # TW-26
    conversation = _three_rounds()
    before = conversation.to_dict()
    rounds = Memory(conversation).get_role_rounds("Planner")
    assert _messages(rounds) == [["do 1", "done 1: "], ["do 2", "done 2: "], ["do 3", "done 3: long result"]]
    assert conversation.to_dict() == before


def test_what_is_handed_out_may_be_changed_and_changes_nothing() -> None:  # TW-26
    conversation = _three_rounds()
    before = conversation.to_dict()
    memory = Memory(conversation)
    given = memory.get_role_rounds("Planner")
    assert all(isinstance(post, RecalledPost) for each in given for post in each.post_list)
    given[0].post_list[0].message = "changed"
    given[0].post_list[0].add_attachment(Attachment.create("plan", "p"))
    given[0].post_list.clear()
    given[0].change_round_state(RoundState.failed)
    given[0].artifacts.clear()
    assert conversation.to_dict() == before
    assert _messages(memory.get_role_rounds("Planner"))[0] == ["do 1", "done 1: "]


def test_a_failed_round_is_hidden_unless_it_is_asked_for() -> None:  # TW-27
    failed = _round(Post.create("a", "User", "Planner"), state=RoundState.failed)
    created = _round(Post.create("b", "User", "Planner"), state=RoundState.created)
    memory = Memory(Conversation.create([failed, created]))
    assert [each.id for each in memory.get_role_rounds("Planner")] == [created.id]
    everything = memory.get_role_rounds("Planner", include_failure_rounds=True)
    assert [(each.id, each.state) for each in everything] == [(failed.id, "failed"), (created.id, "created")]


def test_the_last_round_is_the_last_one_that_is_given() -> None:
    finished = _round(Post.create(_LONG, "CodeInterpreter", "Planner"))
    failed = _round(Post.create("x", "User", "Planner"), state=RoundState.failed)
    memory = Memory(Conversation.create([finished, failed]))
    assert _messages(memory.get_role_rounds("Planner")) == [["long result"]]
    assert _messages(memory.get_role_rounds("Planner", include_failure_rounds=True)) == [[""], ["x"]]


def test_a_round_without_the_role_is_there_without_posts() -> None:  # TW-28
    memory = Memory(Conversation.create([_round(Post.create("a", "User", "Planner"))]))
    assert _messages(memory.get_role_rounds("CodeInterpreter")) == [[]]


def test_a_self_send_is_seen_once() -> None:  # TW-29
    memory = Memory(Conversation.create([_round(Post.create("again", "Planner", "Planner"))]))
    assert _messages(memory.get_role_rounds("Planner")) == [["again"]]


def test_copies_have_the_ids_query_and_state_of_what_they_copy() -> None:  # TW-30
    conversation = _three_rounds()
    for copy, original in zip(Memory(conversation).get_role_rounds("Planner"), conversation.rounds, strict=True):
        assert (copy.id, copy.user_query, copy.state) == (original.id, original.user_query, original.state)
        assert [post.id for post in copy.post_list] == [post.id for post in original.post_list]


def test_temporal_marks_in_attachments_stay() -> None:  # TW-31
    posts = [Post.create("m", "A", "B", [Attachment.create("execution_result", _LONG)]) for _ in range(2)]
    rounds = Memory(Conversation.create([_round(post) for post in posts])).get_role_rounds("A")
    assert [each.post_list[0].attachment_list[0].content for each in rounds] == [_LONG, _LONG]


def test_without_rounds_there_are_none() -> None:  # TW-32
    assert Memory(Conversation.create()).get_role_rounds("Planner") == []
    all_failed = Conversation.create([_round(state=RoundState.failed)])
    assert Memory(all_failed).get_role_rounds("Planner") == []
    assert Memory(_three_rounds(), Horizon(0, 0, 0)).get_role_rounds("Planner") == []


def test_what_is_beyond_the_horizon_is_not_seen_also_when_it_comes_later() -> None:
    conversation = _three_rounds()
    memory = Memory(conversation, Horizon(rounds=2, posts=1, shared_posts=1))
    assert _messages(memory.get_role_rounds("Planner")) == [["do 1", "done 1: "], ["do 2"]]
    conversation.rounds[1].add_post(Post.create("late", "Planner", "User"))
    conversation.add_round(Round.create("later"))
    assert _messages(memory.get_role_rounds("Planner")) == [["do 1", "done 1: "], ["do 2"]]


def test_a_post_that_is_queued_for_the_role_is_not_seen() -> None:
    first, queued = Post.create("first", "A", "B"), Post.create("queued", "C", "B")
    conversation = Conversation.create([_round(first, queued)])
    memory = Memory(conversation, Horizon(1, 2, 1, hidden=(queued.id,)))
    assert _messages(memory.get_role_rounds("B")) == [["first"]]


# --- shared entries ---------------------------------------------------------------------------------------


def _shared(sender: str, content: str, scope: Scope = "round", kind: SharedType = "plan") -> Post:
    entry = SharedMemoryEntry.create(kind, scope, content)
    return Post.create("m", sender, "X", [Attachment.create("shared_memory_entry", "", extra=entry)])


def _contents(*rounds: Round, horizon: Horizon | None = None, kind: SharedType = "plan") -> list[str]:
    memory = Memory(Conversation.create(list(rounds)), horizon)
    return [entry.content for entry in memory.get_shared_memory_entries(kind)]


def test_of_one_sender_the_latest_entry_counts_in_either_scope() -> None:  # TW-36, TW-37
    for scope in ("conversation", "round"):
        rounds = [_round(_shared("Planner", f"plan {number}", scope)) for number in (1, 2, 3)]  # type: ignore[arg-type]
        assert _contents(*rounds) == ["plan 3"]


def test_an_entry_of_a_round_counts_in_that_round_only() -> None:  # TW-38
    first, second, third = (
        _round(_shared("Planner", "for all", "conversation")),
        _round(_shared("Planner", "for round 2")),
        _round(_shared("Dummy", "for round 3")),
    )
    assert _contents(first, second, third) == ["for all", "for round 3"]
    assert _contents(first, second, third, _round()) == ["for all"]


def test_an_entry_of_the_conversation_is_not_lost_to_a_later_one_of_a_round() -> None:
    first, second = _round(_shared("Planner", "for all", "conversation")), _round(_shared("Planner", "for round 2"))
    assert _contents(first, second) == ["for all", "for round 2"]


def test_entries_stand_in_the_order_of_their_last_writing() -> None:  # TW-39
    assert _contents(_round(_shared("A", "a1"), _shared("B", "b1"), _shared("A", "a2"))) == ["b1", "a2"]


def test_types_are_independent() -> None:  # TW-40
    rounds = _round(_shared("A", "plan"), _shared("A", "path", kind="example_sub_path"))
    assert _contents(rounds) == ["plan"]
    assert _contents(rounds, kind="example_sub_path") == ["path"]
    assert _contents(rounds, kind="experience_sub_path") == []


def test_without_rounds_nothing_is_shared() -> None:  # TW-41
    assert _contents() == []


def test_entries_of_failed_rounds_and_of_posts_for_others_count() -> None:
    failed = _round(_shared("A", "kept", "conversation"), state=RoundState.failed)
    assert _contents(failed, _round()) == ["kept"]


def test_an_entry_restored_from_a_dict_counts() -> None:
    post = _shared("A", "restored")
    assert _contents(_round(Post.from_dict(post.to_dict(), keep_id=True))) == ["restored"]


def test_entries_after_the_post_being_answered_are_not_seen() -> None:
    posts = [_shared("A", "one"), _shared("B", "two"), _shared("A", "three")]
    assert _contents(_round(*posts), horizon=Horizon(1, posts=3, shared_posts=2)) == ["one", "two"]


def test_a_round_beyond_the_horizon_ends_no_entry_of_the_present_one() -> None:
    assert _contents(_round(_shared("A", "one")), _round(), horizon=Horizon(1, 1, 1)) == ["one"]
