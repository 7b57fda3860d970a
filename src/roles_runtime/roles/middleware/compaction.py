"""Compaction: a role's old rounds become a summary once its conversation has grown long."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import msgspec

from roles_runtime.errors import ConfigError, ModelError
from roles_runtime.llm.message import SystemMessage, TextMessage
from roles_runtime.llm.model import Model
from roles_runtime.llm.request import LLMRequest
from roles_runtime.llm.stream import asked
from roles_runtime.llm.window import BYTES_PER_TOKEN
from roles_runtime.memory.compression import RoundCompressor, Summary
from roles_runtime.memory.memory import Memory
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import Round
from roles_runtime.posts.event import Outcome
from roles_runtime.posts.post import Post
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles.languages import words
from roles_runtime.roles.thinking import record_reply
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.tools.tasks.languages import LANGUAGES

NAME = "Compaction"
"""Who asks for a summary, as a script of answers may call it."""


class _Kept(msgspec.Struct, frozen=True):
    """A summary as it is shared: it covers each round up to one."""

    text: str
    until: str


class Compaction:
    """Summarises a role's old rounds with its own model, and shows it the summary in their place.

    A round goes with all that its turns thought and called, so that no call is parted from its result. The summary
    rides on the role's answer as a shared entry: later turns find it, in a restored session too. Where it can not be
    made everything stays as it was, and the next turn tries again.
    """

    def __init__(
        self, *, threshold_tokens: int = 24_000, rounds_to_compress: int = 2, rounds_to_retain: int = 3
    ) -> None:
        """Sets when, and how much.

        Args:
            threshold_tokens: How long the rounds that are shown may be, by estimate; 0 goes by their number alone.
            rounds_to_compress: How many rounds must be there beyond those retained.
            rounds_to_retain: How many of the last rounds are always shown, the one under way included.

        Raises:
            ConfigError: a number is too small.
        """
        if threshold_tokens < 0:
            raise ConfigError(NAME, "threshold_tokens", f"it is {threshold_tokens} and must be 0 or more.")
        self._compressors = {
            language: RoundCompressor(rounds_to_compress, rounds_to_retain, words(language).summarise)
            for language in LANGUAGES
        }
        self._threshold = threshold_tokens

    async def __call__(self, turn: Turn, respond: Respond) -> Answer:
        """Answers with a memory that is short enough."""
        if turn.model is None:
            return await respond(turn)
        memory = turn.memory
        rounds = memory.get_role_rounds(turn.role)
        previous = summary = _last_summary(turn, rounds)
        shown = rounds[len(previous.round_ids) :]
        if _tokens(memory, turn, shown) >= self._threshold:
            compressor = self._compressors[turn.language]
            compression = await compressor.compress(rounds, previous, partial(_summarise, turn, turn.model))
            summary = compression.summary
            if compression.problem:
                turn.draft.status(f"could not summarise earlier rounds: {compression.problem}")
        if not summary.round_ids:
            return await respond(turn)
        answer = await respond(turn.with_memory(memory.compressed(summary)))
        if summary is not previous:
            _share(summary, answer)
        return answer


def _last_summary(turn: Turn, rounds: Sequence[Round]) -> Summary:
    ids = [each.id for each in rounds]
    for entry in reversed(turn.memory.get_shared_memory_entries("summary", turn.role)):
        # A role may share summaries of its own, in its own words.
        with suppress(msgspec.DecodeError):
            kept = msgspec.json.decode(entry.content, type=_Kept)
            if kept.until in ids:
                return Summary(kept.text, tuple(ids[: ids.index(kept.until) + 1]))
    return Summary()


def _share(summary: Summary, answer: Answer) -> None:
    post = answer if isinstance(answer, Post) else answer[0] if answer else None
    if type(post) is Post:  # anything else is not the role's to send, and the router says so
        content = msgspec.json.encode(_Kept(summary.text, summary.round_ids[-1])).decode()
        entry = SharedMemoryEntry.create("summary", "conversation", content)
        post.add_attachment(Attachment.create(AttachmentType.shared_memory_entry, summary.text, extra=entry))


def _tokens(memory: Memory, turn: Turn, rounds: Sequence[Round]) -> int:
    """What these rounds take in a prompt, near enough."""
    size_bytes = 0
    for post in (post for each in rounds for post in each.post_list):
        texts = (post.message, *(each.content for each in post.attachment_list))
        size_bytes += sum(len(text.encode("utf-8", "replace")) for text in texts)
        trace = memory.get_trace(turn.role, post.id)
        size_bytes += 0 if trace is None else trace.size_bytes
    return size_bytes // BYTES_PER_TOKEN


async def _summarise(turn: Turn, model: Model, prompt: str) -> str:
    turn.draft.status("summarising earlier rounds")
    request = LLMRequest(
        (SystemMessage(content=words(turn.language).minutes, creator=NAME), TextMessage(content=prompt))
    )
    async with asked(model, request) as reply:
        text = "".join([piece async for piece in reply.text()])
    # Written down so that it counts; it is no step of the turn that its role is shown again.
    outcome: Outcome = "ok" if reply.reason == "stop" else "rejected"
    await record_reply(turn, reply.message(NAME), reply, outcome, traced=False)
    if outcome == "rejected":
        raise ModelError(reply.model, f"its summary ended by {reply.reason}.")
    return text
