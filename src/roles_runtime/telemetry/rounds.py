"""TracedRounds: a round is the root span of its trace."""

from __future__ import annotations

from time import perf_counter

from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode

from roles_runtime.llm.message import AssistantTextMessage, TextMessage
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.delimiters import remove_all_delimiters
from roles_runtime.runtime.coats import Asked, Play
from roles_runtime.telemetry import names
from roles_runtime.telemetry.tracing import Tracing, context_of, current, span_context


class TracedRounds:
    """Makes the root span of each round; it hangs on whoever asked, and is linked to the round before."""

    def __init__(self, tracing: Tracing, workflow: str) -> None:
        self._tracing, self._workflow = tracing, workflow

    def wrap(self, play: Play, asked: Asked) -> Play:
        """A round that is seen."""

        async def traced(record: Round) -> None:
            tracing, started_s = self._tracing, perf_counter()
            previous = span_context(asked.previous)
            span = tracing.tracer.start_span(
                f"invoke_workflow {self._workflow}",
                context_of(span_context(asked.caller)),
                SpanKind.INTERNAL,
                {
                    names.OPERATION: "invoke_workflow",
                    names.WORKFLOW: self._workflow,
                    names.CONVERSATION: asked.session_id,
                    names.SESSION: asked.session_id,
                    names.ROUND: record.id,
                    names.ROUND_INDEX: asked.index,
                },
                [] if previous is None else [Link(previous)],
            )
            seen = tracing.begin(record.id, span)
            record.traceparent = seen.traceparent
            try:
                with current(span):
                    await play(record)
            except BaseException as error:
                tracing.fail(span, error)
                raise
            finally:
                outcome = _outcome(record)
                self._end(span, record, outcome)
                for left in tracing.rounds.pop(record.id).sent.values():
                    tracing.meters.dropped(left.role)
                tracing.meters.round(perf_counter() - started_s, outcome)

        return traced

    def _end(self, span: Span, record: Round, outcome: str) -> None:
        span.set_attribute(names.ROUND_STATE, str(record.state))
        span.set_attribute(names.OUTCOME, outcome)
        content = self._tracing.content
        if content.is_on:
            span.set_attribute(names.INPUT_MESSAGES, content.messages([TextMessage(content=record.user_query)]))
            if record.reply is not None:
                answer = AssistantTextMessage(content=remove_all_delimiters(record.reply.message))
                span.set_attribute(names.OUTPUT_MESSAGES, content.answer(answer, "stop"))
        if record.state is not RoundState.finished:
            # The reason is ours; how it is told may be in anybody's words.
            told = content.text(record.detail, 1024) if content.is_on else ""
            span.set_attribute(names.ERROR, outcome)
            span.set_status(Status(StatusCode.ERROR, told or outcome))
        span.end()


def _outcome(record: Round) -> str:
    if record.state is RoundState.finished:
        return "ok"
    return str(record.reason or "interrupted")
