"""What a round's tree is made of: plain values that mirror its spans, and know no OpenTelemetry.

All times are ``time.time_ns()``. What is content (code, arguments, results, whole texts) stands in a tree only where it
was asked for; a field that is empty is left out of JSON.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Kind: TypeAlias = Literal["round", "hop", "model", "tool", "code", "post", "task", "approval", "unanswered"]


class _Details(msgspec.Struct, gc=False, omit_defaults=True):
    """What is told of a node, by its kind."""


class RoundDetails(_Details, gc=False):
    """Of a round.

    Attributes:
        round_id: Its id.
        question: What was asked.
        files: Names of the files that came with it.
        trace_id: 32 hex digits, where it was traced.
        reason, detail: Why it failed.
        model_calls, input_tokens, output_tokens: What it took.
        cells, failed_cells: How often code ran, and did not end well.
        corrections: How often a role corrected itself.
    """

    round_id: str
    question: str = ""
    files: tuple[str, ...] = ()
    trace_id: str = ""
    reason: str = ""
    detail: str = ""
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cells: int = 0
    failed_cells: int = 0
    corrections: int = 0


class HopDetails(_Details, gc=False):
    """Of a role's turn.

    Attributes:
        role: Who answered.
        answers: Who wrote the Posts that were answered, in sending order.
        waited_ns: From the last of these Posts to the turn's start.
        problem: One line, where it did not end well.
    """

    role: str
    answers: tuple[str, ...] = ()
    waited_ns: int = 0
    problem: str = ""


class ModelDetails(_Details, gc=False):
    """Of a model's answer.

    Attributes:
        model: Which.
        finish_reason: Why it ended, as the model said.
        input_tokens, output_tokens, cached_tokens, reasoning_tokens: As in ModelReplied.
        calls: Names of the tools that it wants to have called.
        text: What it wrote; content.
    """

    model: str
    finish_reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    calls: tuple[str, ...] = ()
    text: str = ""


class ToolDetails(_Details, gc=False):
    """Of a call of a tool.

    Attributes:
        tool: Which.
        call_id: Of the call.
        problem: One line, where it did not end well.
        arguments, result: Content.
    """

    tool: str
    call_id: str = ""
    problem: str = ""
    arguments: str = ""
    result: str = ""


class CodeDetails(_Details, gc=False):
    """Of a cell.

    Attributes:
        role: Whose it is; ``User`` where the runtime looked at the user's files.
        lines: How many it has.
        problem: The error itself, one line.
        artifacts: Names of the files that came of it.
        code, output, error: Content; the error with its traceback.
    """

    role: str
    lines: int = 0
    problem: str = ""
    artifacts: tuple[str, ...] = ()
    code: str = ""
    output: str = ""
    error: str = ""


class AttachedDetails(_Details, gc=False):
    """Of an attachment: its type, the size of its content, and that as content."""

    type: str
    size_bytes: int = 0
    text: str = ""


class PostDetails(_Details, gc=False):
    """Of a Post.

    Attributes:
        post_id: Its id.
        sender, recipient: Who wrote to whom.
        gist: What it says, one line: what is to be corrected, what came of code, or its message.
        attached: What it carries.
        is_self_send: Whether a role wrote to itself.
        text: Its whole message; content.
    """

    post_id: str
    sender: str
    recipient: str
    gist: str = ""
    attached: tuple[AttachedDetails, ...] = ()
    is_self_send: bool = False
    text: str = ""


class TaskDetails(_Details, gc=False):
    """Of a change of a task: its state before (empty for a new one) and after, whose it is, and what it is about."""

    task_id: str
    previous: str = ""
    current: str = ""
    owner: str = ""
    subject: str = ""


class ApprovalDetails(_Details, gc=False):
    """Of a question to the user, and what was said with the answer."""

    question: str = ""
    comment: str = ""


class UnansweredDetails(_Details, gc=False):
    """Of Posts that a role did not answer, and who wrote them."""

    role: str
    senders: tuple[str, ...] = ()


Details: TypeAlias = (
    RoundDetails
    | HopDetails
    | ModelDetails
    | ToolDetails
    | CodeDetails
    | PostDetails
    | TaskDetails
    | ApprovalDetails
    | UnansweredDetails
)


class Node(msgspec.Struct):
    """Something that happened, and what happened in it.

    Attributes:
        name: As its span is called: ``process Planner``, ``chat openai:gpt-5``, ``execute_tool TaskCreate``.
        kind: What it is.
        details: What is told of it, by its kind.
        started_ns: When it began; None where nobody knows.
        ended_ns: When it ended, the same as ``started_ns`` for what takes no time; None where it did not, or nobody
            knows.
        outcome: How it ended: of a round its state, else an Outcome; empty where it did not end.
        entries: Places in the journal of all that it was made of.
        children: In the order in which they began.
    """

    name: str
    kind: Kind
    details: Details
    started_ns: int | None = None
    ended_ns: int | None = None
    outcome: str = ""
    entries: list[int] = msgspec.field(default_factory=list)
    children: list[Node] = msgspec.field(default_factory=list)

    @property
    def duration_ns(self) -> int:
        """How long it took, never below 0, since clocks are set back; 0 where it did not end."""
        if self.started_ns is None or self.ended_ns is None:
            return 0
        return max(0, self.ended_ns - self.started_ns)
