"""A round under way: its actors, its fan-outs, its bounds, and its one end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from roles_runtime.errors import StoreError
from roles_runtime.llm.model import Usage
from roles_runtime.mail.envelope import Envelope
from roles_runtime.posts.conversation import Reason, Round, RoundState
from roles_runtime.posts.event import Outcome, PostCancelled, RoundClosed, TurnFinished
from roles_runtime.posts.post import USER, Post, RoleName
from roles_runtime.runtime.actor import Actor
from roles_runtime.runtime.approvals import Pauses
from roles_runtime.runtime.ground import Home
from roles_runtime.runtime.journal import Keyed


class Branch:
    """One branch of a fan-out: whatever answers one of its Posts inherits it, until its owner is answered.

    Attributes:
        join: The fan-out.
        role: Whom the branch began with.
    """

    __slots__ = ("join", "role")

    def __init__(self, join: Join, role: RoleName) -> None:
        self.join, self.role = join, role


class Join:
    """A fan-out that is still out.

    Attributes:
        owner: Who sent it and waits for all of it.
        answers: By branch, in sending order; None until it is in.
        outer: The branch that the owner was on, or 0.
    """

    __slots__ = ("answers", "outer", "owner")

    def __init__(self, owner: RoleName, outer: int) -> None:
        self.owner, self.outer = owner, outer
        self.answers: dict[int, Post | None] = {}


class ActiveRound:
    """A round while it runs.

    Attributes:
        session, team, limits: Where it belongs.
        session_id: The session's id, which each hop needs.
        round: Its record, as memory and the user see it.
        actors: By role; made when the first Post comes for one.
        lands_once: Whether all that was sent had landed when `send` returned: nothing is under way then.
        under_way: Keys of envelopes that were sent and not taken yet, where the transport makes one wait; what is not
            among them is a second delivery.
        landing: Set when something lands, while all that is left is in the transport.
        woken: Actors that something has landed for and nobody runs yet.
        branches: By number, while their fan-out is out.
        ids: Of its Posts, as far as they were looked at.
        cells: Cells that run, by id, with what is written of each where the round ends first.
        replies: How many there were.
        usage: Calls and tokens.
        fresh_context: Makes the context of one turn.
        carry: Hands an envelope to the transport.
        most_replies: How many a round may have.
        large: The size above which a text becomes an artifact.
        is_open, is_over: Whether it was closed.
        started_s: When it began, by the loop's clock.
        pauses: Its waits for the user, or None where there were none.
        opening: What opens it in the journal, until that is written.
        over: Resolved when its end is written down and its task has ended, or was given up.
        failure: Why the store could not write, if it could not.
    """

    __slots__ = (
        "actors",
        "branches",
        "carry",
        "cells",
        "ended",
        "failure",
        "fresh_context",
        "ids",
        "is_open",
        "is_over",
        "landing",
        "lands_once",
        "large",
        "limits",
        "most_replies",
        "next_branch",
        "opening",
        "over",
        "pauses",
        "replies",
        "round",
        "session",
        "session_id",
        "started_s",
        "task",
        "team",
        "under_way",
        "usage",
        "woken",
        "written",
    )

    def __init__(self, session: Home, new_round: Round, over: asyncio.Future[None]) -> None:
        self.session = session
        self.session_id = session.id
        self.team, self.limits = session.ground.team, session.ground.limits
        self.round = new_round
        self.actors: dict[RoleName, Actor] = {}
        self.woken: list[Actor] = []
        self.under_way: set[str] = set()
        self.lands_once = True
        self.landing: asyncio.Event | None = None
        self.branches: dict[int, Branch] = {}
        self.ids: set[str] = set()
        self.cells: dict[str, Keyed] = {}
        self.next_branch = 1
        self.replies = 0
        self.usage = Usage()
        # Two words for one thing: a checker takes the first for granted after it was asked once, across waits too.
        self.is_open, self.is_over = True, False
        # Bound once a round: each hop needs them.
        self.fresh_context = session.ground.context.copy
        self.carry = session.ground.transport.send
        self.large = self.limits.large_post_bytes
        self.most_replies = self.limits.max_internal_chat_round_num
        self.over = over
        self.opening: list[Keyed] = []
        self.started_s = over.get_loop().time()
        self.pauses: Pauses | None = None
        self.task: asyncio.Task[None] | None = None
        self.failure: StoreError | None = None
        self.written = self.ended = False

    def open_actor(self, name: RoleName) -> None:
        """Makes the actor of a role, with its mailbox, when the first Post comes for it."""
        session = self.session
        seat = session.ground.seats[name]
        actor = Actor(seat, self.team.leader.name)
        if seat.needs_kernel:
            actor.kernel = session.kernel_for(name, self.round.id, actor.turn_id)
        capacity = self.limits.max_internal_chat_round_num + len(self.team.roles) + 1

        def wake() -> None:
            # Something landed: the actor is to be run, unless somebody does or its fan-out is out.
            if actor.busy or actor.joins:
                actor.more = True
            else:
                actor.busy = True
                woken.append(actor)
            if self.landing is not None:
                self.landing.set()

        woken = self.woken
        actor.mailbox = session.ground.transport.open((session.id, name), wake, capacity=capacity)
        self.actors[name] = actor

    def is_first(self, envelope: Envelope) -> bool:
        """Whether an envelope was not taken before; what is delivered a second time was answered, or is being."""
        if envelope.key not in self.under_way:
            return False
        self.under_way.remove(envelope.key)
        return True

    async def landed(self) -> bool:
        """Waits until an actor is woken by what is still in the transport; False where nothing is.

        The limit of the round bounds it.
        """
        while not self.woken:
            held = {envelope.key for actor in self.actors.values() for envelope in actor.mailbox.waiting()}
            if self.under_way <= held:
                return False
            self.landing = asyncio.Event()
            await self.landing.wait()
        self.landing = None
        return True

    # --- the end -------------------------------------------------------------------------------------------

    def closing(self, state: RoundState, reason: Reason | None = None, detail: str = "") -> list[Keyed]:
        """Ends the round at once in memory, and says what is to be written of it. The first end stands.

        Posts that nobody will answer any more are cancelled with it, and turns that still run.
        """
        self.is_open, self.is_over = False, True
        record = self.round
        record.state, record.reason, record.detail = state, reason, detail
        events, self.opening = self.opening, []
        events += self.cells.values()
        self.cells.clear()
        for actor in self.actors.values():
            events += self._dismiss(actor, reason)
        for join in {id(branch.join): branch.join for branch in self.branches.values()}.values():
            # Answers that are in wait for the others, in no mailbox.
            events += self._cancelled(*(post for post in join.answers.values() if post is not None))
        events.append((RoundClosed(record.id, state, reason, detail), f"{record.id}/closed"))
        # A Post that was landing when it happened is met twice.
        return list({key: (event, key) for event, key in events}.values())

    def _dismiss(self, actor: Actor, reason: Reason | None) -> list[Keyed]:
        name, round_id = actor.name, self.round.id
        events = self._cancelled(*actor.sending)
        actor.sending = ()
        left = [actor.envelope] if actor.envelope is not None else []
        left += actor.mailbox.close()
        for envelope in left:
            events += self._cancelled(*envelope.posts)
        scope = actor.scope
        if scope is not None:
            answered = tuple(post.id for post in scope.envelope.posts)
            outcome: Outcome = "timeout" if reason == "timeout" else "cancelled"
            event = TurnFinished(round_id, name, answered, scope.started_at, outcome)
            events.append((event, scope.turn_id))
            actor.scope = None
        return events

    def _cancelled(self, *posts: Post) -> list[Keyed]:
        round_id = self.round.id
        return [
            (PostCancelled(round_id, post.id, post.send_to), f"{round_id}/{post.id}/{post.send_to}/cancelled")
            for post in posts
            if post.send_to != USER
        ]

    async def close(self, state: RoundState, reason: Reason | None = None, detail: str = "") -> None:
        """Ends the round from outside its task: at once, whatever its roles do. Closing again changes nothing."""
        if not self.is_open:
            return
        events = self.closing(state, reason, detail)
        task = self.task
        if task is None or task.done():
            self.ended = True
        else:
            self.stop()
        await self.write_end(events)

    async def write_end(self, events: Sequence[Keyed]) -> None:
        """Writes the end down. Where the store can not, the session is read anew before it goes on."""
        try:
            await self.session.journal.append(events)
        except StoreError as error:
            self.failure = self.failure or error
        finally:
            self.written = True
            self._settle()

    def stop(self) -> None:
        """Cancels the turns that still run. What does not heed it is waited for during the grace, then abandoned."""
        if self.task is not None:
            self.task.cancel()
            self.task.get_loop().call_later(self.limits.grace_s, self.end)

    def end(self) -> None:
        """Says that its task is over, or is waited for no longer."""
        self.ended = True
        self._settle()

    def let_go(self) -> None:
        """Lets go of its actors, once its task is done: they know the round, and only the collector would part them."""
        self.actors.clear()
        self.woken.clear()
        self.task = None

    def renew(self) -> None:
        """Lets its end be awaited once more: who awaited it was cancelled, and the future with it."""
        self.over = self.over.get_loop().create_future()
        self._settle()

    def _settle(self) -> None:
        if self.written and self.ended and not self.over.done():
            self.over.set_result(None)
