"""Large Posts: a preview and an artifact above one bound, refused above another."""

from __future__ import annotations

from pathlib import Path

import pytest

from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.post import USER
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.stores.sqlite import SqliteStore
from runtime.casting import cast, relay, running

pytestmark = pytest.mark.anyio


def read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("roles.db*"))


async def test_a_text_above_256_kib_becomes_an_artifact_with_a_preview(tmp_path: Path) -> None:
    text = "日本" * 200_000

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return turn.answer(text, USER)

    async with running(planner, data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert list(session.rounds) == (await runtime.read("s")).rounds
    assert round_.reply is not None
    assert len(round_.reply.message) < 3_000
    assert round_.reply.message.startswith("日本日本")
    (path,) = [each.content for each in round_.reply.get_attachment(AttachmentType.artifact_paths)]
    assert path in round_.reply.message
    assert read(path) == text
    assert Path(path).is_relative_to(tmp_path)


async def test_a_reply_of_10_mb_passes_and_costs_the_journal_little(tmp_path: Path) -> None:
    @cast("Echo")
    async def worker(turn: Turn) -> Answer:
        return turn.answer("x" * 10_000_000)

    store = SqliteStore(tmp_path / "roles.db")
    async with running(relay(), worker, data_dir=tmp_path, store=store) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert round_.state is RoundState.finished
    assert size_of(tmp_path) < 5_000_000


async def test_a_post_above_16_mib_is_refused_and_the_session_goes_on(tmp_path: Path) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return turn.answer("x" * (17 << 20) if turn.post.message == "bad" else "good", USER)

    async with running(planner, data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        bad = await session.ask("bad")
        assert (bad.state, bad.reason) == (RoundState.failed, "role_error")
        assert "17 MiB" in bad.detail
        assert "16 MiB" in bad.detail
        assert (await session.ask("good")).state is RoundState.finished


async def test_large_attachments_move_out_one_by_one(tmp_path: Path) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        post = turn.answer("small", USER)
        post.add_attachment(Attachment.create(AttachmentType.thought, "hm"))
        post.add_attachment(Attachment.create(AttachmentType.execution_result, "y" * 300_000, extra={"rows": 3}))
        return post

    async with running(planner, data_dir=tmp_path) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert round_.reply is not None
    small, large = round_.reply.attachment_list
    assert (round_.reply.message, small.content) == ("small", "hm")
    assert len(large.content) < 3_000
    assert isinstance(large.extra, dict)
    assert large.extra["rows"] == 3
    assert read(str(large.extra["artifact"])) == "y" * 300_000


async def test_a_large_shared_entry_can_be_read_back(tmp_path: Path) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        post = turn.answer("small", USER)
        entry = SharedMemoryEntry.create("plan", "conversation", "short")
        post.add_attachment(Attachment.create(AttachmentType.shared_memory_entry, "z" * 300_000, extra=entry))
        return post

    async with running(planner, data_dir=tmp_path, store=SqliteStore(tmp_path / "roles.db")) as runtime:
        session = await runtime.session("s")
        assert (await session.ask("hey")).state is RoundState.finished
        assert list(session.rounds) == (await runtime.read("s")).rounds


async def test_a_large_attachment_that_was_received_may_be_passed_on_in_a_fuller_post(tmp_path: Path) -> None:
    @cast("Echo")
    async def worker(turn: Turn) -> Answer:
        post = turn.answer("here")
        post.add_attachment(Attachment.create(AttachmentType.execution_result, "y" * 130_000))
        return post

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.send_from == USER:
            return turn.answer("go", "Echo")
        post = turn.answer("z" * 200_000, USER)
        post.add_attachment(turn.post.attachment_list[0])
        return post

    async with running(planner, worker, data_dir=tmp_path) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert round_.state is RoundState.finished, round_.detail


async def test_a_large_question_is_shrunk_too(tmp_path: Path) -> None:
    seen: list[int] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen.append(len(turn.post.message))
        return turn.answer("done", USER)

    async with running(planner, data_dir=tmp_path) as runtime:
        round_ = await (await runtime.session("s")).ask("q" * 300_000)
    assert round_.state is RoundState.finished
    assert seen[0] < 3_000
