"""A round as a tree: what real rounds come to, and that no journal, whole or cut, is too much for it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given

from roles_runtime.errors import InvalidResponseError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.model import Finish, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.posts.conversation import ArtifactRef, RoundState
from roles_runtime.posts.event import (
    ApprovalGiven,
    CellDone,
    DurableEvent,
    Entry,
    ModelReplied,
    PostSent,
    RoundClosed,
    RoundOpened,
    TaskChanged,
    ToolReturned,
    TurnFinished,
)
from roles_runtime.posts.post import USER, Post
from roles_runtime.roles.code_interpreter import CodeInterpreter
from roles_runtime.roles.middleware.plan_tasks import PlanTasks
from roles_runtime.roles.planner import Planner
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.runtime import Runtime
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
from roles_runtime.telemetry.tree import fold, split
from runtime.casting import Gate, cast, echo, entries_of, running, until
from telemetry.journals import JOURNALS

pytestmark = pytest.mark.anyio

SECRET = "sk-planted"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def response(**fields: str) -> str:
    return json.dumps({"response": fields})


def planned(send_to: str, message: str) -> str:
    stop = "Completed" if send_to == USER else "InProcess"
    plan = {"init_plan": "1. Work", "plan": "1. Work", "current_plan_step": "1. Work", "plan_reasoning": "So it is."}
    return response(**plan, stop=stop, send_to=send_to, message=message)


def coded(code: str) -> str:
    return response(thought="It is easy.", reply_type="python", reply_content=code)


def outline(node: Node, depth: int = 0) -> list[str]:
    """Names and outcomes, the tree's shape kept."""
    return [f"{'  ' * depth}{node.name} {node.outcome}".rstrip()] + [
        line for child in node.children for line in outline(child, depth + 1)
    ]


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from nodes(child)


def check(entries: Sequence[Entry], tree: Node) -> None:
    """What holds of every tree: each entry stands in it once, and what happened is in the order of time."""
    assert Counter(seq for each in nodes(tree) for seq in each.entries) == Counter(entry.seq for entry in entries)
    for each in nodes(tree):
        begun = [child.started_ns for child in each.children if child.started_ns is not None]
        assert begun == sorted(begun)
    for with_content in (False, True):
        json.dumps(msgspec.to_builtins(fold(entries, with_content=with_content)))


async def journal_of(runtime: Runtime, session_id: str = "s") -> list[Entry]:
    return await entries_of(runtime.ground.store, session_id)


async def tree_of(runtime: Runtime, *, with_content: bool = False) -> Node:
    """The tree of a session's last round."""
    entries = split(await journal_of(runtime))[-1]
    tree = fold(entries, with_content=with_content)
    check(entries, tree)
    return tree


# --- real rounds -----------------------------------------------------------------------------------------------


PLANNER = ScriptedModel(["no JSON at all", planned("CodeInterpreter", "Sum it."), planned(USER, "It is 42.")])
CODER = ScriptedModel([coded(f"key = {SECRET!r}\ntable['regon']"), coded("6 * 7")])
KERNEL = ScriptedKernels(
    [
        Execution("", "", error=f"Traceback\n  {SECRET}\nKeyError: 'regon'", outcome="error"),
        Execution("", "", True, output="42", artifacts=(ArtifactRef("/a/x.png", "image/png", "plot.png"),)),
    ]
)


async def corrected_twice(*, with_content: bool = False) -> tuple[list[Entry], Node]:
    async with running(Planner(model=PLANNER), CodeInterpreter(model=CODER), kernels=KERNEL) as runtime:
        round_ = await (await runtime.session("s")).ask("How much?\nAll of it.")
        assert round_.state is RoundState.finished, round_.detail
        return await journal_of(runtime), await tree_of(runtime, with_content=with_content)


