"""Old rounds become a summary, which the role is shown in their place."""

from __future__ import annotations

import pytest

from roles_runtime.errors import ConfigError, ModelError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.message import AssistantTextMessage, Message, ToolMessage, UserMessage
from roles_runtime.llm.model import Chunk, Finish, Model, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.providers.scripted import ScriptedModel, ScriptedReply
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import RoundState
from roles_runtime.posts.event import ModelReplied, PostSent
from roles_runtime.posts.post import USER, Post
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles.middleware.compaction import Compaction
from roles_runtime.roles.middleware.limits import UsageLimits
from roles_runtime.roles.middleware.plan_tasks import PlanTasks
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.session import Session
from roles_runtime.stores.local import LocalStore
from roles_runtime.tools.tool import tool
from runtime.casting import cast, events_of, running

pytestmark = pytest.mark.anyio

BY_NUMBER = Compaction(threshold_tokens=0, rounds_to_compress=2, rounds_to_retain=2)


class Minutes(ScriptedModel):
    """Answers each question by its number, and gives the summaries in order; keeps what it was told."""

    def __init__(self, *summaries: ScriptedReply, first: int = 1) -> None:
        self.told: list[LLMRequest] = []
        self.asked_to_summarise: list[str] = []
        self._next: list[Chunk] = []
        kept = [self._noting(each) for each in (summaries or [f"Summary {n}." for n in range(1, 9)])]
        replies = [self._telling(n) for n in range(first, first + 20)]
        super().__init__({"Compaction": kept, "*": replies}, sequential=True)

    def say_next(self, *chunks: Chunk) -> None:
        """Has it say this in place of its next answer."""
        self._next = list(chunks)

    def _telling(self, number: int) -> ScriptedReply:
        def tell(request: LLMRequest) -> str | list[Chunk]:
            self.told.append(request)
            chunks, self._next = self._next, []
            return chunks or f"Answer {number}."

        return tell

    def _noting(self, summary: ScriptedReply) -> ScriptedReply:
        def note(request: LLMRequest) -> object:
            self.asked_to_summarise.append(text_of(request.messages[-1]))
            return summary

        return note  # type: ignore[return-value]


def text_of(message: Message) -> str:
    assert isinstance(message.content, str)
    return message.content


def shown(request: LLMRequest) -> str:
    return "\n".join(map(text_of, request.messages))


async def ask(session: Session, *numbers: int) -> None:
    for number in numbers:
        record = await session.ask(f"Question {number}?")
        assert record.state is RoundState.finished, record.detail


async def test_a_role_is_shown_a_summary_in_place_of_its_old_rounds() -> None:
    model = Minutes()
    async with running(ModelRole("Clerk", model=model), middleware=[BY_NUMBER]) as runtime:
        await ask(await runtime.session(), 1, 2, 3, 4)
    assert "Question 1?" in shown(model.told[2])
    last = shown(model.told[3])
    assert "Summary of the earlier conversation, which is no longer shown:\nSummary 1.\n" in last
    assert "Summary 1." in text_of(model.told[3].messages[0])
    for gone in ("Question 1?", "Question 2?", "Answer 1.", "Answer 2."):
        assert gone not in last
    for left in ("Question 3?", "Answer 3.", "Question 4?"):
        assert left in last
    (prompt,) = model.asked_to_summarise
    assert "Answer 2." in prompt
    assert "Question 3?" not in prompt


async def test_it_is_made_once_and_taken_into_the_next_one() -> None:
    model = Minutes()
    async with running(ModelRole("Clerk", model=model), middleware=[BY_NUMBER]) as runtime:
        await ask(await runtime.session(), 1, 2, 3, 4, 5, 6)
    assert len(model.asked_to_summarise) == 2
    assert "Summary 1." in shown(model.told[4])
    assert "Question 3?" in shown(model.told[4])
    second = model.asked_to_summarise[1]
    assert "Summary so far:\nSummary 1.\n" in second
    assert "Question 1?" not in second
    assert "Question 4?" in second
    assert "Summary 2." in shown(model.told[5])
    assert "Summary 1." not in shown(model.told[5])


