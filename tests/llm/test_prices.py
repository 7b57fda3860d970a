"""Prices and windows come from public tables; what these do not know has none."""

from __future__ import annotations

import sys
from decimal import Decimal

import pytest

from roles_runtime.llm.model import Usage
from roles_runtime.llm.prices import context_window, price_usd


@pytest.mark.parametrize("model", ["openai:gpt-5", "anthropic:claude-opus-4-8", "gemini:gemini-2.5-pro"])
def test_a_known_model_has_a_price_and_output_costs_more_than_input(model: str) -> None:
    asked, answered = price_usd(model, Usage(1000, 0, 1)), price_usd(model, Usage(0, 1000, 1))
    assert asked is not None
    assert answered is not None
    assert 0 < asked < answered


def test_tokens_that_were_cached_cost_less() -> None:
    whole, cached = price_usd("openai:gpt-5", Usage(1000)), price_usd("openai:gpt-5", Usage(1000, cached_tokens=900))
    assert whole is not None
    assert cached is not None
    assert cached < whole


@pytest.mark.parametrize("model", ["ollama:qwen3", "local:mine", "nonsense", ""])
def test_what_the_tables_do_not_know_has_no_price_and_no_window(model: str) -> None:
    assert price_usd(model, Usage(10, 10)) is None
    assert context_window(model) is None


def test_no_tokens_cost_nothing_whoever_is_asked() -> None:
    assert price_usd("rules:rules-v1", Usage(calls=3)) == Decimal(0)


def test_a_known_model_has_a_window() -> None:
    assert (context_window("openai:gpt-5") or 0) > 100_000


def test_a_provider_that_counts_more_cached_tokens_than_input_is_not_believed() -> None:
    odd, all_cached = (price_usd("openai:gpt-5", Usage(10, cached_tokens=n)) for n in (50, 10))
    assert odd == all_cached


def test_without_the_tables_nothing_has_a_price_or_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert price_usd("openai:gpt-5", Usage(1000, 10, 1)) is None
    assert context_window.__wrapped__("openai:gpt-5") is None
