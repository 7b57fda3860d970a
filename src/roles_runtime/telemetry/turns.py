"""TracedTurns: each hop is a span with what came in and what went out, whatever became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import cast

from opentelemetry.trace import Link, Span, SpanKind

from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.event import Outcome
from roles_runtime.posts.post import Post, RoleName
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.runtime.coats import Act
from roles_runtime.runtime.scope import TurnScope
from roles_runtime.telemetry import names
from roles_runtime.telemetry.mail import hop_attributes
from roles_runtime.telemetry.tracing import Tracing, context_of, current, span_context

NONE = "[]"


class TracedTurns:
    """Makes the span of a hop, and within it that of the role at work."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing

    def wrap(self, act: Act, role: RoleName) -> Act:
        """A turn that is seen, the router's verdict included."""
        return partial(self._process, act, role)

    def wrap_respond(self, respond: Respond, role: RoleName) -> Respond:
        """A role at work, its middleware included."""
        tracing, name = self._tracing, f"invoke_agent {role}"

        async def traced(turn: Turn) -> Answer:
            span = tracing.tracer.start_span(
                name,
                None,
                SpanKind.INTERNAL,
                {names.OPERATION: "invoke_agent", names.AGENT: role, names.CONVERSATION: turn.session_id},
            )
            try:
                with current(span):
                    return await respond(turn)
            except BaseException as error:
                tracing.fail(span, error)
                raise
            finally:
                span.end()

        return traced

    async def _process(self, act: Act, role: RoleName, turn: Turn) -> Outcome:
        scope, started_s = cast("TurnScope", turn.scope), perf_counter()
        span = self._begin(role, turn, scope, started_s)
        outcome: Outcome = "error"
        try:
            with current(span):
                outcome = await act(turn)
        except asyncio.CancelledError:
            outcome = "timeout" if scope.active.round.reason == "timeout" else "cancelled"
            raise
        except BaseException as error:
            self._tracing.fail(span, error)
            raise
        finally:
            self._end(span, role, scope.answer, outcome)
            self._tracing.meters.turn(role, perf_counter() - started_s, outcome)
        return outcome

    def _begin(self, role: RoleName, turn: Turn, scope: TurnScope, now_s: float) -> Span:
        tracing, envelope = self._tracing, scope.envelope
        attributes = hop_attributes(envelope, "process")
        posts = turn.posts
        attributes[names.SESSION] = turn.session_id
        attributes[names.ROUND] = turn.round_id
        attributes[names.POST] = posts[-1].id
        attributes[names.IN_FROM] = _listed([post.send_from for post in posts])
        attributes[names.IN_RECIPIENT] = role
        attributes[names.IN_ATTACHMENTS] = self._attached(posts)
        if tracing.content.is_on:
            attributes[names.IN_MESSAGE] = tracing.content.spoken([post.message for post in posts])
        seen = tracing.rounds.get(envelope.round_id)
        sent = None if seen is None else seen.sent.pop(envelope.key, None)
        place = span_context(envelope.traceparent) if sent is None else sent.span
        wait_s = None if sent is None else now_s - sent.at_s
        tracing.meters.taken(role, wait_s)
        if wait_s is not None:
            attributes[names.WAIT_MS] = int(wait_s * 1000)
        if seen is None or (tracing.hop_parent == "send" and place is not None):
            parent, links = context_of(place), None
        else:
            parent, links = seen.context, None if place is None else (Link(place),)
        return tracing.tracer.start_span(f"process {role}", parent, SpanKind.CONSUMER, attributes, links)

    def _end(self, span: Span, role: RoleName, answer: Answer | None, outcome: Outcome) -> None:
        posts = _posts(answer)
        attributes = {
            names.OUTCOME: outcome,
            names.OUT_FROM: role,
            names.OUT_TO: _listed([self._tracing.content.name(post.send_to) for post in posts]),
            names.OUT_ATTACHMENTS: self._attached(posts),
        }
        if self._tracing.content.is_on:
            attributes[names.OUT_MESSAGE] = self._tracing.content.spoken([post.message for post in posts])
        span.set_attributes(attributes)
        span.end()
        for post in posts if outcome != "cancelled" else ():
            self._tracing.meters.posted("self" if post.send_to == role or outcome == "rejected" else "role")

    def _attached(self, posts: Sequence[Post]) -> str:
        return self._tracing.content.attachments(posts) if any(post.attachment_list for post in posts) else NONE


def _listed(who: list[RoleName]) -> str:
    return who[0] if len(who) == 1 else ", ".join(dict.fromkeys(who))


def _posts(answer: Answer | None) -> Sequence[Post]:
    """The Posts of an answer. A role may have returned anything: what is none is the router's to refuse."""
    if isinstance(answer, Post):
        answer = (answer,)
    if not isinstance(answer, list | tuple):
        return ()
    return [post for post in answer if isinstance(post, Post) and _can_be_told(post)]


def _can_be_told(post: Post) -> bool:
    return (
        isinstance(post.message, str)
        and isinstance(post.send_to, str)
        and isinstance(post.attachment_list, list | tuple)
        and all(isinstance(each, Attachment) and isinstance(each.content, str) for each in post.attachment_list)
    )
