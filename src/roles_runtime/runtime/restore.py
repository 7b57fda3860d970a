"""Reading a journal back: what a session was, folded from its entries."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

import msgspec

from roles_runtime.llm.model import Usage
from roles_runtime.memory.traces import Step, Traces
from roles_runtime.posts.conversation import Conversation, Round, RoundState
from roles_runtime.posts.event import (
    CellDone,
    Entry,
    ModelReplied,
    PostSent,
    RoundClosed,
    RoundOpened,
    TaskChanged,
    ToolReturned,
)
from roles_runtime.posts.post import USER
from roles_runtime.runtime.task_store import KeptTasks
from roles_runtime.stores.store import Store


class Restored(msgspec.Struct):
    """A session as its journal tells it.

    Attributes:
        conversation: Its rounds.
        seq: Of the last entry; 0 where there is none.
        usage: Of all its model calls.
        traces: What its turns thought and called, or None where that is nothing.
        tasks: Those of its board, or None where there never were any.
        unprofiled: Names of files that came with a question of which no Post was sent: no role was told of them.
    """

    conversation: Conversation
    seq: int = 0
    usage: Usage = Usage()
    unprofiled: tuple[str, ...] = ()
    traces: Traces | None = None
    tasks: KeptTasks | None = None

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
            case RoundOpened(round_id=round_id, user_query=query, files=files):
                rounds.append(Round(round_id, query, traceparent=entry.traceparent))
                self.unprofiled = tuple(dict.fromkeys((*self.unprofiled, *files)))
            case PostSent(post=post):
                rounds[-1].post_list.append(post)
                if post.send_from == USER:
                    self.unprofiled = ()
            case CellDone(artifacts=artifacts):
                rounds[-1].artifacts.extend(artifacts)
            case ModelReplied() as replied:
                self.usage += usage_of(replied)
                self._keep(replied)
            case ToolReturned() as returned:
                self._keep(returned)
            case TaskChanged(board="") as changed:
                self.tasks = self.tasks or KeptTasks()
                self.tasks.take(changed)
            case RoundClosed(state=state, reason=reason, detail=detail):
                rounds[-1].state, rounds[-1].reason, rounds[-1].detail = state, reason, detail

    def _keep(self, step: Step) -> None:
        self.traces = self.traces or Traces()
        self.traces.take(step)


def usage_of(replied: ModelReplied) -> Usage:
    """What a call cost."""
    return Usage(replied.input_tokens, replied.output_tokens, 1, replied.cached_tokens, replied.reasoning_tokens)


async def read_session(store: Store, session_id: str, also: Callable[[Entry], None] | None = None) -> Restored:
    """Reads a whole journal; it needs no claim.

    Args:
        store: Where it is.
        session_id: Whose.
        also: Told of each entry, for whoever wants to know more of it.

    Raises:
        StoreError: it can not be read.
    """
    restored = Restored(Conversation(f"conv-{session_id}"))
    async with aclosing(store.read(session_id)) as entries:
        async for entry in entries:
            restored.take(entry)
            if also is not None:
                also(entry)
    return restored
