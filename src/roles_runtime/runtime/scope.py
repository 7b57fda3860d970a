"""What stands behind one turn. Everything in it is made when it is first asked for."""

from __future__ import annotations

import asyncio

import msgspec

from roles_runtime.errors import RoleError
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.model import Usage
from roles_runtime.mail.envelope import Envelope
from roles_runtime.memory.memory import Horizon, Memory
from roles_runtime.posts.draft import Draft, Emit
from roles_runtime.posts.event import (
    ApprovalAsked,
    ApprovalGiven,
    DurableEvent,
    ModelReplied,
    PassingEvent,
    ToolReturned,
)
from roles_runtime.posts.post import RoleName
from roles_runtime.roles.turn import Answer, Member, TurnUsage
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.actor import Actor
from roles_runtime.runtime.approvals import Pauses
from roles_runtime.runtime.restore import usage_of
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.words import Language


class TurnScope(msgspec.Struct):
    """Fulfils `roles.turn.Scope` for the turn of one actor.

    Attributes:
        active, actor: Whose turn it is.
        envelope: What is answered.
        posts_seen: How many Posts the round had when it began.
        started_at: When it began, in ns.
        drafted, remembered: The draft and the memory, if they were asked for.
        spent: Calls and tokens.
        recorded: How many events it wrote.
        named: Its event key, once it was asked for.
        pauses: Its waits for the user, or None where there were none.
        answer: What the role answered, as it did, for a coat to see.
    """

    active: ActiveRound
    actor: Actor
    envelope: Envelope
    posts_seen: int
    started_at: int
    drafted: Draft | None = None
    remembered: Memory | None = None
    spent: Usage = Usage()
    recorded: int = 0
    named: str = ""
    pauses: Pauses | None = None
    answer: Answer | None = None

    @property
    def memory(self) -> Memory:
        """The snapshot at the turn's start."""
        if self.remembered is None:
            conversation = self.active.session.conversation
            horizon = Horizon(len(conversation.rounds), self.posts_seen, self.envelope.position, self._hidden())
            self.remembered = Memory(conversation, horizon, self.active.session.traces)
        return self.remembered

    def _hidden(self) -> tuple[str, ...]:
        """Ids of Posts for this role that are queued, or about to be."""
        name, answered = self.actor.name, self.envelope.posts
        waiting = [post.id for each in self.actor.mailbox.waiting() for post in each.posts]
        for other in self.active.actors.values():
            waiting += [post.id for post in other.sending if post.send_to == name and post not in answered]
        return tuple(waiting)

    @property
    def draft(self) -> Draft:
        """The growing answer."""
        if self.drafted is None:
            self.drafted = Draft(self.active.round.id, self.actor.name, self.emit)
        return self.drafted

    def settle(self, answer: object) -> None:
        """The returned Post wins: what had grown is void if it is another."""
        if self.drafted is not None and self.drafted.post is not answer:
            self.drafted.withdraw()

    def withdraw(self) -> None:
        """What had grown is void."""
        if self.drafted is not None:
            self.drafted.withdraw()

    @property
    def workspace(self) -> Workspace:
        """The session's files."""
        return self.active.session.workspace

    @property
    def tasks(self) -> TaskBoard:
        """The session's board of tasks."""
        return self.active.session.tasks

    @property
    def usage(self) -> TurnUsage:
        """Calls and tokens so far."""
        return TurnUsage(self.spent, self.active.usage, self.active.session.usage)

    @property
    def roster(self) -> tuple[Member, ...]:
        """All roles, the leader first."""
        return self.active.team.members

    @property
    def leader(self) -> RoleName:
        """Who closes the round."""
        return self.active.team.leader.name

    @property
    def language(self) -> Language:
        """What models are told in."""
        return self.active.team.language

    @property
    def corrections(self) -> int:
        """Self-corrections made so far."""
        return self.actor.corrections

    @property
    def max_corrections(self) -> int:
        """Self-corrections allowed."""
        return self.active.limits.max_self_corrections

    @property
    def turn_id(self) -> str:
        """The turn's event key."""
        if not self.named:
            self.named = f"{self.active.round.id}/{self.envelope.posts[-1].id}/{self.actor.name}"
        return self.named

    @property
    def emit(self) -> Emit:
        """Hands a passing event on."""
        return self._tell

    def _tell(self, event: PassingEvent) -> None:
        # What a role still says after its turn is over is for nobody.
        if self.actor.scope is self and self.active.is_open:
            self.active.session.listeners.tell(event)

    async def record(self, event: DurableEvent) -> None:
        """Writes an event of this turn into the journal, unless the turn is over.

        Raises:
            RoleError: no journal can hold it; nothing was written.
            StoreError: it could not be written.
        """
        active = self.active
        if self.actor.scope is not self or not active.is_open:
            return
        session = active.session
        try:
            msgspec.json.encode(event)
        except (TypeError, ValueError, RecursionError) as error:
            problem = f"it recorded a {type(event).__name__} that no journal can hold: {error}"
            raise RoleError(self.actor.name, problem) from error
        if isinstance(event, ModelReplied):
            cost = usage_of(event)
            self.spent += cost
            active.usage += cost
            session.usage += cost
            session.keep_trace(event)
        elif isinstance(event, ToolReturned):
            session.keep_trace(event)
        self.recorded += 1
        await session.journal.write(event, f"{self.turn_id}/{type(event).__name__}-{self.recorded}")

    async def approve(self, question: str) -> bool:
        """Asks the user, with the clocks of turn and round stopped.

        It is no where nobody is there, or the turn is over.

        Raises:
            RoleError, StoreError: as `record`.
        """
        active = self.active
        if self.actor.scope is not self or not active.is_open:
            return False
        approval_id = f"{self.turn_id}/approval-{self.recorded + 1}"
        asked = ApprovalAsked(active.round.id, self.actor.name, approval_id, question)
        self.pauses, active.pauses = self.pauses or Pauses(), active.pauses or Pauses()
        stopped, clock = (self.pauses, active.pauses), asyncio.get_running_loop().time
        # Open before anybody hears of it: a listener may answer at once.
        with active.session.desk.opened(asked) as answer:
            for each in stopped:
                each.begin(clock())
            try:
                await self.record(asked)
                verdict = await answer
            finally:
                for each in stopped:
                    each.end(clock())
        await self.record(ApprovalGiven(active.round.id, approval_id, verdict.approved, verdict.comment))
        return verdict.approved
