"""What is said of each node of a round's tree, for somebody who never saw the code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from roles_runtime.apps.text import one_line, shortened
from roles_runtime.posts.post import USER
from roles_runtime.telemetry.nodes import (
    ApprovalDetails,
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

MAX_CHARS = 240
_LONG_WAIT_NS = 100_000_000
_MAX_NAME = 80
_MAX_SUBJECT = 60


def words(node: Node, within: Node | None = None) -> str:
    """One line, clean.

    Args:
        node: Of whom.
        within: What it stands in: what that says already is not said again.
    """
    match node.details:
        case RoundDetails():
            said = node.name
        case HopDetails() as hop:
            said = _hop(node, hop)
        case ModelDetails() as model:
            said = _model(node, model)
        case ToolDetails() as tool:
            changed = f": {words(node.children[0])}" if len(node.children) == 1 else ""
            said = f"{node.name}{changed}{_end(node, tool.problem)}"
        case CodeDetails() as code:
            said = _code(node, code, within)
        case PostDetails() as post:
            said = _post(post, within)
        case TaskDetails() as task:
            said = _task(task)
        case ApprovalDetails() as approval:
            answer = {"ok": "yes", "rejected": "no"}.get(node.outcome, "not answered")
            comment = f": {approval.comment}" if approval.comment else ""
            said = f"asks the user: {approval.question} [{answer}{comment}]"
        case UnansweredDetails() as left:
            verb = "does not answer" if node.outcome else "had not answered"
            said = f"{left.role} {verb} {_listed(left.senders) or 'a Post'}{_end(node) if node.outcome else ''}"
    return one_line(said, MAX_CHARS)


def attached_words(post: PostDetails) -> str:
    """What a Post carries that is not empty, one line; empty where that is nothing."""
    kinds = Counter(each.type for each in post.attached if each.size_bytes)
    return one_line(f"attached: {_counted(kinds)}", MAX_CHARS) if kinds else ""


def ending(node: Node) -> str:
    """How a round ended, one line."""
    details = node.details
    assert isinstance(details, RoundDetails)
    if not node.outcome:
        return "not over: it still runs, or its process has ended"
    reason = f" ({details.reason})" if details.reason else ""
    detail = f": {details.detail}" if details.detail else ""
    return one_line(f"{node.outcome}{reason}{detail}", 1000)


def sums(details: RoundDetails) -> str:
    """What a round took, one line; empty where that is nothing."""
    found = []
    if details.model_calls:
        tokens = _tokens(details.input_tokens, details.output_tokens)
        found.append(_number(details.model_calls, "model call") + (f" ({tokens})" if tokens else ""))
    if details.cells:
        failed = f" ({details.failed_cells} failed)" if details.failed_cells else ""
        found.append(_number(details.cells, "cell") + failed)
    if details.corrections:
        found.append(_number(details.corrections, "self-correction"))
    return ", ".join(found)


def contents(node: Node) -> Iterator[tuple[str, list[str]]]:
    """The texts of a node where its tree has them: what it is, and its lines, clean."""
    match node.details:
        case ModelDetails(text=text):
            found = [("said", text)]
        case ToolDetails(arguments=arguments, result=result):
            found = [("arguments", arguments), ("result", result)]
        case CodeDetails(code=code, output=output, error=error):
            found = [("code", code), ("output", output), ("error", error)]
        case PostDetails(text=text, attached=attached):
            found = [("message", text), *((each.type, each.text) for each in attached)]
        case _:
            return
    for title, text in found:
        lines = shortened(text).expandtabs(4).strip("\n").splitlines()
        if lines:
            yield one_line(title, _MAX_NAME), lines


def style_of(node: Node) -> str:
    """How a terminal shows it, in rich's words."""
    if node.outcome in ("error", "timeout", "failed"):
        return "red"
    if node.outcome in ("self_correction", "rejected", "cancelled") or not node.outcome:
        return "yellow"
    if isinstance(node.details, PostDetails):
        return "yellow" if node.details.is_self_send else "green"
    return {"round": "bold", "hop": "bold cyan"}.get(node.kind, "")


