"""A trace a round: its tree, links, names and attributes, whatever becomes of the round."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from roles_runtime import CodeInterpreter, ModelRole, Planner, Post, ScriptedModel, Team
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.scripted import ScriptedKernels
from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import ApprovalAsked, Event
from roles_runtime.posts.post import USER
from roles_runtime.posts.shared import FileProfile, FileProfiles
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.telemetry.telemetry import Telemetry
from runtime.casting import cast, echo, entries_of, relay, running, says
from runtime.test_tasks import calls, create, update
from telemetry.seeing import Seeing, attributes

pytestmark = pytest.mark.anyio


def planned(send_to: str, message: str = "m") -> str:
    steps = {"plan_reasoning": "r", "init_plan": "1. a", "plan": "1. a", "current_plan_step": "1. a"}
    stop = "Completed" if send_to == USER else "InProcess"
    return json.dumps({"response": {**steps, "stop": stop, "send_to": send_to, "message": message}})


def code(text: str) -> str:
    return json.dumps({"response": {"thought": "t", "reply_type": "python", "reply_content": text}})


def linked(span: ReadableSpan) -> list[int]:
    return [link.context.span_id for link in span.links]


def id_of(span: ReadableSpan) -> int:
    return int(span.get_span_context().span_id)


async def test_a_round_is_one_trace_flat_in_order_of_time_and_tied_by_links() -> None:
    seeing = Seeing()
    async with running(relay(), echo(), coats=seeing.telemetry) as runtime:
        await (await runtime.session("s")).ask("hey")
    assert seeing.tree() == [
        "invoke_workflow team",
        "  send Planner",
        "  process Planner",
        "    invoke_agent Planner",
        "    send Echo",
        "  process Echo",
        "    invoke_agent Echo",
        "    send Planner",
        "  process Planner",
        "    invoke_agent Planner",
    ]
    assert len({span.get_span_context().trace_id for span in seeing.spans}) == 1
    sends = [span for span in seeing.spans if span.name.startswith("send")]
    hops = [span for span in seeing.spans if span.name.startswith("process")]
    assert [linked(hop) for hop in hops] == [[id_of(send)] for send in sends]
    assert {span.kind for span in sends} == {SpanKind.PRODUCER}
    assert {span.kind for span in hops} == {SpanKind.CONSUMER}
    assert {span.status.status_code for span in seeing.spans} == {StatusCode.UNSET}


async def test_hops_may_hang_on_the_send_that_led_to_them() -> None:
    seeing = Seeing(hop_parent="send")
    async with running(relay(), echo(), coats=seeing.telemetry) as runtime:
        await (await runtime.session("s")).ask("hey")
    tree = seeing.tree()
    assert tree[:6] == [
        "invoke_workflow team",
        "  send Planner",
        "    process Planner",
        "      invoke_agent Planner",
        "      send Echo",
        "        process Echo",
    ]
    assert not any(span.links for span in seeing.spans)


async def test_a_hop_tells_what_came_in_and_what_went_out() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Post:
        post = turn.answer("done", USER)
        post.add_attachment(Attachment.create("text", "größer"))
        return post

    seeing = Seeing()
    async with running(planner, coats=seeing.telemetry) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    hop = attributes(seeing.one("process Planner"))
    asked, answered = round_.post_list
    assert {key: hop[key] for key in hop if key.split(".")[0] in ("in", "out", "messaging")} == {
        "messaging.system": "roles_runtime",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "Planner",
        "messaging.message.id": asked.id,
        "messaging.message.conversation_id": "s",
        "in.from": USER,
        "in.recipient": "Planner",
        "in.attachments": "[]",
        "out.from": "Planner",
        "out.to": USER,
        "out.attachments": json.dumps(
            [{"id": answered.attachment_list[0].id, "type": "text", "bytes": 8}], separators=(",", ":")
        ),
    }
    assert (hop["roles.outcome"], hop["roles.post.self_send"], hop["roles.round.id"]) == ("ok", False, round_.id)
    root = attributes(seeing.one("invoke_workflow team"))
    assert (root["gen_ai.conversation.id"], root["roles.round.index"], root["roles.outcome"]) == ("s", 0, "ok")


async def test_a_self_correction_is_a_hop_of_its_own() -> None:
    seeing = Seeing()
    planner = Planner(model=ScriptedModel(["{", planned(USER, "well")], sequential=True))
    async with running(planner, coats=seeing.telemetry) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert round_.state is RoundState.finished
    assert seeing.tree() == [
        "invoke_workflow team",
        "  send Planner",
        "  process Planner",
        "    invoke_agent Planner",
        "      chat scripted",
        "    send Planner",
        "  process Planner",
        "    invoke_agent Planner",
        "      chat scripted",
    ]
    first, second = (attributes(span) for span in seeing.named("process Planner"))
    assert (first["roles.outcome"], first["out.to"], first["roles.post.self_send"]) == (
        "self_correction",
        "Planner",
        False,
    )
    assert (second["roles.outcome"], second["out.to"], second["roles.post.self_send"]) == ("ok", USER, True)
    assert [each["type"] for each in json.loads(second["in.attachments"])] == ["invalid_response", "revise_message"]


async def test_a_failing_cell_that_is_corrected_reads_like_a_story() -> None:
    seeing = Seeing()
    cells = ScriptedKernels(
        [
            Execution("", "", error="Traceback …\nKeyError: 'sales'", outcome="error"),
            Execution("", "", True, output="42"),
        ]
    )
    model = ScriptedModel(
        {"Planner": [planned("CodeInterpreter"), planned(USER)], "CodeInterpreter": [code("a"), code("b")]}
    )
    async with running(Planner(model=model), CodeInterpreter(model=model), kernels=cells, coats=seeing.telemetry) as it:
        round_ = await (await it.session("s")).ask("hey")
    assert round_.state is RoundState.finished
    assert [line for line in seeing.tree() if "execute" in line or "CodeInterpreter" in line] == [
        "    send CodeInterpreter",
        "  process CodeInterpreter",
        "    invoke_agent CodeInterpreter",
        "      execute_code !KeyError",
        "    send CodeInterpreter",
        "  process CodeInterpreter",
        "    invoke_agent CodeInterpreter",
        "      execute_code",
    ]
    failed, worked = seeing.named("execute_code")
    assert (failed.status.status_code, failed.status.description) == (StatusCode.ERROR, "KeyError")
    assert attributes(worked)["roles.execution.outcome"] == "ok"
    assert attributes(worked)["roles.code.size"] == 1
    assert attributes(worked)["gen_ai.agent.name"] == "CodeInterpreter"


async def test_with_content_a_round_a_cell_and_its_error_are_told() -> None:
    seeing = Seeing(content=True)
    cells = ScriptedKernels(
        [
            Execution("", "", error="Traceback (most recent call last):\n  …\nKeyError: 'sales'", outcome="error"),
            Execution("", "", True, output="42", stdout=("printed\n",)),
        ]
    )
    model = ScriptedModel(
        {"Planner": [planned("CodeInterpreter"), planned(USER, "it is 42")], "CodeInterpreter": [code("a"), code("b")]}
    )
    async with running(Planner(model=model), CodeInterpreter(model=model), kernels=cells, coats=seeing.telemetry) as it:
        await (await it.session("s")).ask("how many?")
    root = attributes(seeing.one("invoke_workflow team"))
    assert json.loads(root["gen_ai.input.messages"])[0]["parts"] == [{"type": "text", "content": "how many?"}]
    assert json.loads(root["gen_ai.output.messages"])[0]["parts"] == [{"type": "text", "content": "it is 42"}]
    failed, worked = seeing.named("execute_code")
    assert failed.status.description == "KeyError: 'sales'"
    assert [(event.name, (event.attributes or {})["exception.type"]) for event in failed.events] == [
        ("exception", "KeyError")
    ]
    assert (attributes(worked)["roles.code"], attributes(worked)["gen_ai.tool.call.result"]) == ("b", "printed\n42")
    chat = attributes(seeing.named("chat scripted")[0])
    assert set(json.loads(chat["gen_ai.system_instructions"])[0]) == {"type", "content"}
    assert json.loads(chat["gen_ai.output.messages"])[0]["finish_reason"] == "stop"


async def test_the_first_look_at_a_file_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n", encoding="utf-8")
    profiles = FileProfiles((FileProfile("a.csv", 4, "other"),)).to_json()
    seeing = Seeing()
    cells = ScriptedKernels([Execution("", "", True, stdout=(f"file profiles: {profiles}\n",))])
    async with running(relay(), echo(), kernels=cells, coats=seeing.telemetry, data_dir=tmp_path / "data") as runtime:
        await (await runtime.session("s")).ask("hey", files=[tmp_path / "a.csv"])
    assert seeing.tree()[:3] == ["invoke_workflow team", "  execute_code", "  send Planner"]
    look = attributes(seeing.one("execute_code"))
    assert (look["roles.code.purpose"], "gen_ai.agent.name" in look) == ("profile", False)


async def test_several_posts_side_by_side_are_joined_in_one_hop() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> list[Post] | Post:
        if turn.post.send_from == USER:
            return [turn.answer("a", "Left"), turn.answer("b", "Right")]
        return turn.answer("done", USER)

    seeing = Seeing()
    async with running(planner, echo("Left"), echo("Right"), coats=seeing.telemetry) as runtime:
        await (await runtime.session("s")).ask("hey")
    out, joined = (attributes(span) for span in seeing.named("process Planner"))
    assert out["out.to"] == "Left, Right"
    assert (joined["in.from"], joined["out.to"]) == ("Left, Right", USER)
    assert len(seeing.named("send Planner")) == 2
    root = seeing.one("invoke_workflow team")
    for span in (*seeing.named("process Left"), *seeing.named("process Right"), *seeing.named("process Planner")):
        assert span.parent is not None
        assert span.parent.span_id == id_of(root)


async def test_a_role_that_raises_fails_the_round_and_is_recorded_once() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Post:
        raise LookupError("secret words")

    seeing = Seeing()
    async with running(planner, coats=seeing.telemetry) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
    assert round_.state is RoundState.failed
    assert seeing.tree() == [
        "invoke_workflow team !role_error",
        "  send Planner",
        "  process Planner !LookupError",
        "    invoke_agent Planner !LookupError",
    ]
    events = [(span.name, event.name) for span in seeing.spans for event in span.events]
    assert events == [("invoke_agent Planner", "exception")]
    hop = seeing.one("process Planner")
    assert (attributes(hop)["roles.outcome"], attributes(hop)["out.to"]) == ("error", "")
    assert "secret words" not in repr([span.to_json() for span in seeing.spans])


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize("error", [SystemExit(3), SpeechlessError()], ids=["exit", "speechless"])
async def test_whatever_a_role_raises_is_seen_and_changed_by_nobody(error: BaseException) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Post:
        raise error

    async def detail(coats: Telemetry | None) -> str:
        async with running(planner, coats=coats) as runtime:
            return (await (await runtime.session("s")).ask("hey")).detail

    seeing = Seeing(content=True)
    assert await detail(seeing.telemetry) == await detail(None)
    kind = type(error).__name__
    assert seeing.tree()[-2:] == [f"  process Planner !{kind}", f"    invoke_agent Planner !{kind}"]


@pytest.mark.parametrize("answer", [None, 7, ["a"], {"a": 1}, Post.create("m", "Other", USER), [None]])
async def test_what_is_no_answer_is_the_routers_to_refuse(answer: Any) -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Any:
        return answer

    seeing = Seeing(content=True)
    async with running(planner, coats=seeing.telemetry) as runtime:
        assert (await (await runtime.session("s")).ask("hey")).reason == "role_error"
    assert seeing.tree()[-2:] == ["  process Planner !RoleError", "    invoke_agent Planner"]


async def test_a_rejected_recipient_is_seen_as_the_role_wrote_it() -> None:
    seeing = Seeing()
    async with running(says("Planner", ("nobody", "x"), (USER, "done")), coats=seeing.telemetry) as runtime:
        await (await runtime.session("s")).ask("hey")
    first, second = (attributes(span) for span in seeing.named("process Planner"))
    assert (first["roles.outcome"], first["out.to"]) == ("rejected", "nobody")
    assert (second["roles.outcome"], second["roles.post.self_send"]) == ("ok", True)


async def test_a_name_that_a_model_made_up_is_of_a_line_and_masked() -> None:
    made_up = "sk-planted-0123456789abcdef\n" + "x" * 100_000
    seeing = Seeing()
    async with running(says("Planner", (made_up, "x"), (USER, "done")), coats=seeing.telemetry) as runtime:
        await (await runtime.session("s")).ask("hey")
    first, _ = (attributes(span) for span in seeing.named("process Planner"))
    assert first["out.to"] == "[masked] " + "x" * 72


async def test_a_cancelled_round_ends_all_its_spans() -> None:
    begun = asyncio.Event()

    @cast("Planner")
    async def planner(turn: Turn) -> Post:
        begun.set()
        await asyncio.sleep(60)
        return turn.answer("late", USER)

    seeing = Seeing()
    async with running(planner, coats=seeing.telemetry) as runtime:
        session = await runtime.session("s")
        asking = asyncio.create_task(session.ask("hey"))
        await begun.wait()
        await session.cancel()
        assert (await asking).reason == "cancelled"
    assert [line.strip() for line in seeing.tree()] == [
        "invoke_workflow team !cancelled",
        "send Planner",
        "process Planner",
        "invoke_agent Planner",
    ]
    assert attributes(seeing.one("process Planner"))["roles.outcome"] == "cancelled"
    assert attributes(seeing.one("invoke_workflow team"))["roles.outcome"] == "cancelled"


async def test_a_changed_task_is_an_event_of_the_call_that_changed_it() -> None:
    seeing = Seeing()
    model = ScriptedModel(
        [calls(create("a"), update("1", status="in_progress")), calls(update("1", status="deleted")), "ok"],
        sequential=True,
    )
    team = Team(ModelRole("Worker", model=model))
    async with Runtime(team, kernels=None, telemetry=seeing.telemetry) as runtime:
        await (await runtime.session("s")).ask("go")
    changed = [(span.name, dict(event.attributes or {})) for span in seeing.spans for event in span.events]
    assert changed == [
        ("execute_tool TaskCreate", {"id": "1", "from": "", "to": "pending", "owner": ""}),
        ("execute_tool TaskUpdate", {"id": "1", "from": "pending", "to": "in_progress", "owner": "Worker"}),
        ("execute_tool TaskUpdate", {"id": "1", "from": "in_progress", "to": "deleted", "owner": ""}),
    ]


async def test_an_approval_is_two_events_of_the_role_that_asked() -> None:
    @cast("Planner")
    async def planner(turn: Turn) -> Post:
        return turn.answer("yes" if await turn.approve("May I tell of the secret words?") else "no", USER)

    seeing = Seeing()
    async with running(planner, coats=seeing.telemetry) as runtime:
        session = await runtime.session("s")

        def answer(event: Event) -> None:
            if isinstance(event, ApprovalAsked):
                session.approve(event.approval_id, True)

        with session.attended():
            round_ = await session.ask("hey", on_event=answer)
    assert round_.reply is not None
    assert round_.reply.message == "yes"
    events = [(event.name, dict(event.attributes or {})) for event in seeing.one("invoke_agent Planner").events]
    (asked, first), (given, second) = events
    assert (asked, given) == ("roles.approval.asked", "roles.approval.given")
    assert second == {**first, "approved": True}
    assert "secret words" not in repr([span.to_json() for span in seeing.spans])


async def test_a_round_hangs_on_whoever_asked_and_is_linked_to_the_one_before() -> None:
    seeing = Seeing()
    tracer = seeing.telemetry.providers.tracer_provider.get_tracer("app")
    async with running(relay(), echo(), coats=seeing.telemetry) as runtime:
        session = await runtime.session("s")
        with tracer.start_as_current_span("request") as request:
            await session.ask("one")
        await session.ask("two")
    first, second = seeing.named("invoke_workflow team")
    assert first.parent is not None
    assert first.parent.span_id == request.get_span_context().span_id
    assert second.parent is None
    assert linked(second) == [id_of(first)]
    assert second.get_span_context().trace_id != first.get_span_context().trace_id


async def test_the_link_outlives_the_process_and_every_entry_has_its_traceparent(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/roles.db"
    seen = []
    for question in ("one", "two"):
        seeing = Seeing()
        team = Team(relay(), [echo()])
        async with Runtime(team, store=SqliteStore.from_url(url), kernels=None, telemetry=seeing.telemetry) as runtime:
            session = await runtime.session("s")
            await session.ask(question)
            entries = await entries_of(runtime.ground.store, "s")
        seen.append(seeing.one("invoke_workflow team"))
    assert linked(seen[1]) == [id_of(seen[0])]
    ids = {entry.traceparent.split("-")[1] for entry in entries}
    assert ids == {f"{span.get_span_context().trace_id:032x}" for span in seen}
    assert seen[1].get_span_context().trace_id == int(session.rounds[-1].traceparent.split("-")[1], 16)


async def test_a_role_may_make_spans_of_its_own_and_none_leaks_into_the_next_turn() -> None:
    tracer = trace.get_tracer("app")
    seeing = Seeing()
    mine = seeing.telemetry.providers.tracer_provider.get_tracer("app")
    found: list[bool] = []

    class Careless(Role):
        name = "Planner"

        async def reply(self, turn: Turn) -> Post:
            found.append(trace.get_current_span().get_span_context().is_valid)
            mine.start_as_current_span("mine").__enter__()
            return turn.answer("done", USER)

    assert tracer is not None
    async with running(Careless(), coats=seeing.telemetry) as runtime:
        session = await runtime.session("s")
        await session.ask("one")
        await session.ask("two")
    assert found == [True, True]
    assert len({span.get_span_context().trace_id for span in seeing.named("process Planner")}) == 2
    assert not trace.get_current_span().get_span_context().is_valid


async def test_two_hundred_sessions_side_by_side_keep_to_their_own_traces() -> None:
    seeing = Seeing()
    async with running(relay(), echo(), coats=seeing.telemetry) as runtime:
        sessions = [await runtime.session(f"s-{number}") for number in range(200)]
        await asyncio.gather(*(session.ask("hey") for session in sessions))
    traces: dict[int, set[str]] = {}
    for span in seeing.spans:
        told = attributes(span)
        session = told.get("gen_ai.conversation.id") or told.get("messaging.message.conversation_id")
        assert isinstance(session, str)
        traces.setdefault(span.get_span_context().trace_id, set()).add(session)
    assert len(traces) == 200
    assert all(len(each) == 1 for each in traces.values())
    assert len(seeing.spans) == 200 * 10
