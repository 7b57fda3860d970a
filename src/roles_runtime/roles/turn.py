"""The Turn: one role answering one Post; and Middleware, the one hook round it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from roles_runtime.kernels.kernel import Kernel
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.model import Model, Usage
from roles_runtime.memory.memory import Memory
from roles_runtime.posts.draft import Draft, Emit
from roles_runtime.posts.event import DurableEvent
from roles_runtime.posts.post import Post, RoleName
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.words import Language
from roles_runtime.tools.tool import Tool


class TurnUsage(msgspec.Struct, frozen=True):
    """Calls and tokens so far: of this turn, its round, its session."""

    turn: Usage
    round: Usage
    session: Usage


class Member(msgspec.Struct, frozen=True):
    """A role as the others know it: its name and its intro."""

    name: RoleName
    intro: str


class Scope(Protocol):
    """What the runtime fills in behind a Turn, made when it is asked for."""

    @property
    def drafted(self) -> Draft | None:
        """The growing answer, if it was asked for already."""
        ...

    @property
    def memory(self) -> Memory:
        """The snapshot at the turn's start."""
        ...

    @property
    def draft(self) -> Draft:
        """The growing answer."""
        ...

    @property
    def workspace(self) -> Workspace:
        """The session's files."""
        ...

    @property
    def tasks(self) -> TaskBoard:
        """The session's board of tasks."""
        ...

    @property
    def usage(self) -> TurnUsage:
        """Calls and tokens so far."""
        ...

    @property
    def roster(self) -> tuple[Member, ...]:
        """All roles, the leader first."""
        ...

    @property
    def leader(self) -> RoleName:
        """Who closes the round."""
        ...

    @property
    def language(self) -> Language:
        """What models are told in."""
        ...

    @property
    def corrections(self) -> int:
        """Self-corrections made so far."""
        ...

    @property
    def max_corrections(self) -> int:
        """Self-corrections allowed."""
        ...

    @property
    def turn_id(self) -> str:
        """The turn's event key."""
        ...

    @property
    def emit(self) -> Emit:
        """Hands a passing event on."""
        ...

    async def record(self, event: DurableEvent) -> None:
        """Writes an event of this turn into the journal."""
        ...

    async def approve(self, question: str) -> bool:
        """Asks the user."""
        ...


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One role answering one Post. Frozen: derive another one to change something.

    Attributes:
        posts: What is answered: one Post; several, in sending order, where the branches of a fan-out are joined.
        requester: Who gets the answer by default: the sender of the last Post of this round that came to this role
            from another.
        role: The name of the role whose turn it is.
        session_id, round_id: Where it belongs.
        tools: What the role's model may call.
        model: The role's model, or None. To retry, cache or approve, replace it by one that wraps it.
        kernel: The session's kernel, or None where the team has none.
        reminders: What stands at the end of the model's prompt, each as a message of nobody's.
        scope: Behind `memory`, `draft` and the rest; the runtime's.
        remembered: What stands in place of the scope's memory, or None.
    """

    posts: tuple[Post, ...]
    requester: RoleName
    role: RoleName
    session_id: str
    round_id: str
    scope: Scope
    tools: tuple[Tool, ...] = ()
    model: Model | None = None
    kernel: Kernel | None = None
    reminders: tuple[str, ...] = ()
    remembered: Memory | None = None

    @property
    def post(self) -> Post:
        """What is answered; the last one where there are several."""
        return self.posts[-1]

    @property
    def memory(self) -> Memory:
        """What this role may see: an immutable, lazy snapshot at the turn's start."""
        return self.scope.memory if self.remembered is None else self.remembered

    @property
    def draft(self) -> Draft:
        """The growing answer; what is put into it streams out as events."""
        return self.scope.draft

    @property
    def workspace(self) -> Workspace:
        """The session's files."""
        return self.scope.workspace

    @property
    def tasks(self) -> TaskBoard:
        """The session's board of tasks, shared by its roles."""
        return self.scope.tasks

    @property
    def usage(self) -> TurnUsage:
        """Calls and tokens of turn, round and session."""
        return self.scope.usage

    @property
    def roster(self) -> tuple[Member, ...]:
        """All roles of the team, the leader first."""
        return self.scope.roster

    @property
    def leader(self) -> RoleName:
        """Whose Post to User closes the round."""
        return self.scope.leader

    @property
    def language(self) -> Language:
        """The team's: what models are told in."""
        return self.scope.language

    @property
    def corrections(self) -> int:
        """How many self-corrections this role has made in this round."""
        return self.scope.corrections

    @property
    def max_corrections(self) -> int:
        """How many it may make."""
        return self.scope.max_corrections

    @property
    def turn_id(self) -> str:
        """The turn's event key: ``{round}/{answered post}/{role}``."""
        return self.scope.turn_id

    @property
    def emit(self) -> Emit:
        """Hands a passing event to whoever listens."""
        return self.scope.emit

    async def record(self, event: DurableEvent) -> None:
        """Writes an event of this turn (a model's reply, a tool's result) into the journal.

        Raises:
            RoleError: no journal can hold it; nothing was written.
            StoreError: it could not be written.
        """
        await self.scope.record(event)

    async def approve(self, question: str) -> bool:
        """Asks the user for a yes or no, with the clocks stopped; without anyone to ask it is no.

        Raises:
            RoleError, StoreError: as `record`.
        """
        return await self.scope.approve(question)

    def with_tools(self, *tools: Tool) -> Turn:
        """This turn, with more tools at its end.

        Raises:
            ToolDefinitionError: a tool of that name is there already.
        """
        whole = self.tools + tools
        if len({tool.spec.name for tool in whole}) < len(whole):
            names = {tool.name for tool in self.tools}
            for tool in tools:
                tool.check_new(names)
                names.add(tool.name)
        return self.replace(tools=whole)

    def with_model(self, model: Model) -> Turn:
        """This turn, with another model."""
        return self.replace(model=model)

    def with_reminder(self, text: str) -> Turn:
        """This turn, with one more text at the end of its model's prompt; it is told in this turn alone."""
        return self.replace(reminders=(*self.reminders, text))

    def with_kernel(self, kernel: Kernel) -> Turn:
        """This turn, with another kernel."""
        return self.replace(kernel=kernel)

    def with_memory(self, memory: Memory) -> Turn:
        """This turn, with another view of the conversation."""
        return self.replace(memory=memory)

    def replace(
        self,
        *,
        tools: tuple[Tool, ...] | None = None,
        model: Model | None = None,
        kernel: Kernel | None = None,
        reminders: tuple[str, ...] | None = None,
        memory: Memory | None = None,
    ) -> Turn:
        """This turn, with what is given in place of what it had."""
        return Turn(
            self.posts,
            self.requester,
            self.role,
            self.session_id,
            self.round_id,
            self.scope,
            self.tools if tools is None else tools,
            self.model if model is None else model,
            self.kernel if kernel is None else kernel,
            self.reminders if reminders is None else reminders,
            self.remembered if memory is None else memory,
        )

    def answer(self, message: str, send_to: RoleName | None = None) -> Post:
        """A new Post from this role, to the requester unless another is named."""
        return Post.create(message, self.role, self.requester if send_to is None else send_to)


