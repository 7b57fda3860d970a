"""What rounds cost, folded from the journal."""

from __future__ import annotations

from roles_runtime.apps.costs import Costs, cost_document, cost_line
from roles_runtime.llm.model import Usage
from roles_runtime.posts.event import Entry, ModelReplied, RoundOpened


def entry(round_id: str, model: str, tokens_in: int, tokens_out: int, **more: int) -> Entry:
    event = ModelReplied(
        round_id, "Planner", f"{round_id}/p/Planner", model, "{}", "stop", tokens_in, tokens_out, 0, **more
    )
    return Entry(1, "k", 0, event)


def costs(*entries: Entry) -> Costs:
    folded = Costs()
    for each in entries:
        folded.take(each)
    return folded


def test_each_round_and_all_of_them_are_summed_by_model() -> None:
    folded = costs(
        entry("r1", "openai:gpt-5", 100, 10, cached_tokens=50),
        entry("r1", "openai:gpt-5", 200, 20, reasoning_tokens=5),
        entry("r2", "ollama:qwen3", 7, 3),
        Entry(9, "k", 0, RoundOpened("r2", "q")),
    )
    assert folded.of_round("r1") == {"openai:gpt-5": Usage(300, 30, 2, 50, 5)}
    assert folded.of_all() == {"openai:gpt-5": Usage(300, 30, 2, 50, 5), "ollama:qwen3": Usage(7, 3, 1)}
    assert folded.of_round("r3") == {}


def test_the_line_tells_calls_tokens_and_price() -> None:
    line = cost_line({"openai:gpt-5": Usage(1_000_000, 2, 1, 500_000, 1)})
    assert line.startswith("1 call, 1,000,000 tokens in (500,000 cached), 2 out (1 thought), $")


def test_a_sum_of_which_one_price_is_unknown_is_unknown() -> None:
    models = {"openai:gpt-5": Usage(10, 1, 1), "local:x": Usage(10, 1, 1)}
    assert cost_line(models).endswith("price unknown")
    assert cost_document(models) == {
        "calls": 2,
        "input_tokens": 20,
        "output_tokens": 2,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
        "price_usd": None,
    }


def test_models_that_cost_no_tokens_are_not_told_of() -> None:
    assert cost_line({"rules:rules-v1": Usage(calls=4)}) == ""
    assert cost_line({}) == ""
