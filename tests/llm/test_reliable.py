"""A model is asked again where that helps, then those that stand in for it; a token once shown ends all trying."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.failing import DONE, HANG, REQUEST, Step, Time, Told, chunks_of, reliable
from roles_runtime.errors import (
    ConfigError,
    ContextWindowError,
    MessageError,
    ModelCircuitOpenError,
    ModelError,
    ModelExhaustedError,
    ModelKeyError,
    ModelQuotaError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
    StreamIncompleteError,
    StreamMalformedError,
    WireError,
)
from roles_runtime.llm.calls import Reasoning, ToolCall
from roles_runtime.llm.circuit import CircuitState
from roles_runtime.llm.model import (
    Answering,
    Chunk,
    Finish,
    Model,
    ReasoningChunk,
    ReasoningDone,
    TextChunk,
    ToolCallChunk,
)
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.reliable import ReliableModel, RetryPolicy, Timeouts
from roles_runtime.llm.resolving import resolve_model
from roles_runtime.llm.stream import asked

pytestmark = pytest.mark.anyio

DOWN = ModelUnavailableError("a", "HTTP 503: overloaded")
PASSING = [
    DOWN,
    ModelRateLimitError("a", "slow down"),
    ModelTimeoutError("a", "too slow"),
    StreamIncompleteError("a"),
    StreamMalformedError("a", "HTML"),
]
LASTING = [
    ModelKeyError("a", "refused"),
    ModelQuotaError("a", "used up"),
    ModelRefusedError("a", "no"),
    ContextWindowError("a", "too long"),
    ModelError("a", "it could not"),
]
OUR_OWN = [WireError("a", "messages[0]", "is empty"), MessageError("says nothing")]


def of_kind(error: object) -> str:
    return type(error).__name__


async def until_it_waits(task: asyncio.Task[list[Chunk]]) -> None:
    """Until the task has gone as far as it comes by itself."""
    for _ in range(5):
        await asyncio.sleep(0)
    assert not task.done()


class TestAskingAgain:
    @pytest.mark.parametrize("error", PASSING, ids=of_kind)
    async def test_a_passing_error_is_asked_again(self, error: ModelError) -> None:
        model = Told("a", [error], [error], DONE)
        assert await chunks_of(reliable(model)) == list(DONE)
        assert (model.asked, model.open) == (3, 0)

    @pytest.mark.parametrize("error", [*LASTING, *OUR_OWN, OSError("no route"), ValueError()], ids=of_kind)
    async def test_any_other_error_goes_up_as_it_is_at_once(self, error: Exception) -> None:
        model = Told("a", [error], DONE)
        with pytest.raises(type(error)) as caught:
            await chunks_of(reliable(model))
        assert caught.value is error
        assert (model.asked, model.open) == (1, 0)

    async def test_a_stream_that_ends_without_its_signal_is_asked_again_where_nothing_was_shown(self) -> None:
        model = Told("a", [], DONE)
        assert await chunks_of(reliable(model)) == list(DONE)

    async def test_attempts_that_are_used_up_are_told_with_the_last_error_and_the_class_says_not_to_try_more(
        self,
    ) -> None:
        model = Told("a", [DOWN])
        with pytest.raises(ModelExhaustedError) as caught:
            await chunks_of(reliable(model))
        assert str(caught.value) == "Model a: HTTP 503: overloaded. It was asked 3 times in 1.5 s."
        assert caught.value.failures == (DOWN,)
        assert caught.value.__cause__ is DOWN
        assert isinstance(caught.value, ModelUnavailableError)
        assert not caught.value.transient
        assert model.asked == 3

    async def test_a_single_attempt_leaves_the_error_as_it_is(self) -> None:
        with pytest.raises(ModelUnavailableError) as caught:
            await chunks_of(reliable(Told("a", [DOWN]), attempts=1))
        assert caught.value is DOWN

    @pytest.mark.parametrize(
        "token",
        [
            TextChunk("4"),
            ReasoningChunk("hm"),
            ReasoningDone(Reasoning(text="hm")),
            ToolCallChunk(ToolCall(call_id="1", name="f", arguments="{}")),
        ],
        ids=of_kind,
    )
    async def test_nothing_is_tried_after_the_first_token(self, token: Step) -> None:
        first, second = Told("a", [token, DOWN], DONE), Told("b", DONE)
        with pytest.raises(ModelUnavailableError) as caught:
            await chunks_of(reliable(first, second))
        assert caught.value is DOWN
        assert (first.asked, first.open, second.asked) == (1, 0, 0)

    async def test_an_empty_text_is_no_token(self) -> None:
        model = Told("a", [TextChunk(""), ReasoningChunk(""), DOWN], DONE)
        assert await chunks_of(reliable(model)) == list(DONE)

    async def test_an_answer_of_nothing_is_an_answer(self) -> None:
        model = Told("a", [Finish("length")])
        assert await chunks_of(reliable(model)) == [Finish("length")]

    async def test_nothing_is_read_after_the_terminal_signal(self) -> None:
        model = Told("a", [*DONE, DOWN])
        assert await chunks_of(reliable(model)) == list(DONE)


class TestWaiting:
    async def test_waits_double_up_to_the_longest(self) -> None:
        time = Time()
        with pytest.raises(ModelExhaustedError):
            await chunks_of(
                reliable(Told("a", [DOWN]), time=time, attempts=6, base_delay_s=1, max_delay_s=5, opens_after=9)
            )
        assert time.slept == [1, 2, 4, 5, 5]

    @given(
        attempt=st.integers(1, 5000),
        chance=st.floats(0, 1, exclude_max=True),
        base_s=st.floats(0, 100),
        max_s=st.floats(0, 100),
        passed_s=st.floats(0, 200),
        asked_s=st.none() | st.floats(0, 1e6),
    )
    def test_a_wait_is_never_longer_than_its_bounds_nor_shorter_than_what_was_asked(
        self, attempt: int, chance: float, base_s: float, max_s: float, passed_s: float, asked_s: float | None
    ) -> None:
        policy = RetryPolicy(attempts=10_000, base_delay_s=base_s, max_delay_s=max_s, budget_s=100)
        error = ModelRateLimitError("a", "slow down", retry_after_s=asked_s)
        wait_s = policy.wait_s(attempt, error, passed_s, chance)
        if wait_s is None:
            assert passed_s + (max_s if asked_s is None else asked_s + base_s) > 100
        else:
            assert passed_s + wait_s <= 100
            assert (wait_s <= max_s) if asked_s is None else (asked_s <= wait_s <= asked_s + base_s)

    async def test_jitter_spreads_over_the_whole_range(self) -> None:
        time = Time()
        await chunks_of(reliable(Told("a", [DOWN], DONE), time=time, chance=0.25, base_delay_s=8))
        assert time.slept == [2]

    async def test_what_the_provider_asks_for_is_waited_though_it_is_longer_than_our_own_waits(self) -> None:
        time, busy = Time(), ModelRateLimitError("a", "slow down", retry_after_s=40)
        await chunks_of(reliable(Told("a", [busy], DONE), time=time, max_delay_s=5, chance=0))
        assert time.slept == [40]

    async def test_what_is_beyond_the_budget_is_not_waited_but_told(self) -> None:
        time, busy = Time(), ModelRateLimitError("a", "slow down", retry_after_s=3600)
        model = Told("a", [busy], DONE)
        with pytest.raises(ModelExhaustedError) as caught:
            await chunks_of(reliable(model, time=time))
        assert str(caught.value) == "Model a: slow down. It asks to wait 3600 s, longer than we wait (60 s)."
        assert caught.value.retry_after_s == 3600
        assert (time.slept, model.asked) == ([], 1)

    async def test_what_is_beyond_the_budget_goes_to_the_next_model_at_once(self) -> None:
        time, busy = Time(), ModelRateLimitError("a", "slow down", retry_after_s=3600)
        assert await chunks_of(reliable(Told("a", [busy]), Told("b", DONE), time=time)) == [Answering("b"), *DONE]
        assert time.slept == []

    async def test_no_attempt_begins_after_the_budget(self) -> None:
        time = Time()
        model = Told("a", [DOWN])
        with pytest.raises(ModelExhaustedError):
            await chunks_of(reliable(model, time=time, attempts=100, base_delay_s=1, budget_s=8, opens_after=200))
        assert time.slept == [1, 2, 4]

    @pytest.mark.parametrize("wrong", [{"attempts": 0}, {"base_delay_s": -1}, {"budget_s": float("inf")}])
    def test_a_policy_that_makes_no_sense_is_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ConfigError, match="retry"):
            RetryPolicy(**wrong)  # type: ignore[arg-type]


class TestFallingBack:
    @pytest.mark.parametrize("error", [*PASSING, *LASTING], ids=of_kind)
    async def test_the_next_model_is_asked_and_named(self, error: ModelError) -> None:
        first, second = Told("a", [error]), Told("b", DONE)
        assert await chunks_of(reliable(first, second)) == [Answering("b"), *DONE]
        assert first.asked == (3 if error.transient else 1)

    @pytest.mark.parametrize("error", [*OUR_OWN, OSError("no route")], ids=of_kind)
    async def test_an_error_of_our_own_or_of_no_kind_asks_no_other(self, error: Exception) -> None:
        second = Told("b", DONE)
        with pytest.raises(type(error)):
            await chunks_of(reliable(Told("a", [error]), second))
        assert second.asked == 0

    async def test_all_failing_is_one_line_that_names_each_and_why(self) -> None:
        broke = ModelQuotaError("b", "it is used up")
        with pytest.raises(ModelExhaustedError) as caught:
            await chunks_of(reliable(Told("a", [DOWN]), Told("b", [broke]), Told("c", [ModelKeyError("c", "none.")])))
        assert str(caught.value) == (
            "Model a: none of 3 models could answer. (1) a: HTTP 503: overloaded. It was asked 3 times in 1.5 s. "
            "(2) b: it is used up. (3) c: none."
        )
        assert [error.model for error in caught.value.failures] == ["a", "b", "c"]

    async def test_a_reply_knows_who_answered_though_its_reader_leaves_early(self) -> None:
        async with asked(reliable(Told("a", [DOWN]), Told("b", DONE)), REQUEST) as reply:
            async with aclosing(reply.text()) as text:
                assert await anext(text) == "42"
            assert reply.model == "b"

    async def test_one_within_another_asks_no_more_than_it_says(self) -> None:
        inner = reliable(Told("a", [DOWN]), Told("b", [DOWN]))
        outer = reliable(inner, Told("c", DONE))
        assert await chunks_of(outer) == [Answering("c"), *DONE]
        assert [model.asked for model in (*inner.models, outer.models[1]) if isinstance(model, Told)] == [3, 3, 1]
        assert [state.model for state in outer.circuits] == ["a", "b", "c"]

    def test_it_is_a_model_named_as_the_first_that_writes_code_if_any_does(self) -> None:
        scripted = ScriptedModel([], name="scripted")
        model: Model = reliable(scripted, Told("a"))
        assert isinstance(model, Model)
        assert (model.name, model.writes_code) == ("scripted", True)
        assert not reliable(scripted).writes_code
        assert repr(model) == "ReliableModel(['scripted', 'a'])"


class TestTimeLimits:
    @pytest.mark.parametrize(
        ("steps", "timeouts", "said"),
        [
            ([HANG], Timeouts(first_token_s=0.01), "it wrote nothing for 0.01 s (first_token_s)."),
            ([TextChunk(""), HANG], Timeouts(first_token_s=0.01), "it wrote nothing for 0.01 s (first_token_s)."),
            (
                [TextChunk("4"), HANG],
                Timeouts(stall_s=0.01),
                "it stopped in the middle of its answer and wrote nothing more for 0.01 s (stall_s).",
            ),
            ([HANG], Timeouts(total_s=0.01), "its answer took longer than 0.01 s (total_s)."),
            ([TextChunk("4"), HANG], Timeouts(total_s=0.01), "its answer took longer than 0.01 s (total_s)."),
        ],
    )
    async def test_a_model_that_keeps_us_waiting_breaks_a_bound_that_is_named(
        self, steps: list[Step], timeouts: Timeouts, said: str
    ) -> None:
        model = Told("a", steps)
        with pytest.raises(ModelTimeoutError) as caught:
            await chunks_of(reliable(model, timeouts=timeouts, attempts=1))
        assert caught.value.problem == said
        assert model.open == 0
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    async def test_a_model_that_wrote_nothing_in_time_is_asked_again(self) -> None:
        model = Told("a", [HANG], DONE)
        assert await chunks_of(reliable(model, timeouts=Timeouts(first_token_s=0.01))) == list(DONE)

    async def test_empty_texts_do_not_put_off_the_bound_of_the_first_token(self) -> None:
        class Alive(Told):
            async def stream(self, request):  # type: ignore[no-untyped-def,override]
                while True:
                    yield TextChunk("")
                    await asyncio.sleep(0.001)

        with pytest.raises(ModelTimeoutError, match="first_token_s"):
            await chunks_of(reliable(Alive("a"), timeouts=Timeouts(first_token_s=0.02), attempts=1))

    async def test_a_model_that_swallows_its_end_has_broken_the_bound_all_the_same(self) -> None:
        class Deaf(Told):
            async def stream(self, request):  # type: ignore[no-untyped-def,override]
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    yield TextChunk("late")

        with pytest.raises(ModelTimeoutError):
            await chunks_of(reliable(Deaf("a"), timeouts=Timeouts(first_token_s=0.01), attempts=1))

    async def test_whoever_reads_slowly_is_not_hit_by_the_bound_of_the_model(self) -> None:
        model = reliable(Told("a", [TextChunk("4"), TextChunk("2"), Finish()]), timeouts=Timeouts(stall_s=0.01))
        seen = []
        async with aclosing(model.stream(REQUEST)) as stream:
            async for chunk in stream:
                seen.append(chunk)
                await asyncio.sleep(0.03)
        assert seen == [TextChunk("4"), TextChunk("2"), Finish()]

    async def test_a_cancellation_from_outside_stays_one_though_the_bound_breaks_at_the_same_time(self) -> None:
        model = Told("a", [HANG])
        reading = asyncio.create_task(chunks_of(reliable(model, timeouts=Timeouts(first_token_s=0.001))))
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        until = loop.time() + 0.01
        while loop.time() < until:
            pass  # the loop's next step finds both due
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert model.open == 0

    @pytest.mark.parametrize("wrong", [{"stall_s": 0}, {"total_s": float("inf")}, {"connect_s": float("nan")}])
    def test_limits_that_are_none_are_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ConfigError, match="timeouts"):
            Timeouts(**wrong)


class TestEndingEarly:
    async def test_closing_the_stream_ends_the_call_at_once(self) -> None:
        model = Told("a", [TextChunk("4"), HANG])
        stream = reliable(model).stream(REQUEST)
        assert await anext(stream) == TextChunk("4")
        assert model.open == 1
        await stream.aclose()
        assert model.open == 0

    @pytest.mark.parametrize("steps", [[HANG], [TextChunk("4"), HANG]], ids=["before", "after the first token"])
    async def test_a_cancelled_reader_leaves_no_task_and_no_call(self, steps: list[Step]) -> None:
        before = asyncio.all_tasks()
        model, other = Told("a", steps), Told("b", DONE)
        reading = asyncio.create_task(chunks_of(reliable(model, other)))
        await until_it_waits(reading)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert (model.open, model.asked, other.asked) == (0, 1, 0)
        assert asyncio.all_tasks() == before

    async def test_a_reader_that_is_cancelled_while_we_wait_to_ask_again_is_not_kept(self) -> None:
        model = Told("a", [ModelRateLimitError("a", "slow down", retry_after_s=50)])
        reading = asyncio.create_task(chunks_of(ReliableModel([model])))
        await until_it_waits(reading)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert model.asked == 1

    async def test_closing_it_closes_each_that_can_be_closed_though_one_fails(self) -> None:
        class Stuck(Told):
            async def aclose(self) -> None:
                raise OSError("stuck")

        first, last = Told("a"), Told("c")
        with pytest.raises(OSError, match="stuck"):
            await reliable(first, ScriptedModel([]), Stuck("b"), last).aclose()
        assert (first.closed, last.closed) == (1, 1)


class TestCircuit:
    async def fail(self, model: ReliableModel, times: int = 1) -> None:
        for _ in range(times):
            with pytest.raises(ModelError):
                await chunks_of(model)

    async def test_a_model_that_fails_again_and_again_is_left_alone_and_says_so(self) -> None:
        time, model = Time(), Told("a", [DOWN])
        reliably = reliable(model, time=time, attempts=1, opens_after=3, cool_down_s=30)
        assert reliably.circuits == (CircuitState("a", "closed"),)
        await self.fail(reliably, 3)
        time.now += 9
        assert reliably.circuits == (CircuitState("a", "open", 3, "HTTP 503: overloaded", 21),)
        with pytest.raises(ModelCircuitOpenError) as caught:
            await chunks_of(reliably)
        assert str(caught.value) == (
            "Model a: it was not asked, for it failed 3 times in a row; it is left alone since 9 s and for another "
            "21 s. What it said last: HTTP 503: overloaded"
        )
        assert (caught.value.retry_after_s, model.asked) == (21, 3)

    async def test_the_attempts_of_one_call_count_and_end_when_it_opens(self) -> None:
        time, model = Time(), Told("a", [DOWN])
        await self.fail(reliable(model, time=time, attempts=9, opens_after=2))
        assert (model.asked, len(time.slept)) == (2, 1)

    async def test_the_next_model_is_asked_at_once_while_it_is_open(self) -> None:
        first, second = Told("a", [DOWN]), Told("b", DONE)
        reliably = reliable(first, second, attempts=1, opens_after=1)
        for _ in range(3):
            assert await chunks_of(reliably) == [Answering("b"), *DONE]
        assert (first.asked, second.asked) == (1, 3)

    async def test_after_the_cool_down_one_call_tries_and_an_answer_closes_it(self) -> None:
        time, go = Time(), asyncio.Event()

        class Slow(Told):
            async def stream(self, request):  # type: ignore[no-untyped-def,override]
                async with aclosing(super().stream(request)) as chunks:
                    async for chunk in chunks:
                        await go.wait()
                        yield chunk

        model = Slow("a", [DOWN], DONE)
        reliably = reliable(model, time=time, attempts=1, opens_after=1)
        await self.fail(reliably)
        time.now += 30
        assert reliably.circuits[0].state == "half-open"
        trial = asyncio.create_task(chunks_of(reliably))
        await until_it_waits(trial)
        with pytest.raises(ModelCircuitOpenError, match="until the call that tries it now is answered"):
            await chunks_of(reliably)
        go.set()
        assert await trial == list(DONE)
        assert reliably.circuits == (CircuitState("a", "closed"),)
        assert await chunks_of(reliably) == list(DONE)

    async def test_a_trial_that_begins_lets_the_others_ask_and_one_more_failure_ends_that(self) -> None:
        time, model = Time(), Told("a", [DOWN], [DOWN], [TextChunk("4"), DOWN], DONE)
        reliably = reliable(model, time=time, attempts=1, opens_after=2)
        await self.fail(reliably, 2)
        time.now += 30
        trial = reliably.stream(REQUEST)
        assert await anext(trial) == TextChunk("4")
        other = reliably.stream(REQUEST)
        assert await anext(other) == TextChunk("42")
        await trial.aclose()
        await other.aclose()
        assert reliably.circuits == (CircuitState("a", "closed"),)

        model.asked = 0
        await self.fail(reliably, 2)
        time.now += 30
        await self.fail(reliably)
        assert reliably.circuits[0].state == "open"

    async def test_a_trial_that_fails_opens_it_anew(self) -> None:
        time, model = Time(), Told("a", [DOWN])
        reliably = reliable(model, time=time, attempts=5, opens_after=2)
        await self.fail(reliably)
        time.now += 30
        await self.fail(reliably)
        assert (model.asked, reliably.circuits[0].state, reliably.circuits[0].left_s) == (3, "open", 30)

    @pytest.mark.parametrize("error", [OSError("no route"), *OUR_OWN, asyncio.CancelledError()], ids=of_kind)
    async def test_a_trial_that_tells_nothing_leaves_the_next_call_to_try(self, error: BaseException) -> None:
        time, model = Time(), Told("a", [DOWN], [error], DONE)
        reliably = reliable(model, time=time, attempts=1, opens_after=1)
        await self.fail(reliably)
        time.now += 30
        with pytest.raises(type(error)):
            await chunks_of(reliably)
        assert reliably.circuits[0].state == "half-open"
        assert await chunks_of(reliably) == list(DONE)

    @pytest.mark.parametrize("error", LASTING, ids=of_kind)
    async def test_a_provider_that_refuses_has_answered(self, error: ModelError) -> None:
        reliably = reliable(Told("a", [DOWN], [error]), attempts=1, opens_after=2)
        await self.fail(reliably, 5)
        assert reliably.circuits == (CircuitState("a", "closed"),)

    async def test_a_model_that_breaks_off_in_its_answers_is_left_alone_too(self) -> None:
        reliably = reliable(Told("a", [TextChunk("4"), DOWN]), opens_after=2)
        await self.fail(reliably, 2)
        assert reliably.circuits[0].state == "open"

    async def test_calls_that_were_under_way_when_it_opened_do_not_keep_it_open(self) -> None:
        time = Time()
        model = Told("a", [TextChunk("4"), DOWN])
        reliably = reliable(model, time=time, attempts=1, opens_after=2)
        streams = [reliably.stream(REQUEST) for _ in range(3)]
        for stream in streams:
            await anext(stream)
        for stream in streams:
            time.now += 10
            with pytest.raises(ModelUnavailableError):
                await anext(stream)
        assert reliably.circuits == (CircuitState("a", "open", 2, "HTTP 503: overloaded", 20),)


class TestResolving:
    def test_an_llm_is_made_reliable_and_what_is_reliable_stays(self) -> None:
        model = Told("a")
        made = resolve_model(model)
        assert isinstance(made, ReliableModel)
        assert made.models == (model,)
        assert resolve_model(made) is made
        assert resolve_model([made]) is made

    def test_several_become_one_that_falls_back(self) -> None:
        made = resolve_model([Told("a"), "rules", ScriptedModel([])])
        assert isinstance(made, ReliableModel)
        assert [model.name for model in made.models] == ["a", "rules:rules-v1", "scripted"]

    def test_a_single_deterministic_model_stays_as_it_is(self) -> None:
        model = ScriptedModel([])
        assert resolve_model([model]) is model

    @pytest.mark.parametrize("wrong", [[], (), 7, [7], [[]], {"a": 1}, None, ["rules", None], b"rules"])
    def test_what_is_no_model_is_refused_by_an_error_of_ours(self, wrong: object) -> None:
        with pytest.raises(ModelError):
            resolve_model(wrong)  # type: ignore[arg-type]

    def test_no_models_are_refused(self) -> None:
        with pytest.raises(ModelError, match="at least one"):
            ReliableModel([])