Answer: TypeAlias = Post | Sequence[Post]
Respond: TypeAlias = Callable[[Turn], Coroutine[object, None, Answer]]


class Middleware(Protocol):
    """One hook, an onion round the turn. It keeps no state of its own; the first registered is outermost."""

    async def __call__(self, turn: Turn, respond: Respond) -> Answer:
        """Answers, as a rule by ``return await respond(turn)`` with the turn changed, or the answer.

        ``respond`` begins with an empty draft; calling it a second time withdraws what grew before.
        """
        ...


@runtime_checkable
class GivesTools(Protocol):
    """A middleware that says which tools it will give, so that a name that is taken is told before the first turn.

    Attributes:
        gives: Their names.
    """

    gives: Sequence[str]


@runtime_checkable
class WatchesTools(Protocol):
    """A middleware that has to see some tools; one that is given after it would go by unseen."""

    def watches(self, name: str) -> bool:
        """Whether it has to see the tool of that name."""
        ...


def onion(middleware: Sequence[Middleware], respond: Respond) -> Respond:
    """Puts the middleware round ``respond``, the first outermost; done once a role, not once a turn."""
    for layer in reversed(middleware):
        respond = _wrapped(layer, respond)
    return respond


def _wrapped(layer: Middleware, respond: Respond) -> Respond:
    return lambda turn: layer(turn, respond)
