"""Trying again, waiting, falling back and leaving alone: in this one place, over the Model contract alone.

What becomes of an error, by its class:

======================================  ===========  ================  ==================
Error                                   asked again  next model asked  counts for circuit
======================================  ===========  ================  ==================
ModelUnavailableError and its kinds     yes          yes               as a failure
ModelExhaustedError (one made of many)  no           yes               as an answer
ModelCircuitOpenError                   no           yes               not asked
ModelKeyError, ModelQuotaError          no           yes               as an answer
ModelRefusedError, ContextWindowError   no           yes               as an answer
ModelError as such                      no           yes               as an answer
WireError, MessageError: our own fault  no           no                no
any other, as a user's Model raises it  no           no                no
======================================  ===========  ================  ==================

Once a token was delivered nothing is tried any more: the error goes up as it is.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

import anyio
import msgspec

from roles_runtime.errors import ConfigError, ModelError, ModelExhaustedError, WireError
from roles_runtime.llm.bounded import BoundedStream, Timeouts
from roles_runtime.llm.circuit import Circuit, CircuitState, Permit, rounded
from roles_runtime.llm.model import Answering, Chunk, Closable, Finish, Model, ReasoningChunk, TextChunk
from roles_runtime.llm.request import LLMRequest


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often, and for how long, each model is asked again; all times in seconds.

    Attributes:
        attempts: How often a model is asked for one answer, the first time included.
        base_delay_s: The longest wait before the second attempt; it doubles with each further one.
        max_delay_s: The longest wait of our own choice. A provider may ask for a longer one.
        budget_s: Counted from its first attempt, no attempt of a model begins later; also the longest wait that a
            provider may ask for.
        opens_after: How many failures in a row, over all sessions, open a model's circuit.
        cool_down_s: How long a model is then left alone.
    """

    attempts: int = 3
    base_delay_s: float = 0.5
    max_delay_s: float = 20.0
    budget_s: float = 60.0
    opens_after: int = 5
    cool_down_s: float = 30.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            least = 1 if name in ("attempts", "opens_after") else 0
            if not least <= value < math.inf:
                raise ConfigError("retry", name, f"{value} is out of range; it must be at least {least} and finite.")

    def wait_s(self, attempt: int, error: ModelError, passed_s: float, chance: float) -> float | None:
        """How long to wait before the next attempt; None: there is none.

        Args:
            attempt: How many were made.
            error: How the last one failed.
            passed_s: Seconds since the first one.
            chance: Of [0, 1): where in the range of possible waits this one lies (full jitter).
        """
        if not error.transient or attempt >= self.attempts:
            return None
        if error.retry_after_s is None:
            # The exponent is bounded: nobody waits through a thousand doublings, but their power has no float.
            wait_s = chance * min(self.max_delay_s, self.base_delay_s * 2.0 ** min(attempt - 1, 64))
        else:
            wait_s = error.retry_after_s + chance * self.base_delay_s
        return wait_s if passed_s + wait_s <= self.budget_s else None


