"""A stand-in: the root span of a round and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from opentelemetry.trace import format_trace_id

from roles_runtime.kernels.kernel import Kernel
from roles_runtime.llm.model import Model
from roles_runtime.mail.transport import Transport
from roles_runtime.posts.conversation import Round
from roles_runtime.posts.post import RoleName
from roles_runtime.runtime.coats import Act, Play
from roles_runtime.telemetry.exporting import Providers, make_providers
from roles_runtime.tools.tool import Tool


class Telemetry:
    """Traces rounds."""

    def __init__(
        self,
        providers: Providers | None = None,
        *,
        content: bool | None = None,
        hop_parent: Literal["round", "send"] = "round",
        redact: Callable[[str], str] | None = None,
    ) -> None:
        self.providers = providers or make_providers()
        self._tracer = self.providers.tracer_provider.get_tracer("roles_runtime")
        self._ids: dict[str, str] = {}

    def trace_id(self, round_id: str) -> str:
        """The trace of a round; empty if unknown."""
        return self._ids.get(round_id, "")

    def close(self, timeout_s: float = 2.0) -> None:
        """Closes the providers."""
        self.providers.close(timeout_s)

    def caller(self) -> str:
        """Nobody."""
        return ""

    def current(self) -> str:
        """None."""
        return ""

    def wrap_round(self, play: Play, session_id: str, traceparent: str) -> Play:
        """A span round it."""

        async def traced(record: Round) -> None:
            with self._tracer.start_as_current_span("invoke_workflow") as span:
                self._ids[record.id] = format_trace_id(span.get_span_context().trace_id)
                span.set_attribute("roles.session.id", session_id)
                await play(record)

        return traced

    def wrap_transport(self, transport: Transport) -> Transport:
        """As it is."""
        return transport

    def wrap_turn(self, act: Act, role: RoleName) -> Act:
        """As it is."""
        return act

    def wrap_model(self, model: Model, role: RoleName) -> Model:
        """As it is."""
        return model

    def wrap_tools(self, tools: tuple[Tool, ...], role: RoleName) -> tuple[Tool, ...]:
        """As they are."""
        return tools

    def wrap_kernel(self, kernel: Kernel, role: RoleName) -> Kernel:
        """As it is."""
        return kernel
