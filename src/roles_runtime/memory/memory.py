"""What one role may see of a conversation, at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from roles_runtime.memory.compression import Summary
from roles_runtime.memory.traces import Traces, TurnTrace
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import Conversation, Round, RoundState
from roles_runtime.posts.delimiters import remove_all_delimiters, remove_parts
from roles_runtime.posts.post import Post, RoleName
from roles_runtime.posts.shared import SharedMemoryEntry, SharedType


class Horizon(msgspec.Struct, frozen=True, gc=False):
    """How far a snapshot sees.

    Attributes:
        rounds: How many rounds of the conversation there were.
        posts: How many Posts the last of these had at the turn's start.
        shared_posts: How many Posts the last of these had when the one being answered was written, itself included:
            shared entries of later ones are not seen.
        hidden: Ids of Posts that are queued for the role and not answered yet.
    """

    rounds: int
    posts: int
    shared_posts: int
    hidden: tuple[str, ...] = ()


class Memory:
    """An immutable, lazy snapshot. What it hands out are open copies with the same ids; the stored Posts stay."""

    def __init__(
        self,
        conversation: Conversation,
        horizon: Horizon | None = None,
        traces: Traces | None = None,
        summary: Summary | None = None,
    ) -> None:
        """A view of the conversation.

        Args:
            conversation: It may grow on; what is beyond the horizon stays unseen.
            horizon: Without one, everything that stands in the conversation whenever it is asked is seen.
            traces: What the session's turns thought and called, or None.
            summary: What stands for the rounds that it covers, or None.
        """
        self._conversation, self._horizon, self._traces = conversation, horizon, traces
        self._summary = summary

    def compressed(self, summary: Summary) -> Memory:
        """The same view, with a summary in place of the rounds that it covers; what these shared is still seen."""
        return Memory(self._conversation, self._horizon, self._traces, summary)

    @property
    def summary(self) -> str:
        """What stands for the rounds that are no longer given; empty where all are."""
        return "" if self._summary is None else self._summary.text

    def get_role_rounds(self, role: RoleName, include_failure_rounds: bool = False) -> list[Round]:
        """The rounds with the Posts that this role sent or received, each once, in order.

        A round in which the role took no part is there without Posts. What stands between temporal delimiters is
        left out of the messages of all rounds but the last one given.

        Args:
            role: Whose view it is.
            include_failure_rounds: Whether failed rounds are there too.

        Returns:
            Copies that may be changed; none where there is no round.
        """
        hidden = frozenset(self._horizon.hidden if self._horizon else ())
        seen = [
            (each, posts)
            for each, posts in self._rounds()
            if include_failure_rounds or each.state is not RoundState.failed
        ]
        copies = []
        for each, posts in seen:
            mine: list[Post] = [
                post.open_copy()
                for post in islice(each.post_list, posts)
                if role in (post.send_from, post.send_to) and post.id not in hidden
            ]
            clean = remove_all_delimiters if each is seen[-1][0] else remove_parts
            for copy in mine:
                copy.message = clean(copy.message)
            copies.append(_copied(each, mine))
        return copies

    def get_attachments(self, role: RoleName, type: str) -> list[Attachment]:
        """What others sent to this role of that type, in order; the stored ones, to read and not to change."""
        hidden = frozenset(self._horizon.hidden if self._horizon else ())
        return [
            attachment
            for each, posts in self._rounds()
            for post in islice(each.post_list, posts)
            if post.send_to == role != post.send_from and post.id not in hidden
            for attachment in post.attachment_list
            if attachment.type == type
        ]

    def get_shared_memory_entries(
        self, entry_type: SharedType, sender: RoleName | None = None
    ) -> Sequence[SharedMemoryEntry]:
        """What was shared of that type: the latest of each sender and scope, by the time of writing.

        An entry of scope ``round`` counts in its own round only, and never hides one of scope ``conversation``.

        Args:
            entry_type: Of which type.
            sender: Of this sender alone; of all where left out.
        """
        latest: dict[tuple[RoleName, str], SharedMemoryEntry] = {}
        rounds = list(self._rounds(shared=True))
        for index, (each, posts) in enumerate(rounds):
            is_last = index == len(rounds) - 1
            for post in islice(each.post_list, posts):
                if sender not in (None, post.send_from):
                    continue
                for entry in _entries(post):
                    if entry.type == entry_type and (is_last or entry.scope == "conversation"):
                        # Taken out first, so that the order is that of the last writing.
                        latest.pop((post.send_from, entry.scope), None)
                        latest[post.send_from, entry.scope] = entry
        return list(latest.values())

    def get_trace(self, role: RoleName, post_id: str) -> TurnTrace | None:
        """What this role thought, called and got back when it answered that Post; None where it was nothing.

        Ask for your own alone: what another role thought is not yours to see.
        """
        return None if self._traces is None else self._traces.of(role, post_id)

    def _rounds(self, *, shared: bool = False) -> Iterator[tuple[Round, int | None]]:
        """Each round that is seen, with the number of its Posts that are; None means all.

        What was shared outlives the rounds that a summary stands for.
        """
        horizon, rounds = self._horizon, self._conversation.rounds
        covered = frozenset(() if self._summary is None or shared else self._summary.round_ids)
        if horizon is None:
            yield from ((each, None) for each in rounds if each.id not in covered)
            return
        for number, each in enumerate(islice(rounds, horizon.rounds), 1):
            is_last = number == horizon.rounds
            if each.id in covered:
                continue
            yield each, (horizon.shared_posts if shared else horizon.posts) if is_last else None


def _copied(each: Round, posts: list[Post]) -> Round:
    return Round(each.id, each.user_query, each.state, posts, each.reason, each.detail, list(each.artifacts))


def _entries(post: Post) -> Iterator[SharedMemoryEntry]:
    for attachment in post.attachment_list:
        if attachment.type == AttachmentType.shared_memory_entry and isinstance(attachment.extra, SharedMemoryEntry):
            yield attachment.extra
