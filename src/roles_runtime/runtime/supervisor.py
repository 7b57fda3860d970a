"""The Supervisor: walks the actors of a round through their turns, and sees to it that every round ends."""

from __future__ import annotations

import asyncio
from time import time_ns

from roles_runtime.done import DONE
from roles_runtime.errors import (
    CorrectionsExhaustedError,
    InvalidResponseError,
    RoleError,
    RolesError,
    StoreError,
    UsageLimitError,
)
from roles_runtime.mail.envelope import Envelope
from roles_runtime.posts.conversation import Reason, RoundState
from roles_runtime.posts.event import Outcome, PostSent, TurnFinished, TurnStarted
from roles_runtime.posts.post import Post, seal
from roles_runtime.roles.turn import Turn
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.actor import Actor
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.context import run_in_context
from roles_runtime.runtime.journal import Keyed
from roles_runtime.runtime.logs import get_logger
from roles_runtime.runtime.router import fail_branch, hand_over, route
from roles_runtime.runtime.scope import TurnScope
from roles_runtime.runtime.text import line_of

log = get_logger(__name__)

YIELD_EVERY = 32
"""Turns that run on without letting the loop turn: about 0.1 ms of a role that never waits."""


async def play(active: ActiveRound) -> None:
    """Runs a round whose first Post was delivered, until it is closed. Never raises."""
    try:
        while active.is_open and (active.woken or await active.landed()):
            await _walk_all(active, _take(active))
        if active.is_open:
            detail = "No role has anything to answer, and the leader did not address User."
            await active.write_end(active.closing(RoundState.failed, "stalled", detail))
    except asyncio.CancelledError:
        # Whoever closed the round cancelled this task; anybody else's cancellation closes it too.
        if active.is_open:
            await active.write_end(active.closing(RoundState.failed, "cancelled", "The round was cancelled."))
    except Exception as error:
        await give_up(active, error)
    finally:
        active.end()


async def give_up(active: ActiveRound, error: BaseException) -> None:
    """Closes a round that cannot be written down, or whose runtime has a fault of its own."""
    unwritten = error.subgroup(StoreError) if isinstance(error, BaseExceptionGroup) else error
    while isinstance(unwritten, BaseExceptionGroup):
        unwritten = unwritten.exceptions[0]
    if isinstance(unwritten, StoreError):
        active.failure = active.failure or unwritten
    elif not isinstance(error, RolesError):
        log.exception("the round ended by a fault of the runtime", round=active.round.id, exc_info=error)
    if active.is_open:
        await active.write_end(active.closing(RoundState.failed, "role_error", line_of(error)))


def _take(active: ActiveRound) -> list[Actor]:
    woken = active.woken[:]
    active.woken.clear()
    return woken


async def _walk_all(active: ActiveRound, woken: list[Actor]) -> None:
    if len(woken) == 1:
        await _walk(active, woken[0])
        return
    async with asyncio.TaskGroup() as side_by_side:
        for actor in woken:
            side_by_side.create_task(_walk(active, actor))


async def _walk(active: ActiveRound, actor: Actor) -> None:
    """Runs the next turn itself while one actor is woken; opens a task group where several are."""
    woken, fresh_context = active.woken, active.fresh_context
    while True:
        for _ in range(YIELD_EVERY):
            rest = run_in_context(fresh_context(), step(active, actor))
            if rest is not DONE:
                await rest
            if active.is_over:
                # Turns of other actors that still run are for nothing now.
                if active.task is not asyncio.current_task():
                    active.stop()
                return
            if actor.more and not actor.joins:
                actor.take_on(woken)
            else:
                actor.busy = False
            if len(woken) != 1:
                if woken:
                    await _walk_all(active, _take(active))
                return
            actor = woken.pop()
        await asyncio.sleep(0)