def _hop(node: Node, hop: HopDetails) -> str:
    senders = ["itself" if each == hop.role else each for each in hop.answers]
    waited = f" (waited {span_words(hop.waited_ns)})" if hop.waited_ns >= _LONG_WAIT_NS else ""
    return f"{hop.role} answers {_listed(senders)}".rstrip() + waited + _end(node, hop.problem)


def _model(node: Node, model: ModelDetails) -> str:
    does = f"calls {_counted(Counter(model.calls))}" if model.calls else "answers"
    # It is the rule, and says nothing, that an answer stops and that calls are calls.
    ended = "" if model.finish_reason in ("", "stop", "tool_calls") else f"ended by {model.finish_reason}"
    told = ", ".join(filter(None, (_tokens(model.input_tokens, model.output_tokens), ended)))
    return f"{node.name} {does}{': ' if told else ''}{told}{_end(node)}"


def _code(node: Node, code: CodeDetails, within: Node | None) -> str:
    if code.role == USER:
        files = within.details.files if within is not None and isinstance(within.details, RoundDetails) else ()
        what = f"a first look at {_listed(files) or 'files'}"
    else:
        what = _number(code.lines, "line")
    made = f", made {_listed(code.artifacts)}" if code.artifacts else ""
    return f"{node.name}: {what}{made}{_end(node, code.problem)}"


def _post(post: PostDetails, within: Node | None) -> str:
    if post.is_self_send:
        mends = within is not None and within.outcome in ("self_correction", "rejected")
        arrow = "-> itself, to correct" if mends else "-> itself"
    else:
        speaks = within is not None and isinstance(within.details, HopDetails) and within.details.role == post.sender
        arrow = f"-> {post.recipient}" if speaks else f"{post.sender} -> {post.recipient}"
    return f"{arrow}: {post.gist}"


def _task(task: TaskDetails) -> str:
    owner = f" ({task.owner})" if task.owner else ""
    subject = f": {one_line(task.subject, _MAX_SUBJECT)}" if task.subject else ""
    if not task.previous:
        change = f"new, {task.current}"
    elif task.previous == task.current:
        change = f"changed, {task.current}"
    else:
        change = f"{task.previous} -> {task.current}"
    return f"task #{task.task_id} {change}{owner}{subject}"


def _end(node: Node, problem: str = "") -> str:
    """How it ended, where that was not well."""
    if node.outcome == "ok":
        return ""
    if not node.outcome:
        return " [did not end]"
    return f" [{node.outcome}: {problem}]" if problem else f" [{node.outcome}]"


def _tokens(given: int, gave: int) -> str:
    return f"{given:,} tokens in, {gave:,} out" if given or gave else ""


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(name if count == 1 else f"{name} x{count}" for name, count in counts.items())


def _listed(names: Iterable[str]) -> str:
    shown = [one_line(each, _MAX_NAME) for each in dict.fromkeys(names)]
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


# The unit from which on it is told, what its rest is told in, and both by name.
_UNITS: Sequence[tuple[int, int, str, str]] = (
    (60_000_000_000, 1_000_000_000, "min", "s"),
    (3_600_000_000_000, 60_000_000_000, "h", "min"),
    (86_400_000_000_000, 3_600_000_000_000, "d", "h"),
)


def span_words(span_ns: int) -> str:
    """A span of time in at most 11 characters or so: ``0.4 ms``, ``122 ms``, ``3.41 s``, ``2 min 05 s``."""
    if span_ns < 9_950_000:
        return f"{span_ns / 1e6:.1f} ms"
    if span_ns < 999_500_000:
        return f"{span_ns / 1e6:.0f} ms"
    if span_ns < 59_995_000_000:
        return f"{span_ns / 1e9:.2f} s"
    # What rounds to a minute is one.
    span_ns = max(span_ns, _UNITS[0][0])
    unit, part, name, part_name = [each for each in _UNITS if span_ns >= each[0]][-1]
    whole, rest = divmod(span_ns, unit)
    return f"{whole} {name} {rest // part:02} {part_name}"
