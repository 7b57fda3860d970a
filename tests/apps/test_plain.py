from __future__ import annotations

import io

from roles_runtime.apps.plain import PlainView, post_lines, round_lines
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import ArtifactRef, Round, RoundState
from roles_runtime.posts.delimiters import wrap_text_with_delimiter
from roles_runtime.posts.event import PostSent, TurnStarted
from roles_runtime.posts.post import Post


def test_a_post_is_its_addresses_its_text_and_its_parts_with_the_current_step_marked() -> None:
    post = Post.create(
        "Do it.\nNow.",
        "Planner",
        "Coder",
        [
            Attachment.create(AttachmentType.plan, "1. a\n2. b"),
            Attachment.create(AttachmentType.current_plan_step, "2. b"),
        ],
    )

    assert list(post_lines(post)) == [
        "Planner -> Coder: Do it.",
        "  Now.",
        "  [plan]",
        "    1. a",
        "  > 2. b",
    ]


def test_marks_that_are_for_roles_are_not_shown() -> None:
    post = Post.create(wrap_text_with_delimiter("a long result"), "Coder", "User")

    assert " ".join(" ".join(post_lines(post)).split()) == "Coder -> User: a long result"


def test_a_stored_round_shows_attachments_of_every_type() -> None:
    record = Round.create("?", state=RoundState.failed)
    record.reason, record.detail = "limit", "Too many replies."
    record.post_list = [Post.create("", "A", "User", [Attachment("atta-1", "sketch\x1b[31m", "line\x07")])]

    assert list(round_lines(record)) == [
        "A -> User:",
        "  [sketch]",
        "    line",
        "The round failed (limit): Too many replies.",
    ]


def test_a_view_prints_posts_and_in_the_end_files_once_each() -> None:
    out = io.StringIO()
    record = Round.create("?", state=RoundState.finished)
    record.artifacts = [ArtifactRef("/kept/1.png", "image/png", "a.png"), ArtifactRef("/kept/1.png", "image/png", "b")]

    with PlainView(out) as view:
        view.take(TurnStarted("round-1", "A", "post-1"))
        view.take(PostSent("round-1", Post.create("hello", "A", "User")))
        view.end(record)

    assert out.getvalue() == "A -> User: hello\nfile b: /kept/1.png\n"
