"""What calls cost, and how long a model's window is, as far as the public tables of ``genai-prices`` know.

The tables come with the package; nothing is fetched.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from roles_runtime.llm.model import Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

# Providers whose name is another one there; what is not in the tables at all has no price.
_NAMES = {"gemini": "google", "zhipu": "zhipuai"}


def price_usd(model: str, usage: Usage) -> Decimal | None:
    """What calls of a model cost, in US dollars.

    Args:
        model: ``provider:model``.
        usage: Of one or more calls; each price is a model's own, so that sums over models are sums of prices.

    Returns:
        The price; None where the tables do not know the model.
    """
    if not (usage.input_tokens or usage.output_tokens):
        return Decimal(0)
    found = _calculated(model, usage)
    return None if found is None else found.total_price


@lru_cache(maxsize=256)
def context_window(model: str) -> int | None:
    """How many tokens a model takes; None where the tables do not know.

    Args:
        model: ``provider:model``.
    """
    found = _calculated(model, Usage(1, 1))
    return None if found is None else found.model.context_window


def _calculated(model: str, usage: Usage) -> PriceCalculation | None:
    # Imported when first asked for: the tables are large.
    try:
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price
    except ImportError:  # its own needs are those of the extras; no answer fails for want of a price
        return None

    provider, _, name = model.partition(":")
    tokens = Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
    )
    try:
        return calc_price(tokens, name, provider_id=_NAMES.get(provider, provider))
    except (LookupError, ValueError):
        return None
