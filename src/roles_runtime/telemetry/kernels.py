"""TracedKernel: each cell is a span, whose place is all that the cell is told of it."""

from __future__ import annotations

from time import perf_counter

from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from roles_runtime.kernels.kernel import Execution, Kernel
from roles_runtime.posts.post import USER, RoleName
from roles_runtime.roles.outcome import last_line
from roles_runtime.telemetry import names
from roles_runtime.telemetry.tracing import Tracing, traceparent_of


class TracedKernel:
    """A kernel whose cells are seen."""

    def __init__(self, worn: Kernel, tracing: Tracing, role: RoleName) -> None:
        self._worn, self._tracing, self._role = worn, tracing, role

    async def execute(self, code: str, *, timeout_s: float | None = None, traceparent: str = "") -> Execution:
        """Runs one cell. See `Kernel.execute`."""
        started_s, span = perf_counter(), self._begin(code)
        outcome = "cancelled"
        try:
            place = traceparent_of(span.get_span_context())
            execution = await self._worn.execute(code, timeout_s=timeout_s, traceparent=place or traceparent)
            outcome = execution.outcome
            self._told(span, execution)
            return execution
        except Exception as error:
            outcome = "lost"
            self._tracing.fail(span, error)
            raise
        finally:
            span.set_attribute(names.EXECUTION_OUTCOME, outcome)
            span.end()
            self._tracing.meters.code(perf_counter() - started_s, outcome)

    def _begin(self, code: str) -> Span:
        # The runtime's own look at files that the user handed over is no role's.
        is_first_look = self._role == USER
        attributes: dict[str, str | int] = {
            names.OPERATION: "execute_tool",
            names.TOOL: "execute_code",
            names.TOOL_TYPE: "extension",
            names.LANGUAGE: "python",
            names.CODE_BYTES: len(code.encode("utf-8", "replace")),
            names.PURPOSE: "profile" if is_first_look else "cell",
        }
        if not is_first_look:
            attributes[names.AGENT] = self._role
            if self._tracing.content.is_on:
                attributes[names.CODE] = self._tracing.content.text(code)
        return self._tracing.tracer.start_span("execute_code", None, SpanKind.INTERNAL, attributes)

    def _told(self, span: Span, execution: Execution) -> None:
        content = self._tracing.content
        span.set_attribute(names.EXECUTION, execution.execution_id)
        if content.is_on and self._role != USER:
            span.set_attribute(names.TOOL_RESULT, content.text("".join((*execution.stdout, execution.output))))
        if execution.is_success:
            return
        # The name of the exception; what it says may be anybody's words.
        kind, error = _kind_of(execution), execution.error or ""
        span.set_attribute(names.ERROR, kind)
        span.set_status(Status(StatusCode.ERROR, content.text(last_line(error), 1024) if content.is_on else kind))
        if content.is_on:
            told = {"exception.type": kind, "exception.stacktrace": content.text(error)}
            span.add_event("exception", told)

    async def aclose(self) -> None:
        """Does nothing that the kernel itself does not."""
        await self._worn.aclose()


def _kind_of(execution: Execution) -> str:
    """The type of the exception that ended a cell: it begins the last line of its traceback."""
    kind = last_line(execution.error or "").partition(":")[0].strip()
    return kind if len(kind) <= 100 and kind.replace(".", "").isidentifier() else execution.outcome
