"""Metrics: how long things take and wait, what they cost, how often they fail. Never an id among their labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opentelemetry.metrics import CallbackOptions, Histogram, MeterProvider, Observation

from roles_runtime.llm.model import Usage
from roles_runtime.telemetry import names

SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Buckets of a turn, up to its limit."""

ROUND_SECONDS = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
WAIT_SECONDS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)
# As the GenAI conventions advise.
MODEL_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)


class _Tally:
    """A number for each set of labels, which is read when metrics are collected: to count costs next to nothing."""

    def __init__(self) -> None:
        self._counts: dict[tuple[tuple[str, str], ...], int] = {}

    def add(self, count: int, *labels: tuple[str, str]) -> None:
        self._counts[labels] = self._counts.get(labels, 0) + count

    def observe(self, _: CallbackOptions) -> Iterable[Observation]:
        # By another thread: what is counted meanwhile is seen the next time.
        return [Observation(count, dict(labels)) for labels, count in tuple(self._counts.items())]


class Meters:
    """The instruments, each by its name in the conventions or ours."""

    def __init__(self, provider: MeterProvider) -> None:
        meter = provider.get_meter("roles_runtime")

        def histogram(name: str, unit: str, about: str, buckets: Sequence[float]) -> Histogram:
            return meter.create_histogram(name, unit, about, explicit_bucket_boundaries_advisory=buckets)

        self._wait = histogram("roles.mailbox.wait", "s", "How long a Post waits", WAIT_SECONDS)
        self._turn = histogram("roles.turn.duration", "s", "How long a turn takes", SECONDS)
        self._round = histogram("roles.round.duration", "s", "How long a round takes", ROUND_SECONDS)
        self._code = histogram("roles.code.duration", "s", "How long a cell takes", SECONDS)
        self._model = histogram("gen_ai.client.operation.duration", "s", "How long a model takes", MODEL_SECONDS)
        self._tokens = histogram("gen_ai.client.token.usage", "{token}", "Tokens of a call", TOKENS)
        self._depth, self._posts, self._turns, self._errors = _Tally(), _Tally(), _Tally(), _Tally()
        waiting, counter = meter.create_observable_up_down_counter, meter.create_observable_counter
        waiting("roles.mailbox.depth", [self._depth.observe], "{post}", "Posts that wait for a role")
        counter("roles.posts", [self._posts.observe], "{post}", "Posts, by who writes to whom")
        counter("roles.turns", [self._turns.observe], "{turn}", "Turns, by how they ended")
        counter("roles.errors", [self._errors.observe], "{error}", "What went wrong, by its type")

    def landed(self, role: str) -> None:
        """A Post waits for a role."""
        self._depth.add(1, (names.ROLE, role))

    def taken(self, role: str, wait_s: float | None) -> None:
        """It is answered now; how long it waited, where that is known."""
        self._depth.add(-1, (names.ROLE, role))
        if wait_s is not None:
            self._wait.record(wait_s, {names.ROLE: role})

    def dropped(self, role: str) -> None:
        """It will not be answered any more."""
        self._depth.add(-1, (names.ROLE, role))

    def posted(self, kind: str) -> None:
        """A Post was sent: by the user, to another role (or the user), or to its own sender."""
        self._posts.add(1, (names.POST_KIND, kind))

    def turn(self, role: str, duration_s: float, outcome: str) -> None:
        """A turn is over."""
        self._turn.record(duration_s, {names.ROLE: role, names.OUTCOME: outcome})
        self._turns.add(1, (names.ROLE, role), (names.OUTCOME, outcome))

    def round(self, duration_s: float, outcome: str) -> None:
        """A round is over."""
        self._round.record(duration_s, {names.OUTCOME: outcome})

    def model(self, provider: str, model: str, duration_s: float, usage: Usage, error: str) -> None:
        """A model answered, or failed to."""
        attributes = {names.OPERATION: "chat", names.PROVIDER: provider, names.REQUEST_MODEL: model}
        self._model.record(duration_s, {**attributes, names.ERROR: error} if error else attributes)
        for kind, count in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            if count:
                self._tokens.record(count, {**attributes, names.TOKEN_TYPE: kind})

    def code(self, duration_s: float, outcome: str) -> None:
        """A cell is over."""
        self._code.record(duration_s, {names.OUTCOME: outcome})

    def failed(self, error: str) -> None:
        """Something went wrong that escaped."""
        self._errors.add(1, (names.ERROR, error))
