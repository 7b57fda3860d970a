"""TracedTools: each call of a tool is a span, and what it changed on the board of tasks is an event of it."""

from __future__ import annotations

import msgspec
from opentelemetry.trace import SpanKind

from roles_runtime.llm.parts import JsonObject
from roles_runtime.telemetry import names
from roles_runtime.telemetry.tracing import Tracing, current
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import Told, parts_of
from roles_runtime.tools.tool import Tool


class TracedTools:
    """Makes the span of each call."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing

    def wrap(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """Tools whose calls are seen."""
        return tuple([self._wrapped(each) for each in tools])

    def _wrapped(self, worn: Tool) -> Tool:
        async def call(arguments: JsonObject, caller: Caller) -> Told:
            tracing = self._tracing
            attributes = {
                names.OPERATION: "execute_tool",
                names.TOOL: worn.name,
                names.TOOL_TYPE: "function",
                names.TOOL_CALL: caller.call_id,
                names.AGENT: caller.role,
                names.CONVERSATION: caller.session_id,
            }
            if tracing.content.is_on:
                attributes[names.TOOL_ARGUMENTS] = tracing.content.text(_json(arguments))
            span = tracing.tracer.start_span(f"execute_tool {worn.name}", None, SpanKind.INTERNAL, attributes)
            try:
                with current(span):
                    told = await worn.call(arguments, caller)
            except Exception as error:
                tracing.fail(span, error)
                raise
            else:
                if tracing.content.is_on:
                    span.set_attribute(names.TOOL_RESULT, tracing.content.text(parts_of(told)[0]))
                return told
            finally:
                span.end()

        return Tool(worn.spec, call, worn.accepts, worn.timeout_s, worn.exclusive)


def _json(arguments: JsonObject) -> str:
    try:
        return msgspec.json.encode(arguments).decode()
    except (TypeError, ValueError, RecursionError):
        return ""