async def test_a_restored_session_keeps_its_summary() -> None:
    store = LocalStore()
    async with running(ModelRole("Clerk", model=Minutes()), store=store, middleware=[BY_NUMBER]) as runtime:
        await ask(await runtime.session("s"), 1, 2, 3, 4)
    again = Minutes()
    async with running(ModelRole("Clerk", model=again), store=store, middleware=[BY_NUMBER]) as runtime:
        await ask(await runtime.session("s"), 5)
    assert again.asked_to_summarise == []
    assert "Summary 1." in shown(again.told[0])
    assert "Question 2?" not in shown(again.told[0])


async def test_a_summary_that_a_role_shares_in_its_own_words_is_left_alone() -> None:
    class Sharing(ModelRole):
        async def reply(self, turn: Turn) -> Post:
            post = await super().reply(turn)
            entry = SharedMemoryEntry.create("summary", "conversation", "All in all it went well.")
            post.add_attachment(Attachment.create(AttachmentType.shared_memory_entry, entry.content, extra=entry))
            return post

    model = Minutes()
    async with running(Sharing("Clerk", model=model), middleware=[BY_NUMBER]) as runtime:
        await ask(await runtime.session(), 1, 2, 3, 4, 5)
    assert len(model.asked_to_summarise) == 1
    assert "Summary 1." in shown(model.told[4])


async def test_a_summary_is_kept_where_the_answer_is_held_back_for_tasks_in_progress() -> None:
    model = Minutes()
    async with running(ModelRole("Clerk", model=model), middleware=[PlanTasks(), BY_NUMBER]) as runtime:
        session = await runtime.session()
        await ask(session, 1, 2, 3)
        begun = [
            ToolCall(call_id="1", name="TaskCreate", arguments='{"subject": "count", "description": ""}'),
            ToolCall(call_id="2", name="TaskUpdate", arguments='{"taskId": "1", "status": "in_progress"}'),
        ]
        model.say_next(*map(ToolCallChunk, begun), Finish("tool_calls"))
        await ask(session, 4)
    assert len(model.told) == 6, "three answers, the calls, the answer that is held back, and the one that is given"
    assert len(model.asked_to_summarise) == 1
    assert "Summary 1." in shown(model.told[5])


async def test_a_short_conversation_is_left_alone_however_many_rounds_it_has() -> None:
    model = Minutes()
    async with running(ModelRole("Clerk", model=model), middleware=[Compaction()]) as runtime:
        await ask(await runtime.session(), *range(1, 8))
    assert model.asked_to_summarise == []
    assert "Question 1?" in shown(model.told[6])


async def test_a_long_one_is_compressed() -> None:
    model = Minutes()
    compaction = Compaction(threshold_tokens=2_000, rounds_to_compress=1, rounds_to_retain=1)
    async with running(ModelRole("Clerk", model=model), middleware=[compaction]) as runtime:
        session = await runtime.session()
        await session.ask("long " * 2_000)
        await ask(session, 2)
    assert len(model.asked_to_summarise) == 1
    assert "long long" not in shown(model.told[1])


FAILURES: list[ScriptedReply] = [
    ModelError("scripted", "it is ill."),
    " ",
    (TextChunk("Half a summ"), Finish("length")),
    (TextChunk("No."), Finish("refusal")),
]


@pytest.mark.parametrize("failure", FAILURES, ids=["error", "nothing", "cut off", "refused"])
async def test_a_summary_that_can_not_be_made_loses_nothing_and_is_tried_again(failure: ScriptedReply) -> None:
    model = Minutes(failure, "Summary at last.")
    async with running(ModelRole("Clerk", model=model), middleware=[BY_NUMBER]) as runtime:
        await ask(await runtime.session(), 1, 2, 3, 4, 5)
    assert "Question 1?" in shown(model.told[3])
    assert "Summary at last." in shown(model.told[4])
    assert "Question 3?" not in shown(model.told[4])