async def test_a_faulty_answer_and_a_failing_cell_are_seen_with_how_they_were_corrected() -> None:
    _, tree = await corrected_twice()
    assert outline(tree) == [
        "invoke_workflow Planner finished",
        "  send Planner ok",
        "  process Planner self_correction",
        "    chat scripted ok",
        "    send Planner ok",
        "  process Planner ok",
        "    chat scripted ok",
        "    send CodeInterpreter ok",
        "  process CodeInterpreter self_correction",
        "    chat scripted ok",
        "    execute_code error",
        "    send CodeInterpreter ok",
        "  process CodeInterpreter ok",
        "    chat scripted ok",
        "    execute_code ok",
        "    send Planner ok",
        "  process Planner ok",
        "    chat scripted ok",
        "    send User ok",
    ]
    root, failed, second = tree.details, tree.children[3], tree.children[4]
    assert isinstance(root, RoundDetails)
    assert (root.question, root.model_calls, root.cells, root.failed_cells, root.corrections) == (
        "How much?\nAll of it.",
        5,
        2,
        1,
        2,
    )
    assert failed.details == HopDetails("CodeInterpreter", ("Planner",), failed.details.waited_ns)  # type: ignore[union-attr]
    assert second.details.answers == ("CodeInterpreter",)  # type: ignore[union-attr]
    cell, correction = failed.children[1].details, failed.children[2].details
    assert cell == CodeDetails("CodeInterpreter", 2, "KeyError: 'regon'")
    assert isinstance(correction, PostDetails)
    assert correction.is_self_send
    assert correction.gist.startswith("The code failed: KeyError: 'regon'")
    assert [each.type for each in correction.attached][-1] == "revise_message"
    made, told = second.children[1].details, second.children[2].details
    assert made == CodeDetails("CodeInterpreter", 1, artifacts=("plot.png",))
    assert isinstance(told, PostDetails)
    assert told.gist.startswith("The execution was successful. The result is: 42")
    assert all(node.started_ns is not None and node.ended_ns is not None for node in nodes(tree))


async def test_content_stands_in_it_only_where_it_was_asked_for() -> None:
    entries, tree = await corrected_twice()
    assert SECRET not in msgspec.json.encode(tree).decode()
    whole = fold(entries, with_content=True)
    failed = whole.children[3]
    asked, ran, sent = (each.details for each in failed.children)
    assert isinstance(asked, ModelDetails)
    assert isinstance(ran, CodeDetails)
    assert isinstance(sent, PostDetails)
    assert "table['regon']" in asked.text
    assert ran.code == f"key = {SECRET!r}\ntable['regon']"
    assert ran.error.endswith("KeyError: 'regon'")
    assert "{{DELIMITER" not in sent.text
    assert {each.type: each.text for each in sent.attached}["thought"] == "It is easy."


async def test_tools_and_the_tasks_that_they_changed() -> None:
    def calls(*each: tuple[str, dict[str, str]]) -> list[ToolCallChunk | Finish]:
        wanted = [ToolCall(call_id=name, name=name, arguments=json.dumps(given)) for name, given in each]
        return [*map(ToolCallChunk, wanted), Finish("tool_calls", Usage(1200, 30))]

    model = ScriptedModel(
        [
            calls(
                ("TaskCreate", {"subject": "Sum it", "description": SECRET}),
                ("TaskUpdate", {"taskId": "1", "status": "completed"}),
                ("Missing", {}),
            ),
            [TextChunk("done"), Finish("stop", Usage(1300, 5))],
        ]
    )
    async with running(ModelRole("Planner", model=model), middleware=[PlanTasks()]) as runtime:
        await (await runtime.session("s")).ask("hey")
        tree, whole = await tree_of(runtime), await tree_of(runtime, with_content=True)
    hop = tree.children[1]
    assert outline(hop) == [
        "process Planner ok",
        "  chat scripted ok",
        "  execute_tool TaskCreate ok",
        "    task 1 ok",
        "  execute_tool TaskUpdate ok",
        "    task 1 ok",
        "    task 1 ok",
        "  execute_tool Missing error",
        "  chat scripted ok",
        "  send User ok",
    ]
    first, missing = hop.children[0].details, hop.children[3].details
    assert first == ModelDetails("scripted", "tool_calls", 1200, 30, calls=("TaskCreate", "TaskUpdate", "Missing"))
    assert isinstance(missing, ToolDetails)
    assert missing.problem.startswith("There is no tool named 'Missing'")
    assert [each.details for tool in hop.children[1:3] for each in tool.children] == [
        TaskDetails("1", "", "pending", "", "Sum it"),
        TaskDetails("1", "pending", "completed", "", "Sum it"),
        TaskDetails("1", "completed", "deleted"),
    ]
    assert SECRET not in msgspec.json.encode(tree).decode()
    created = whole.children[1].children[1].details
    assert isinstance(created, ToolDetails)
    assert json.loads(created.arguments)["description"] == SECRET
    assert "Task #1" in created.result
    root = tree.details
    assert isinstance(root, RoundDetails)
    assert (root.input_tokens, root.output_tokens) == (2500, 35)


