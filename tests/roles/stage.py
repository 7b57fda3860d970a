"""A stage: one role plays its turns on it, without a runtime. It keeps what the role says, records and shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from roles_runtime.kernels.kernel import Execution, Kernel
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.message import Message
from roles_runtime.llm.model import Model, Usage
from roles_runtime.memory.memory import Memory
from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.conversation import Conversation, Round
from roles_runtime.posts.draft import Draft, Emit
from roles_runtime.posts.event import DurableEvent, PassingEvent, StatusChanged
from roles_runtime.posts.post import USER, Post, RoleName
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Member, Turn, TurnUsage, onion
from roles_runtime.tools.tasks.board import TaskBoard
from roles_runtime.tools.tasks.memory import MemoryFiles
from roles_runtime.tools.tasks.words import Language
from roles_runtime.tools.tool import Tool


class Stage:
    """What stands behind the turns of one role.

    Attributes:
        conversation: All rounds; the last is under way.
        shown: Passing events, in order.
        recorded: Durable events of the turns, in order.
    """

    def __init__(
        self,
        role: Role,
        *others: Role,
        leader: RoleName | None = None,
        conversation: Conversation | None = None,
        kernel: Kernel | None = None,
        max_corrections: int = 3,
        language: Language = "en",
    ) -> None:
        self.role, self.kernel, self.language = role, kernel, language
        everyone = sorted((role, *others), key=lambda each: each.name != (leader or role.name))
        self.roster = tuple(Member(each.name, each.introduction(language)) for each in everyone)
        self.leader = self.roster[0].name
        self.conversation = conversation or Conversation.create()
        self.max_corrections, self.corrections = max_corrections, 0
        self.board = TaskBoard(MemoryFiles())
        self.shown: list[PassingEvent] = []
        self.recorded: list[DurableEvent] = []
        self._begin("")

    def _begin(self, turn_id: str) -> None:
        self.turn_id = turn_id
        self.draft = Draft(self._round.id if self.conversation.rounds else "", self.role.name, self.emit)

    @property
    def _round(self) -> Round:
        return self.conversation.rounds[-1]

    def opens(self, query: str) -> None:
        """The user asks: a new round."""
        self.conversation.add_round(Round.create(query))
        self.corrections = 0

    async def asks(self, message: str, sender: RoleName = USER, *, tools: Sequence[Tool] = ()) -> Post:
        """Says something to the role, in a new round if it is the user who does, and gives its answer."""
        if sender == USER:
            self.opens(message)
        return await self.plays(Post.create(message, sender, self.role.name), tools=tools)

    async def plays(self, *posts: Post, tools: Sequence[Tool] = ()) -> Post:
        """One turn: the role answers these Posts."""
        for post in posts:
            if post not in self._round.post_list:
                self._round.add_post(post)
        others = [each.send_from for each in self._round.post_list if each.send_from != self.role.name]
        self._begin(f"{self._round.id}/{posts[-1].id}/{self.role.name}")
        turn = Turn(
            posts,
            others[-1],
            self.role.name,
            "session",
            self._round.id,
            self,
            (*self.role.tools, *tools),
            self.role.model if isinstance(self.role.model, Model) else None,
            self.kernel,
        )
        answer = await onion(self.role.middleware, self.role.reply)(turn)
        assert isinstance(answer, Post)
        self._round.add_post(answer)
        if answer.send_to == self.role.name and answer.get_attachment(AttachmentType.revise_message):
            self.corrections += 1
        return answer

    async def settles(self, message: str, sender: RoleName = USER) -> Post:
        """Says something to the role, and lets it correct itself until it answers somebody else."""
        answer = await self.asks(message, sender)
        while answer.send_to == self.role.name:
            answer = await self.plays(answer)
        return answer

    @property
    def statuses(self) -> list[str]:
        """What the role said that it was busy with."""
        return [event.status for event in self.shown if isinstance(event, StatusChanged)]

    @property
    def memory(self) -> Memory:
        """All that stands in the conversation."""
        return Memory(self.conversation)

    @property
    def workspace(self) -> Workspace:
        """No role here touches files."""
        return Workspace(Path("nowhere"))

    @property
    def tasks(self) -> TaskBoard:
        """A board in memory."""
        return self.board

    @property
    def usage(self) -> TurnUsage:
        """Nothing is counted here."""
        return TurnUsage(Usage(), Usage(), Usage())

    @property
    def emit(self) -> Emit:
        """Keeps what is shown."""
        return self.shown.append

    async def record(self, event: DurableEvent) -> None:
        """Keeps what is journalled."""
        self.recorded.append(event)

    async def approve(self, question: str) -> bool:
        """Nobody is there to say yes."""
        return False


class Bench:
    """A kernel that gives prepared executions, or raises prepared errors, and keeps the code it was given."""

    def __init__(self, *results: Execution | Exception) -> None:
        self._results = list(results)
        self.ran: list[str] = []

    async def execute(self, code: str, *, timeout_s: float = 120.0, traceparent: str = "") -> Execution:
        """The next result."""
        self.ran.append(code)
        result = self._results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    async def aclose(self) -> None:
        """Nothing runs."""


def contents(messages: Sequence[Message]) -> list[str]:
    """The texts of messages."""
    return [message.content for message in messages]


def attached(post: Post, kind: AttachmentType) -> str:
    """The content of the only attachment of that type."""
    (attachment,) = post.get_attachment(kind)
    return attachment.content
