"""What happens: the durable events that the journal keeps, and the passing ones that only listeners see.

posts knows no Message and no Execution: where an event carries one, it is JSON text that its reader decodes.
All times are ``time.time_ns()``.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from roles_runtime.posts.conversation import ArtifactRef, Reason, RoundState
from roles_runtime.posts.post import Post, RoleName

FORMAT_VERSION = 1
"""The version of the journal's format; an entry of a newer one is refused, an older one is upgraded."""

Outcome = Literal["ok", "error", "cancelled", "timeout", "self_correction", "rejected"]
"""How a turn, a model call, a tool call or a cell ended."""


class _Durable(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="kind", omit_defaults=True):
    """An event that the journal keeps."""


class RoundOpened(_Durable, frozen=True, gc=False):
    """The user asked; the first Post follows in the same append."""

    round_id: str
    user_query: str
    files: tuple[str, ...] = ()


class PostSent(_Durable, frozen=True, gc=False):
    """A Post was accepted by the router; delivery follows.

    Attributes:
        round_id: Its round.
        post: The Post.
        in_reply_to: Ids of the Posts that it answers; empty for the user's own.
    """

    round_id: str
    post: Post
    in_reply_to: tuple[str, ...] = ()


class TurnFinished(_Durable, frozen=True, gc=False):
    """A role's turn ended; it rides in the append of what it answered, or of what ended it.

    Attributes:
        round_id: Its round.
        role: Who answered.
        answered: Ids of the Posts that were answered, in sending order.
        started_at: When it began.
        outcome: How it ended.
        problem: One line, where it did not end well.
    """

    round_id: str
    role: RoleName
    answered: tuple[str, ...]
    started_at: int
    outcome: Outcome = "ok"
    problem: str = ""


class ModelReplied(_Durable, frozen=True, gc=False):
    """A model answered within a turn.

    Attributes:
        message: The assistant message as JSON (of llm), so that no call is paid twice.
        reason: Why the stream ended, as the model said: ``stop``, ``tool_calls``, ``length``, ``refusal``.
        input_tokens: Of the prompt, cached ones included.
        output_tokens: Of the answer, reasoning included.
        cached_tokens, reasoning_tokens: How many of them were cached, and thought.
        traced: Whether the message holds thoughts or calls, which its role is shown again in later rounds.
    """

    round_id: str
    role: RoleName
    turn: str
    model: str
    message: str
    reason: str
    input_tokens: int
    output_tokens: int
    started_at: int
    outcome: Outcome = "ok"
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    traced: bool = False


class ToolReturned(_Durable, frozen=True, gc=False):
    """A tool answered within a turn; ``result`` is a ToolReturn as JSON (of llm)."""

    round_id: str
    role: RoleName
    turn: str
    call_id: str
    tool: str
    result: str
    started_at: int
    outcome: Outcome = "ok"


class CellStarted(_Durable, frozen=True, gc=False):
    """A cell was sent to the kernel."""

    round_id: str
    role: RoleName
    cell_id: str
    code: str


class CellDone(_Durable, frozen=True, gc=False):
    """A cell ended; ``execution`` is an Execution as JSON (of kernels)."""

    round_id: str
    role: RoleName
    cell_id: str
    execution: str
    started_at: int
    outcome: Outcome = "ok"
    artifacts: tuple[ArtifactRef, ...] = ()


class TaskChanged(_Durable, frozen=True, gc=False):
    """A planned task changed.

    Attributes:
        task: The whole task as JSON (of tools/tasks), empty when it was deleted.
        board: The folder of the board, where that is one with a backend of its own; empty for the session's board.
    """

    round_id: str
    task_id: str
    previous: str
    current: str
    owner: str = ""
    task: str = ""
    board: str = ""


class ApprovalAsked(_Durable, frozen=True, gc=False):
    """A role awaits the user's yes or no, with its clocks stopped."""

    round_id: str
    role: RoleName
    approval_id: str
    question: str


class ApprovalGiven(_Durable, frozen=True, gc=False):
    """The user said yes or no."""

    round_id: str
    approval_id: str
    approved: bool
    comment: str = ""


class PostCancelled(_Durable, frozen=True, gc=False):
    """A Post that was delivered will not be answered."""

    round_id: str
    post_id: str
    role: RoleName


class RoundClosed(_Durable, frozen=True, gc=False):
    """The round is over.

    Attributes:
        state: finished or failed.
        reason: Why it failed, else None.
        detail: One line for the reader.
    """

    round_id: str
    state: RoundState
    reason: Reason | None = None
    detail: str = ""


DurableEvent: TypeAlias = (
    RoundOpened
    | PostSent
    | TurnFinished
    | ModelReplied
    | ToolReturned
    | CellStarted
    | CellDone
    | TaskChanged
    | ApprovalAsked
    | ApprovalGiven
    | PostCancelled
    | RoundClosed
)


class Entry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A durable event in the journal of one session.

    Attributes:
        seq: 1, 2, 3 … without a gap, given by the session's owner.
        key: What makes its append idempotent: an entry whose key stands already is not written again.
        time_ns: When it happened.
        event: What happened.
        traceparent: W3C trace context under which it happened, or empty.
        format_version: Of this entry.
    """

    seq: int
    key: str
    time_ns: int
    event: DurableEvent
    traceparent: str = ""
    format_version: int = FORMAT_VERSION


class TurnStarted(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="kind"):
    """A role began to answer."""

    round_id: str
    role: RoleName
    post_id: str


class StatusChanged(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="kind"):
    """What a role is busy with: ``composing prompt``, ``calling model``, ``executing code``."""

    round_id: str
    role: RoleName
    status: str


class MessageGrew(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="kind"):
    """The message of a Post under way grew by ``text``; ``send_to`` once it is known, else empty."""

    round_id: str
    role: RoleName
    text: str
    send_to: RoleName = ""
    is_end: bool = False


class AttachmentGrew(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="kind"):
    """An attachment of a Post under way grew by ``text``."""

    round_id: str
    role: RoleName
    attachment_id: str
    type: str
    text: str
    is_end: bool = False


class PostWithdrawn(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="kind"):
    """What grew so far is void: a second attempt follows, or the returned Post is another."""

    round_id: str
    role: RoleName


PassingEvent: TypeAlias = TurnStarted | StatusChanged | MessageGrew | AttachmentGrew | PostWithdrawn
Event: TypeAlias = DurableEvent | PassingEvent