async def step(active: ActiveRound, actor: Actor) -> None:
    """One turn. Whatever the role does, it ends in a Post, a correction, or the round's end; only a cancellation of
    the round, or a store that can not write, comes out of it.
    """
    envelope = actor.envelope or actor.mailbox.take()
    if envelope is None:
        return
    session, seat, record = active.session, actor.seat, active.round
    if session.setbacks is not None:
        actor.envelope = envelope
        await session.setbacks.pause(actor.name)
    actor.envelope = None
    if not (active.lands_once or active.is_first(envelope)):
        actor.mailbox.ack(envelope)
        return
    posts = envelope.posts
    sender = posts[-1].send_from
    if sender != actor.name:
        actor.requester = sender
    scope = actor.scope = TurnScope(active, actor, envelope, len(record.post_list), time_ns())
    if session.listeners.watchers:
        session.listeners.tell(TurnStarted(record.id, actor.name, posts[-1].id))
    turn = Turn(
        posts, actor.requester, actor.name, active.session_id, record.id, scope, seat.tools, seat.model, actor.kernel
    )
    try:
        if seat.coats is None:
            # Called by a name of its own, as others here that stand in a slot: Python 3.11 is slow at calling those.
            respond = seat.respond
            answer = await respond(turn)
            if scope.drafted is not None:
                scope.settle(answer)
            sent = route(active, actor, envelope, answer, scope.started_at)
            if sent is not DONE:
                await sent
        else:
            await _coated(seat.coats, scope, turn)
        actor.sending = ()
        # The two know each other, and would live until the collector came.
        scope.drafted = None
        if not active.lands_once:
            actor.mailbox.ack(envelope)
        if session.setbacks is not None:
            session.setbacks.forget(actor.name)
    except BaseException as error:
        if _is_not_the_roles(error, active):
            raise
        if active.is_open:
            scope.withdraw()
            await _failed(active, actor, envelope, error, scope.started_at)


def _is_not_the_roles(error: BaseException, active: ActiveRound) -> bool:
    """Whether it goes beyond the turn: a real cancellation, a journal that is torn, a Ctrl-C, the turn being closed.

    A role that calls ``sys.exit()`` ends its turn and no more: a process is not its to end.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    if isinstance(error, StoreError):
        return active.session.journal.broken
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup((KeyboardInterrupt, GeneratorExit)) is not None
    return isinstance(error, KeyboardInterrupt | GeneratorExit)


async def _coated(coats: Coats, scope: TurnScope, turn: Turn) -> Outcome:
    """The turn with a coat on, the router's verdict included."""
    active, actor = scope.active, scope.actor

    async def act(worn: Turn) -> Outcome:
        answer = scope.answer = await actor.seat.respond(worn)
        scope.settle(answer)
        return await route(active, actor, scope.envelope, answer, scope.started_at) or "ok"

    return await coats.wrap_turn(act, actor.name)(turn)


async def _failed(active: ActiveRound, actor: Actor, envelope: Envelope, error: BaseException, started_at: int) -> None:
    """Answers a turn that raised: a branch comes in as a failure, a worker that can not mend its answer tells its
    requester, and anything else ends the round.
    """
    name, leads = actor.name, actor.leads
    was_answered, actor.scope = actor.scope is None, None
    problem = line_of(error)
    outcome: Outcome = "self_correction" if isinstance(error, InvalidResponseError) else "error"
    answered = tuple(post.id for post in envelope.posts)
    turn_id = f"{active.round.id}/{answered[-1]}/{name}"
    finished = (TurnFinished(active.round.id, name, answered, started_at, outcome, problem), turn_id)
    exhausted = isinstance(error, InvalidResponseError | CorrectionsExhaustedError)
    limited = isinstance(error, UsageLimitError)
    if not (exhausted or limited):
        log.info("a role raised", role=name, round=active.round.id, problem=problem, exc_info=error)
        active.session.set_back(name)
    if was_answered:
        # Its answer stands in the journal, and could not be delivered.
        await active.write_end(active.closing(RoundState.failed, "role_error", problem))
    elif envelope.branch and not (leads and exhausted):
        await fail_branch(active, actor, envelope, problem, finished)
    elif exhausted and not leads and actor.requester in active.team.roles:
        await _tell_requester(active, actor, envelope, problem, finished)
    else:
        reason: Reason = "limit" if exhausted or limited else "role_error"
        detail = problem if isinstance(error, RoleError) else f"Role {name}: {problem}"
        await active.write_end([finished, *active.closing(RoundState.failed, reason, detail)])


async def _tell_requester(active: ActiveRound, actor: Actor, envelope: Envelope, problem: str, finished: Keyed) -> None:
    post = Post.create(f"{actor.name} failed: {problem}", actor.name, actor.requester)
    seal(post)
    active.round.post_list.append(post)
    active.replies += 1
    sent = PostSent(active.round.id, post, tuple(each.id for each in envelope.posts))
    actor.sending = (post,)
    await active.session.journal.append([(sent, f"{finished[1]}#0"), finished])
    if active.is_open:
        await hand_over(active, actor.requester, (post,), len(active.round.post_list))
        actor.sending = ()
