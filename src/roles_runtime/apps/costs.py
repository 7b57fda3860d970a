"""What rounds cost: tokens by model, and their price where it is known."""

from __future__ import annotations

from decimal import Decimal

from roles_runtime.llm.model import Usage
from roles_runtime.llm.prices import price_usd
from roles_runtime.posts.attachment import Json
from roles_runtime.posts.event import Entry, ModelReplied
from roles_runtime.runtime.restore import usage_of


class Costs:
    """Folds a journal into what each round, and each model in it, cost."""

    def __init__(self) -> None:
        self._rounds: dict[str, dict[str, Usage]] = {}

    def take(self, entry: Entry) -> None:
        """Folds the next entry in."""
        if isinstance(entry.event, ModelReplied):
            models = self._rounds.setdefault(entry.event.round_id, {})
            models[entry.event.model] = models.get(entry.event.model, Usage()) + usage_of(entry.event)

    def of_round(self, round_id: str) -> dict[str, Usage]:
        """What each model spent in a round."""
        return self._rounds.get(round_id, {})

    def of_all(self) -> dict[str, Usage]:
        """What each model spent in all of them."""
        total: dict[str, Usage] = {}
        for models in self._rounds.values():
            for model, usage in models.items():
                total[model] = total.get(model, Usage()) + usage
        return total


def total_of(models: dict[str, Usage]) -> tuple[Usage, Decimal | None]:
    """The sum over models, and its price; None where one of them has none that is known."""
    usage, price = Usage(), Decimal(0)
    known = True
    for model, each in models.items():
        usage += each
        cost = price_usd(model, each)
        known = known and cost is not None
        price += cost or 0
    return usage, price if known else None


def cost_line(models: dict[str, Usage]) -> str:
    """One line: calls, tokens and price; empty where no model was paid."""
    usage, price = total_of(models)
    if not (usage.input_tokens or usage.output_tokens):
        return ""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    thought = f" ({usage.reasoning_tokens:,} thought)" if usage.reasoning_tokens else ""
    cost = "price unknown" if price is None else f"${price:.4f}"
    calls = f"{usage.calls} call{'s' if usage.calls != 1 else ''}"
    return f"{calls}, {usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out{thought}, {cost}"


def cost_document(models: dict[str, Usage]) -> Json:
    """The same for a program to read: ``price_usd`` is a decimal as text, or null where it is not known."""
    usage, price = total_of(models)
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "price_usd": None if price is None else str(price),
    }
