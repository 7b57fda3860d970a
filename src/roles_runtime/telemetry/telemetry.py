"""Telemetry: the coats that a runtime wears to be seen by OpenTelemetry."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry import trace
from opentelemetry.trace import Span

from roles_runtime.kernels.kernel import Kernel
from roles_runtime.llm.model import Model
from roles_runtime.mail.transport import Transport
from roles_runtime.posts.event import ApprovalAsked, ApprovalGiven, DurableEvent, TaskChanged
from roles_runtime.posts.post import RoleName
from roles_runtime.roles.turn import Respond
from roles_runtime.runtime.coats import Act, Asked, Play
from roles_runtime.telemetry import environment, names
from roles_runtime.telemetry.content import Content, Redact
from roles_runtime.telemetry.exporting import make_providers
from roles_runtime.telemetry.kernels import TracedKernel
from roles_runtime.telemetry.mail import TracedTransport
from roles_runtime.telemetry.meters import Meters
from roles_runtime.telemetry.models import TracedModel
from roles_runtime.telemetry.providers import Providers
from roles_runtime.telemetry.redaction import mask
from roles_runtime.telemetry.rounds import TracedRounds
from roles_runtime.telemetry.tools import TracedTools
from roles_runtime.telemetry.tracing import HopParent, Tracing, traceparent_of
from roles_runtime.telemetry.turns import TracedTurns
from roles_runtime.tools.tool import Tool


class Telemetry:
    """Makes a trace a round, and metrics: ``Runtime(team, telemetry=Telemetry())``.

    One object may serve several runtimes. Where nothing else is said, it goes by the standard ``OTEL_*`` variables:
    spans leave by OTLP over HTTP, in batches and beside the event loop. Close it when the last runtime is closed.
    """

    def __init__(
        self,
        providers: Providers | None = None,
        *,
        workflow: str = "team",
        content: bool | None = None,
        hop_parent: HopParent = "round",
        redact: Redact = mask,
    ) -> None:
        """Makes one.

        Args:
            providers: Where spans and metrics go; `make_providers` where it is left out.
            workflow: What the round's span is called after: ``invoke_workflow {workflow}``.
            content: Whether messages, arguments, results and code stand in spans, and not only what there was of them;
                where it is left out, what ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` says.
            hop_parent: What a hop hangs on: the ``round``, flat; or the ``send`` that led to it, which chains them.
            redact: Takes the secrets out of each text that is told; beside it nothing is masked.

        Raises:
            ConfigError: an OTEL_* variable is wrong, or gRPC is wanted and not installed.
        """
        self.providers = make_providers() if providers is None else providers
        tracer = self.providers.tracer_provider.get_tracer("roles_runtime")
        told = Content(environment.wants_content() if content is None else content, redact)
        self._tracing = Tracing(tracer, Meters(self.providers.meter_provider), told, hop_parent)
        self._rounds = TracedRounds(self._tracing, workflow)
        self._turns = TracedTurns(self._tracing)
        self._tools = TracedTools(self._tracing)

    def close(self, timeout_s: float = 2.0) -> None:
        """Sends what is left, within that time. It blocks: call it when the event loop is over, or in a thread."""
        self.providers.close(timeout_s)

    def trace_id(self, round_id: str) -> str:
        """The id of a round's trace, 32 hexadecimal digits; empty for a round that was not traced, or long ago."""
        return self._tracing.trace_ids.get(round_id, "")

    # --- what the runtime calls --------------------------------------------------------------------------------

    def caller(self) -> str:
        """The current span's traceparent."""
        return traceparent_of(trace.get_current_span().get_span_context())

    def current(self, events: Sequence[DurableEvent]) -> str:
        """That of the current span, which is told of changed tasks and of approvals; else that of the round."""
        span = trace.get_current_span()
        place = span.get_span_context()
        for event in events:
            if isinstance(event, TaskChanged | ApprovalAsked | ApprovalGiven):
                self._tell(span, event)
        if place.is_valid:
            return traceparent_of(place)
        seen = self._tracing.rounds.get(events[0].round_id) if events else None
        return "" if seen is None else seen.traceparent

    def _tell(self, span: Span, event: TaskChanged | ApprovalAsked | ApprovalGiven) -> None:
        """What happened in the middle of a span: ids, states and names, and no word of anybody's."""
        match event:
            case TaskChanged():
                owner = self._tracing.content.name(event.owner)
                told = {"id": event.task_id, "from": event.previous, "to": event.current, "owner": owner}
                span.add_event(names.TASK_CHANGED, told)
            case ApprovalAsked():
                span.add_event(names.APPROVAL_ASKED, {"id": event.approval_id})
            case ApprovalGiven():
                span.add_event(names.APPROVAL_GIVEN, {"id": event.approval_id, "approved": event.approved})

    def wrap_round(self, play: Play, asked: Asked) -> Play:
        """A root span."""
        return self._rounds.wrap(play, asked)

    def wrap_transport(self, transport: Transport) -> Transport:
        """A span for each send."""
        return TracedTransport(transport, self._tracing)

    def wrap_turn(self, act: Act, role: RoleName) -> Act:
        """A span for each hop."""
        return self._turns.wrap(act, role)

    def wrap_respond(self, respond: Respond, role: RoleName) -> Respond:
        """A span for the role at work."""
        return self._turns.wrap_respond(respond, role)

    def wrap_model(self, model: Model, role: RoleName) -> Model:
        """A span for each call."""
        return TracedModel(model, self._tracing, role)

    def wrap_tools(self, tools: tuple[Tool, ...], role: RoleName) -> tuple[Tool, ...]:
        """A span for each call."""
        return self._tools.wrap(tools)

    def wrap_kernel(self, kernel: Kernel, role: RoleName) -> Kernel:
        """A span for each cell."""
        return TracedKernel(kernel, self._tracing, role)