async def test_what_a_summary_costs_counts_and_stands_in_the_journal() -> None:
    summary: tuple[Chunk, ...] = (TextChunk("Summary."), Finish("stop", Usage(700, 70, 1)))
    async with running(ModelRole("Clerk", model=Minutes(summary)), middleware=[BY_NUMBER]) as runtime:
        session = await runtime.session("s")
        await ask(session, 1, 2, 3, 4)
        assert (session.usage.calls, session.usage.input_tokens, session.usage.output_tokens) == (5, 700, 70)
        events = await events_of(runtime, "s")
    assert sum(isinstance(each, ModelReplied) for each in events) == 5
    shared = [
        each.post for each in events if isinstance(each, PostSent) and each.post.get_attachment("shared_memory_entry")
    ]
    assert [post.message for post in shared] == ["Answer 4."]


async def test_a_usage_limit_outside_it_bounds_its_calls_too() -> None:
    model = Minutes()
    ware = [UsageLimits(turn_calls=1), BY_NUMBER]
    async with running(ModelRole("Clerk", model=model), middleware=ware) as runtime:
        session = await runtime.session()
        await ask(session, 1, 2, 3)
        record = await session.ask("Question 4?")
    assert record.reason == "limit"
    assert len(model.asked_to_summarise) == 1


async def test_each_role_has_a_summary_of_its_own() -> None:
    @cast("Lead")
    async def lead(turn: Turn) -> Answer:
        way = {USER: "One", "One": "Two", "Two": USER}
        return turn.answer(turn.post.message, way[turn.post.send_from])

    one = Minutes(*[f"One's {n}." for n in range(9)])
    two = Minutes(*[f"Two's {n}." for n in range(9)])
    workers = [ModelRole("One", model=one), ModelRole("Two", model=two)]
    async with running(lead, *workers, middleware=[BY_NUMBER]) as runtime:
        await ask(await runtime.session(), 1, 2, 3, 4, 5)
    for model, mine, other in ((one, "One's 0.", "Two's"), (two, "Two's 0.", "One's")):
        assert mine in shown(model.told[4])
        assert other not in shown(model.told[4])


@tool
async def look() -> str:
    """Looks."""
    return "seen " * 200


async def test_no_call_is_ever_parted_from_its_result() -> None:
    told: list[LLMRequest] = []
    call = ToolCallChunk(ToolCall(call_id="c", name="look", arguments="{}"))

    def calls(request: LLMRequest) -> object:
        told.append(request)
        return (call, Finish("tool_calls"))

    def says(request: LLMRequest) -> object:
        told.append(request)
        return "Seen."

    script = {"Compaction": ["Summary."] * 9, "*": [calls, calls, says] * 7}
    model: Model = ScriptedModel(script, sequential=True)  # type: ignore[arg-type]
    compaction = Compaction(threshold_tokens=500, rounds_to_compress=1, rounds_to_retain=1)
    async with running(ModelRole("Looker", model=model, tools=[look]), middleware=[compaction]) as runtime:
        await ask(await runtime.session(), *range(1, 8))
    assert len(told) == 21
    for request in told:
        wished, returned = 0, 0
        for message in request.messages:
            traced = message.intermediate_trace if isinstance(message, UserMessage) else None
            for each in (*(traced.records if traced else ()), message):
                wished += len(each.tool_calls) if isinstance(each, AssistantTextMessage) else 0
                returned += len(each.tool_reses) if isinstance(each, ToolMessage) else 0
        assert wished == returned
    assert "Summary." in shown(told[-1].__class__(told[-1].messages[:1]))


def test_numbers_that_are_too_small_are_refused() -> None:
    with pytest.raises(ConfigError, match="threshold_tokens"):
        Compaction(threshold_tokens=-1)
    with pytest.raises(ConfigError, match="rounds_to_retain"):
        Compaction(rounds_to_retain=0)