@cast("Planner")
async def sends_two(turn: Turn) -> Answer:
    if turn.post.send_from == USER:
        return [turn.answer("left", "A"), turn.answer("right", "B")]
    return turn.answer(" and ".join(post.message for post in turn.posts), USER)


async def test_a_fan_out_stands_side_by_side() -> None:
    async with running(sends_two, echo("A"), echo("B")) as runtime:
        await (await runtime.session("s")).ask("hey")
        tree = await tree_of(runtime)
    assert outline(tree) == [
        "invoke_workflow Planner finished",
        "  send Planner ok",
        "  process Planner ok",
        "    send A ok",
        "    send B ok",
        "  process A ok",
        "    send Planner ok",
        "  process B ok",
        "    send Planner ok",
        "  process Planner ok",
        "    send User ok",
    ]
    assert tree.children[4].details.answers == ("A", "B")  # type: ignore[union-attr]


async def test_a_branch_that_fails_tells_it_in_its_own_turn() -> None:
    @cast("A")
    async def fails(turn: Turn) -> Answer:
        if turn.post.send_from == "C":
            raise RuntimeError("no luck")
        return turn.answer("you do it", "C")

    @cast("C")
    async def hands_back(turn: Turn) -> Answer:
        raise RuntimeError("no luck")

    async with running(sends_two, fails, echo("B"), hands_back) as runtime:
        await (await runtime.session("s")).ask("hey")
        tree = await tree_of(runtime)
    hop = next(each for each in tree.children if each.name == "process C")
    assert hop.outcome == "error"
    assert hop.details.problem.endswith("no luck")  # type: ignore[union-attr]
    # It is told in the name of the role that the branch began with.
    (told,) = hop.children
    assert isinstance(told.details, PostDetails)
    assert (told.details.sender, told.details.recipient) == ("A", "Planner")


async def test_a_failed_round_says_why() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        raise InvalidResponseError("never right")

    async with running(planner) as runtime:
        await (await runtime.session("s")).ask("hey")
        tree = await tree_of(runtime)
    assert outline(tree) == ["invoke_workflow Planner failed", "  send Planner ok", "  process Planner self_correction"]
    root, hop = tree.details, tree.children[1].details
    assert isinstance(root, RoundDetails)
    assert isinstance(hop, HopDetails)
    assert (root.reason, root.detail) == ("limit", "Role Planner: never right")
    assert hop.problem == "never right"
    assert root.corrections == 0


async def test_a_cancelled_round_says_whose_turns_ran_and_who_did_not_get_to_answer() -> None:
    gate = Gate()

    @cast("A")
    async def waits(turn: Turn) -> Answer:
        await gate.wait()
        return turn.answer("never")

    async with running(sends_two, waits, echo("B")) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("hey"))
        await gate.reached.wait()
        await until(lambda: any(post.send_from == "B" for post in session.rounds[-1].post_list))
        await session.cancel()
        await asked
        tree = await tree_of(runtime)
    assert tree.details.reason == "cancelled"  # type: ignore[union-attr]
    hops = {each.name: each.outcome for each in tree.children[2:] if each.kind == "hop"}
    assert hops == {"process A": "cancelled", "process B": "ok"}
    # What B answered was in wait for A.
    (left,) = [each for each in tree.children if each.kind == "unanswered"]
    assert (left.details, left.outcome) == (UnansweredDetails("Planner", ("B",)), "cancelled")


