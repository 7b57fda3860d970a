"""Usage limits: how many calls and tokens a turn, a round and a session may cost."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from roles_runtime.errors import ConfigError, UsageLimitError
from roles_runtime.llm.model import Chunk, Model
from roles_runtime.llm.request import LLMRequest
from roles_runtime.roles.turn import Answer, Respond, Turn


class UsageLimits:
    """Refuses the call of a model that would go beyond a bound; the round then fails as ``limit`` and says which.

    What was used is what models said that their whole answers cost, those of other roles included. The answer that
    goes beyond a bound of tokens is still taken, and the next call is refused; so is a call that other turns make at
    the same moment. Register it before other middleware that asks models, so that their calls are bounded too.
    """

    def __init__(
        self,
        *,
        turn_calls: int | None = None,
        turn_tokens: int | None = None,
        round_calls: int | None = 100,
        round_tokens: int | None = 1_000_000,
        session_calls: int | None = None,
        session_tokens: int | None = None,
    ) -> None:
        """Sets the bounds; None is no bound. Tokens are those of prompts and answers together.

        Raises:
            ConfigError: a bound is below 1.
        """
        bounds = {
            "turn_calls": turn_calls,
            "turn_tokens": turn_tokens,
            "round_calls": round_calls,
            "round_tokens": round_tokens,
            "session_calls": session_calls,
            "session_tokens": session_tokens,
        }
        for name, most in bounds.items():
            if most is not None and most < 1:
                raise ConfigError("UsageLimits", name, f"it is {most} and must be 1 or more, or None for no bound.")
        self._bounds = tuple((name, most) for name, most in bounds.items() if most is not None)

    async def __call__(self, turn: Turn, respond: Respond) -> Answer:
        """Answers with a model that is asked within the bounds alone."""
        model = turn.model
        if model is None:
            return await respond(turn)
        return await respond(turn.with_model(_Limited(model, lambda: self._check(turn, model.name))))

    def _check(self, turn: Turn, model: str) -> None:
        spent = _spent(turn)
        for name, most in self._bounds:
            if spent[name] >= most:
                raise UsageLimitError(model, name, most, spent[name])


def _spent(turn: Turn) -> dict[str, int]:
    used = turn.usage
    spent: dict[str, int] = {}
    for whose, usage in (("turn", used.turn), ("round", used.round), ("session", used.session)):
        spent[f"{whose}_calls"] = usage.calls
        spent[f"{whose}_tokens"] = usage.input_tokens + usage.output_tokens
    return spent


class _Limited:
    """A model that is asked only after a check."""

    def __init__(self, model: Model, check: Callable[[], None]) -> None:
        self._model, self._check = model, check

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def writes_code(self) -> bool:
        return self._model.writes_code

    def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        self._check()
        return self._model.stream(request)