class ReliableModel:
    """A model that is asked again when it fails for a passing reason, and then those that stand in for it.

    It is a Model itself. Its stream names who answers, by `Answering`, where it is not the first.

    Attributes:
        models: Those that it stands for, in the order in which they are asked.
        policy: How often they are asked again.
        timeouts: How long they may keep us waiting.
    """

    def __init__(
        self,
        models: Sequence[Model],
        policy: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = anyio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Takes the models; they are closed by `aclose`.

        Args:
            models: At least one.
            policy: The defaults where left out.
            timeouts: The defaults where left out.
            clock: Seconds, growing: for budgets and circuits.
            sleep: Waits some seconds.
            chance: A number of [0, 1), for the jitter.

        Raises:
            ModelError: there are no models.
        """
        if not models:
            raise ModelError(type(self).__name__, "it needs at least one model to ask.")
        self.models = tuple(models)
        self.policy, self.timeouts = policy or RetryPolicy(), timeouts or Timeouts()
        self._clock, self._sleep, self._chance = clock, sleep, chance
        opens_after, cool_down_s = self.policy.opens_after, self.policy.cool_down_s
        self._circuits = tuple(Circuit(model.name, opens_after, cool_down_s, clock) for model in self.models)

    @property
    def name(self) -> str:
        """The first one's."""
        return self.models[0].name

    @property
    def writes_code(self) -> bool:
        """Whether code that any of them writes is an LLM's."""
        return any(model.writes_code for model in self.models)

    @property
    def circuits(self) -> tuple[CircuitState, ...]:
        """How each model fares."""
        states: list[CircuitState] = []
        for model, circuit in zip(self.models, self._circuits, strict=True):
            states += model.circuits if isinstance(model, ReliableModel) else (circuit.state,)
        return tuple(states)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({[model.name for model in self.models]!r})"

    async def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        """Asks until a model begins to answer, and gives its answer.

        Raises:
            ModelExhaustedError: no model could answer, and one was asked more than once, or several were.
            ModelCircuitOpenError: the only model is left alone.
            ModelError: the model could not answer, and there is no sense in trying more; or it broke off.
            Exception: as a model raises it.
        """
        call = await self._begun(request)
        try:
            if call.model is not self.models[0]:
                yield Answering(call.model.name)
            chunk = call.first
            while True:
                yield chunk
                if isinstance(chunk, Finish):
                    break
                chunk = await call.chunks.next()
        except GeneratorExit:
            call.permit.settle(None)  # its reader had seen enough
            raise
        except BaseException as error:
            call.permit.settle(error)
            raise
        else:
            call.permit.settle(None)
        finally:
            await call.chunks.aclose()

    async def aclose(self) -> None:
        """Closes the models that can be closed; asked again, they open anew."""
        async with AsyncExitStack() as stack:
            for model in self.models:
                if isinstance(model, Closable):
                    stack.push_async_callback(model.aclose)

    async def _begun(self, request: LLMRequest) -> _Call:
        """The first call that begins to answer."""
        failures: list[ModelError] = []
        for model, circuit in zip(self.models, self._circuits, strict=True):
            try:
                return await self._ask(model, circuit, request)
            except WireError:
                raise
            except ModelError as error:
                failures.append(error)
        if len(failures) == 1:
            raise failures[0]
        listed = " ".join(f"({at}) {error.model}: {_sentence(error.problem)}" for at, error in enumerate(failures, 1))
        raise ModelExhaustedError(self.name, f"none of {len(failures)} models could answer. {listed}", failures)

    async def _ask(self, model: Model, circuit: Circuit, request: LLMRequest) -> _Call:
        """Asks one model, and again."""
        started_s, attempt = self._clock(), 0
        last: ModelError | None = None
        while (permit := circuit.admit()) is not None:
            attempt += 1
            try:
                return await _begin(model, permit, request, self.timeouts)
            except ModelError as error:
                last = error
            passed_s = self._clock() - started_s
            wait_s = self.policy.wait_s(attempt, last, passed_s, self._chance())
            if wait_s is None or circuit.state.state == "open":
                raise self._given_up(last, attempt, passed_s)
            await self._sleep(wait_s)
        raise circuit.refusal() if last is None else self._given_up(last, attempt, self._clock() - started_s)

    def _given_up(self, error: ModelError, attempts: int, passed_s: float) -> ModelError:
        """The error itself, or one that tells what was tried beside what it says."""
        told: list[str] = []
        asked_s = error.retry_after_s
        if error.transient and asked_s is not None and asked_s > self.policy.budget_s:
            told.append(f"It asks to wait {rounded(asked_s)}, longer than we wait ({rounded(self.policy.budget_s)}).")
        if attempts > 1:
            told.append(f"It was asked {attempts} times in {rounded(passed_s)}.")
        if not told:
            return error
        problem = " ".join((_sentence(error.problem), *told))
        exhausted = ModelExhaustedError(error.model, problem, [error], retry_after_s=asked_s)
        exhausted.__cause__ = error
        return exhausted


class _Call(msgspec.Struct, frozen=True):
    """A call that has begun to answer."""

    model: Model
    permit: Permit
    chunks: BoundedStream
    first: Chunk


async def _begin(model: Model, permit: Permit, request: LLMRequest, timeouts: Timeouts) -> _Call:
    """Asks once, and waits for the first token; a call that fails before it is closed."""
    try:
        chunks = BoundedStream(model, request, timeouts)
        try:
            first = await chunks.next()
            while isinstance(first, TextChunk | ReasoningChunk) and not first.text:
                first = await chunks.next()  # an empty text is none: one may still ask again
        except BaseException:
            await chunks.aclose()
            raise
    except BaseException as error:
        permit.settle(error)
        raise
    chunks.begun()
    permit.begun()
    return _Call(model, permit, chunks, first)


def _sentence(problem: str) -> str:
    text = problem.rstrip()
    return text if text.endswith((".", "!", "?", "…", "。")) else f"{text}."
