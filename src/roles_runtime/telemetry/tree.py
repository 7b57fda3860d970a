"""A round as a tree, folded from its journal alone: the same shape as its trace, without opentelemetry.

A round is the root; under it stand the hops (a role's turns) side by side in time, and in each what its role did: the
models that it asked, the tools and cells that ran, what it asked the user, and the Posts that it sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.delimiters import remove_all_delimiters
from roles_runtime.posts.event import (
    ApprovalAsked,
    ApprovalGiven,
    CellDone,
    CellStarted,
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
from roles_runtime.roles.outcome import last_line
from roles_runtime.telemetry.nodes import (
    ApprovalDetails,
    AttachedDetails,
    CodeDetails,
    HopDetails,
    ModelDetails,
    Node,
    PostDetails,
    RoundDetails,
    TaskDetails,
    ToolDetails,
    UnansweredDetails,
)
from roles_runtime.telemetry.told import Answer, Planned, Ran, Returned, decoded, gist, gist_of
from roles_runtime.telemetry.traceparent import trace_id
from roles_runtime.tools.tasks.tools import NAMES as TASK_TOOLS


def split(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries of each round, in the order in which the rounds began."""
    rounds: dict[str, list[Entry]] = {}
    for entry in entries:
        rounds.setdefault(entry.event.round_id, []).append(entry)
    return list(rounds.values())


def fold(entries: Sequence[Entry], *, with_content: bool = False) -> Node:
    """The tree of one round. It takes any entries, each once, and never raises.

    Args:
        entries: Of that round, in order, at least one; a round that is not over, or of an older version, does too.
        with_content: Whether code, arguments, results and whole texts stand in it.
    """
    folding = _Folding(entries[0].event.round_id, with_content=with_content)
    for entry in entries:
        folding.take(entry)
    return folding.finish(entries[-1].time_ns)