async def test_a_question_to_the_user_stands_in_its_turn() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        return turn.answer(str(await turn.approve("May I?")), USER)

    async with running(planner) as runtime:
        await (await runtime.session("s")).ask("hey")
        tree = await tree_of(runtime)
    asked = tree.children[1].children[0]
    assert (asked.name, asked.outcome) == ("await_approval", "rejected")
    assert asked.details == ApprovalDetails("May I?", "Nobody was there to answer.")


# --- journals that are cut, foreign, long ---------------------------------------------------------------------------


async def test_a_round_whose_process_died_anywhere_has_a_tree() -> None:
    entries, whole = await corrected_twice()
    for length in range(1, len(entries)):
        tree = fold(entries[:length])
        check(entries[:length], tree)
        assert (tree.outcome, tree.ended_ns) == ("", None)
        assert tree.started_ns == whole.started_ns


async def test_who_had_not_answered_is_told_where_the_process_died() -> None:
    entries, _ = await corrected_twice()
    sent = next(n for n, entry in enumerate(entries) if isinstance(entry.event, TurnFinished) and n > 5)
    cut = entries[: sent + 1]
    round_id = cut[0].event.round_id
    closed = Entry(
        99, f"{round_id}/closed", 2**62, RoundClosed(round_id, RoundState.failed, "interrupted", "It ended.")
    )
    for tree in (fold(cut), fold([*cut, closed])):
        assert tree.children[-1].details == UnansweredDetails("CodeInterpreter", ("Planner",))
        # Nobody knows when: it was written down when somebody came by.
        assert tree.ended_ns is None
    begun = fold([*cut, entries[sent + 1]])
    assert outline(begun)[-2:] == ["  process CodeInterpreter", "    chat scripted ok"]
    assert begun.children[-1].started_ns == begun.children[-1].children[0].started_ns


def test_what_is_written_otherwise_in_another_version_is_left_out() -> None:
    turn = "r/p/A"
    events: list[DurableEvent] = [
        ModelReplied("r", "A", turn, "m", "no JSON", "stop", 1, 2, 5),
        ToolReturned("r", "A", turn, "c", "t", '{"result": {"newer": 1}}', 6, "error"),
        CellDone("r", "A", f"{turn}/cell-1", "[]", 7, "error"),
        ApprovalGiven("r", f"{turn}/approval-1", True),
    ]
    entries = [Entry(n, str(n), 10, event) for n, event in enumerate(events, 1)]
    tree = fold(entries, with_content=True)
    check(entries, tree)
    assert outline(tree) == [
        "invoke_workflow",
        "  process A",
        "    chat m ok",
        "    execute_tool t error",
        "    execute_code error",
        "    await_approval ok",
    ]


def test_a_long_round_is_folded_without_recursion() -> None:
    names = ("A", "B")
    events: list[DurableEvent] = [RoundOpened("r", "hey")]
    for n in range(5000):
        post = Post(f"p{n}", "on", names[n % 2], names[(n + 1) % 2], [])
        events += [PostSent("r", post, (f"p{n - 1}",) if n else ()), TaskChanged("r", "1", "", "pending")]
    entries = [Entry(n, str(n), n, event) for n, event in enumerate(events, 1)]
    tree = fold(entries)
    check(entries, tree)
    assert sum(each.kind == "hop" for each in tree.children) == 4999


def test_the_trace_is_that_of_the_first_entry_that_has_one() -> None:
    opened = Entry(1, "r", 1, RoundOpened("r", "hey"), f"00-{TRACE}-00f067aa0ba902b7-01")
    assert fold([opened]).details.trace_id == TRACE  # type: ignore[union-attr]


@given(JOURNALS)
def test_any_events_have_a_tree_in_which_each_stands_once(entries: list[Entry]) -> None:
    rounds = split(entries)
    assert sorted(entry.seq for each in rounds for entry in each) == [entry.seq for entry in entries]
    for each in rounds:
        check(each, fold(each))
