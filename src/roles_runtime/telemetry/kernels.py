"""TracedKernel: each cell is a span, whose place is all that the cell is told of it."""

from __future__ import annotations

from time import perf_counter

from opentelemetry.trace import SpanKind, Status, StatusCode

from roles_runtime.kernels.kernel import Execution, Kernel
from roles_runtime.roles.outcome import last_line
from roles_runtime.telemetry import names
from roles_runtime.telemetry.tracing import Tracing, traceparent_of


class TracedKernel:
    """A kernel whose cells are seen."""

    def __init__(self, worn: Kernel, tracing: Tracing) -> None:
        self._worn, self._tracing = worn, tracing

    async def execute(self, code: str, *, timeout_s: float | None = None, traceparent: str = "") -> Execution:
        """Runs one cell. See `Kernel.execute`."""
        tracing, started_s = self._tracing, perf_counter()
        attributes: dict[str, str | int] = {
            names.OPERATION: "execute_code",
            names.LANGUAGE: "python",
            names.CODE_BYTES: len(code.encode("utf-8", "replace")),
        }
        if tracing.content.is_on:
            attributes[names.CODE] = tracing.content.text(code)
        span = tracing.tracer.start_span("execute_code", None, SpanKind.INTERNAL, attributes)
        outcome = "cancelled"
        try:
            place = traceparent_of(span.get_span_context())
            execution = await self._worn.execute(code, timeout_s=timeout_s, traceparent=place or traceparent)
            outcome = execution.outcome
            span.set_attribute(names.EXECUTION, execution.execution_id)
            if not execution.is_success:
                # The name of the exception; what it says may be anybody's words.
                kind = _kind_of(execution)
                span.set_attribute(names.ERROR, kind)
                told = tracing.content.text(execution.error or "", 2048) if tracing.content.is_on else ""
                span.set_status(Status(StatusCode.ERROR, told or kind))
            return execution
        except Exception as error:
            outcome = "lost"
            tracing.fail(span, error)
            raise
        finally:
            span.set_attribute(names.EXECUTION_OUTCOME, outcome)
            span.end()
            tracing.meters.code(perf_counter() - started_s, outcome)

    async def aclose(self) -> None:
        """Does nothing that the kernel itself does not."""
        await self._worn.aclose()


def _kind_of(execution: Execution) -> str:
    """The type of the exception that ended a cell: it begins the last line of its traceback."""
    kind = last_line(execution.error or "").partition(":")[0].strip()
    return kind if len(kind) <= 100 and kind.replace(".", "").isidentifier() else execution.outcome