class _Folding:
    """Builds the tree of one round. The journal says by its keys in which turn something happened."""

    def __init__(self, round_id: str, *, with_content: bool) -> None:
        self._content = with_content
        self._details = RoundDetails(round_id)
        self._root = Node("invoke_workflow", "round", self._details)
        self._hops: dict[str, tuple[Node, HopDetails]] = {}
        self._cells: dict[str, tuple[Node, CodeDetails]] = {}
        self._approvals: dict[str, tuple[Node, ApprovalDetails]] = {}
        self._posts: dict[str, tuple[Post, int]] = {}
        self._answered: dict[str, Node] = {}
        self._cancelled: list[tuple[PostCancelled, Entry]] = []
        self._arguments: dict[tuple[str, str], str] = {}
        # Changes of tasks stand before the result of the tool that made them.
        self._changes: list[Node] = []

    def take(self, entry: Entry) -> None:
        """Folds the next entry in."""
        if not self._details.trace_id:
            self._details.trace_id = trace_id(entry.traceparent)
        match entry.event:
            case RoundOpened() as event:
                self._open(event, entry)
            case PostSent() as event:
                self._send(event, entry)
            case TurnFinished() as event:
                self._finish_turn(event, entry)
            case ModelReplied() as event:
                self._reply(event, entry)
            case ToolReturned() as event:
                self._return(event, entry)
            case CellStarted() as event:
                self._start_cell(event, entry)
            case CellDone() as event:
                self._end_cell(event, entry)
            case TaskChanged() as event:
                self._changes.append(_changed(event, entry))
            case ApprovalAsked() as event:
                self._ask(event, entry)
            case ApprovalGiven() as event:
                self._answer(event, entry)
            case PostCancelled() as event:
                self._cancelled.append((event, entry))
            case RoundClosed() as event:
                self._close(event, entry)

    # --- the round -----------------------------------------------------------------------------------------

    def _open(self, event: RoundOpened, entry: Entry) -> None:
        self._details.question, self._details.files = event.user_query, event.files
        self._root.started_ns = entry.time_ns
        self._root.entries.append(entry.seq)

    def _close(self, event: RoundClosed, entry: Entry) -> None:
        root, details = self._root, self._details
        root.entries.append(entry.seq)
        root.outcome = "finished" if event.state is RoundState.finished else "failed"
        details.reason, details.detail = event.reason or "", event.detail
        # Of a round whose process died it is written when somebody opens its session again.
        root.ended_ns = None if event.reason == "interrupted" else entry.time_ns

    def finish(self, last_ns: int) -> Node:
        """The tree, once there is no more to come."""
        root, details = self._root, self._details
        self._give_changes_to(root)
        for cancelled, entry in self._cancelled:
            self._cancel(cancelled, entry)
        if not root.outcome or details.reason == "interrupted":
            self._leave_open()
        for hop, _ in self._hops.values():
            _in_order(hop)
            begun = [each.started_ns for each in hop.children if each.started_ns is not None]
            hop.started_ns = min(begun, default=None) if hop.started_ns is None else hop.started_ns
        _in_order(root)
        if root.started_ns is None:
            root.started_ns = next((each.started_ns for each in root.children if each.started_ns is not None), last_ns)
        self._count()
        return root

    def _count(self) -> None:
        details = self._details
        for parent, node in ((each, child) for each in (self._root, *self._root.children) for child in each.children):
            if isinstance(node.details, ModelDetails):
                details.model_calls += 1
                details.input_tokens += node.details.input_tokens
                details.output_tokens += node.details.output_tokens
            elif isinstance(node.details, CodeDetails) and node.details.role != USER:
                details.cells += 1
                details.failed_cells += node.outcome in ("error", "timeout")
            elif isinstance(node.details, PostDetails) and node.details.is_self_send:
                details.corrections += parent.outcome in ("self_correction", "rejected")

    # --- turns ---------------------------------------------------------------------------------------------

    def _hop(self, turn: str, role: str) -> tuple[Node, HopDetails]:
        """The node of a turn, made when something of it is first met: how it ended is written last."""
        known = self._hops.get(turn)
        if known is None:
            details = HopDetails(role)
            known = self._hops[turn] = (Node(f"process {role}", "hop", details), details)
            self._root.children.append(known[0])
            answered = turn.removeprefix(f"{self._details.round_id}/").removesuffix(f"/{role}")
            self._answers(known, (answered,))
        return known

    def _answers(self, hop: tuple[Node, HopDetails], post_ids: tuple[str, ...]) -> None:
        posts = [self._posts[each][0] for each in post_ids if each in self._posts]
        if posts:
            hop[1].answers = tuple(post.send_from for post in posts)
        for each in post_ids:
            self._answered[each] = hop[0]

    def _finish_turn(self, event: TurnFinished, entry: Entry) -> None:
        last = event.answered[-1] if event.answered else ""
        hop = node, details = self._hop(f"{event.round_id}/{last}/{event.role}" if last else entry.key, event.role)
        node.entries.append(entry.seq)
        node.started_ns, node.ended_ns, node.outcome = event.started_at, entry.time_ns, event.outcome
        details.problem = gist(event.problem)
        self._answers(hop, event.answered)
        if last in self._posts:
            details.waited_ns = max(0, event.started_at - self._posts[last][1])

    def _where(self, turn: str, role: str) -> Node:
        """Where something belongs whose key begins with its turn; the root where that is no turn."""
        is_turn = turn.startswith(f"{self._details.round_id}/") and turn.endswith(f"/{role}") and role != USER
        return self._hop(turn, role)[0] if is_turn else self._root

    # --- Posts ---------------------------------------------------------------------------------------------

    def _send(self, event: PostSent, entry: Entry) -> None:
        post = event.post
        self._posts[post.id] = (post, entry.time_ns)
        if event.in_reply_to:
            last = event.in_reply_to[-1]
            # A failure is told in the name of the role that a branch began with; the turn is whose it was.
            role = self._posts[last][0].send_to if last in self._posts else post.send_from
            parent = self._hop(f"{event.round_id}/{last}/{role}", role)[0]
        else:
            parent = self._root
            if self._root.name == "invoke_workflow":
                self._root.name = f"invoke_workflow {post.send_to}"
        node = Node(f"send {post.send_to}", "post", self._told(post), entry.time_ns, entry.time_ns, "ok", [entry.seq])
        parent.children.append(node)

    def _told(self, post: Post) -> PostDetails:
        attached = tuple(
            AttachedDetails(each.type, len(each.content.encode("utf-8", "replace")), self._kept(each.content))
            for each in post.attachment_list
        )
        is_self_send = post.send_from == post.send_to
        text = remove_all_delimiters(self._kept(post.message))
        return PostDetails(post.id, post.send_from, post.send_to, gist_of(post), attached, is_self_send, text)

    def _cancel(self, event: PostCancelled, entry: Entry) -> None:
        hop = self._answered.get(event.post_id)
        if hop is not None:
            hop.entries.append(entry.seq)
            return
        senders = (self._posts[event.post_id][0].send_from,) if event.post_id in self._posts else ()
        self._answered[event.post_id] = node = Node(
            f"process {event.role}",
            "unanswered",
            UnansweredDetails(event.role, senders),
            entry.time_ns,
            entry.time_ns,
            "cancelled",
            [entry.seq],
        )
        self._root.children.append(node)

    def _leave_open(self) -> None:
        """Tells who had not answered yet: their turns may have begun, and nothing of them is written."""
        at_work = {details.role for node, details in self._hops.values() if not node.outcome}
        waiting: dict[str, list[str]] = {}
        for post, _ in self._posts.values():
            if post.id not in self._answered and post.send_to != USER and post.send_to not in at_work:
                waiting.setdefault(post.send_to, []).append(post.send_from)
        for role, senders in waiting.items():
            details = UnansweredDetails(role, tuple(senders))
            self._root.children.append(Node(f"process {role}", "unanswered", details))

    # --- what happens in a turn ----------------------------------------------------------------------------

    def _reply(self, event: ModelReplied, entry: Entry) -> None:
        message = decoded(event.message, Answer)
        for call in message.tool_calls:
            if self._content:
                self._arguments[event.turn, call.call_id] = call.arguments
        details = ModelDetails(
            event.model,
            event.reason,
            event.input_tokens,
            event.output_tokens,
            event.cached_tokens,
            event.reasoning_tokens,
            tuple(call.name for call in message.tool_calls),
            self._kept(message.content if isinstance(message.content, str) else ""),
        )
        node = Node(
            f"chat {event.model}", "model", details, event.started_at, entry.time_ns, event.outcome, [entry.seq]
        )
        self._hop(event.turn, event.role)[0].children.append(node)

    def _return(self, event: ToolReturned, entry: Entry) -> None:
        returned = decoded(event.result, Returned)
        details = ToolDetails(
            event.tool,
            event.call_id,
            "" if event.outcome == "ok" else gist(returned.result),
            self._arguments.get((event.turn, event.call_id), ""),
            self._kept(returned.result),
        )
        name = f"execute_tool {event.tool}"
        node = Node(name, "tool", details, event.started_at, entry.time_ns, event.outcome, [entry.seq])
        self._hop(event.turn, event.role)[0].children.append(node)
        if event.tool in TASK_TOOLS:
            self._give_changes_to(node)

    def _give_changes_to(self, node: Node) -> None:
        since = node.started_ns if node.kind == "tool" else None
        taken: list[Node] = []
        while self._changes and (since is None or (self._changes[-1].started_ns or 0) >= since):
            taken.append(self._changes.pop())
        node.children += reversed(taken)

    def _start_cell(self, event: CellStarted, entry: Entry) -> None:
        node, details = self._cell(event.cell_id, event.role)
        node.started_ns = entry.time_ns
        node.entries.append(entry.seq)
        details.lines = len(event.code.splitlines())
        # What looks at the user's files is the library's own code.
        details.code = self._kept(event.code) if event.role != USER else ""

    def _end_cell(self, event: CellDone, entry: Entry) -> None:
        node, details = self._cell(event.cell_id, event.role)
        node.started_ns = event.started_at if node.started_ns is None else node.started_ns
        node.ended_ns, node.outcome = entry.time_ns, event.outcome
        node.entries.append(entry.seq)
        came = decoded(event.execution, Ran)
        details.problem = "" if event.outcome == "ok" else gist(last_line(came.error or ""))
        details.artifacts = tuple(each.name or each.path for each in event.artifacts)
        details.error = self._kept(came.error or "")
        if event.role != USER:
            details.output = self._kept(came.output or "".join(came.stdout))

    def _cell(self, cell_id: str, role: str) -> tuple[Node, CodeDetails]:
        known = self._cells.get(cell_id)
        if known is None:
            details = CodeDetails(role)
            known = self._cells[cell_id] = (Node("execute_code", "code", details), details)
            self._where(cell_id.rpartition("/cell-")[0], role).children.append(known[0])
        return known

    def _ask(self, event: ApprovalAsked, entry: Entry) -> None:
        node, details = self._approval(event.approval_id, event.role)
        node.started_ns, details.question = entry.time_ns, event.question
        node.entries.append(entry.seq)

    def _answer(self, event: ApprovalGiven, entry: Entry) -> None:
        turn = event.approval_id.rpartition("/approval-")[0]
        node, details = self._approval(event.approval_id, turn.rpartition("/")[2])
        node.started_ns = entry.time_ns if node.started_ns is None else node.started_ns
        node.ended_ns, node.outcome = entry.time_ns, "ok" if event.approved else "rejected"
        details.comment = event.comment
        node.entries.append(entry.seq)

    def _approval(self, approval_id: str, role: str) -> tuple[Node, ApprovalDetails]:
        known = self._approvals.get(approval_id)
        if known is None:
            details = ApprovalDetails()
            known = self._approvals[approval_id] = (Node("await_approval", "approval", details), details)
            self._where(approval_id.rpartition("/approval-")[0], role).children.append(known[0])
        return known

    def _kept(self, text: str) -> str:
        return text if self._content else ""


def _changed(event: TaskChanged, entry: Entry) -> Node:
    subject = gist(decoded(event.task, Planned).subject)
    details = TaskDetails(event.task_id, event.previous, event.current, event.owner, subject)
    return Node(f"task {event.task_id}", "task", details, entry.time_ns, entry.time_ns, "ok", [entry.seq])


def _in_order(node: Node) -> None:
    """Puts what happened in it in the order in which it began; what has no time keeps to the end."""
    latest = max((each.started_ns for each in node.children if each.started_ns is not None), default=0)
    node.children.sort(key=lambda each: latest if each.started_ns is None else each.started_ns)
