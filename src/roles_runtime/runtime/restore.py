"""Reading a journal back: what a session was, folded from its entries."""

from __future__ import annotations

from contextlib import aclosing

import msgspec

from roles_runtime.llm.model import Usage
from roles_runtime.posts.conversation import Conversation, Round, RoundState
from roles_runtime.posts.event import (
    CellDone,
    Entry,
    ModelReplied,
    PostSent,
    RoundClosed,
    RoundOpened,
)
from roles_runtime.stores.store import Store


class Restored(msgspec.Struct):
    """A session as its journal tells it.

    Attributes:
        conversation: Its rounds.
        seq: Of the last entry; 0 where there is none.
        usage: Of all its model calls.
    """

    conversation: Conversation
    seq: int = 0
    usage: Usage = Usage()

    @property
    def open_round(self) -> Round | None:
        """The round that was never closed, if there is one."""
        rounds = self.conversation.rounds
        return rounds[-1] if rounds and rounds[-1].state is RoundState.created else None

    def take(self, entry: Entry) -> None:
        """Folds the next entry in."""
        self.seq = entry.seq
        rounds = self.conversation.rounds
        match entry.event:
            case RoundOpened(round_id=round_id, user_query=query):
                rounds.append(Round(round_id, query))
            case PostSent(post=post):
                rounds[-1].post_list.append(post)
            case CellDone(artifacts=artifacts):
                rounds[-1].artifacts.extend(artifacts)
            case ModelReplied(input_tokens=spent, output_tokens=written):
                self.usage += Usage(spent, written, 1)
            case RoundClosed(state=state, reason=reason, detail=detail):
                rounds[-1].state, rounds[-1].reason, rounds[-1].detail = state, reason, detail


async def read_session(store: Store, session_id: str) -> Restored:
    """Reads a whole journal; it needs no claim.

    Raises:
        StoreError: it can not be read.
    """
    restored = Restored(Conversation(f"conv-{session_id}"))
    async with aclosing(store.read(session_id)) as entries:
        async for entry in entries:
            restored.take(entry)
    return restored
