"""The Role contract, and ModelRole: any role that thinks with a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from functools import partial

from roles_runtime.errors import InvalidResponseError
from roles_runtime.llm.marks import CONVERSATION_START
from roles_runtime.llm.message import Message
from roles_runtime.llm.model import Model
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.draft import Draft
from roles_runtime.posts.post import UNKNOWN, Post, RoleName
from roles_runtime.posts.translator import require
from roles_runtime.roles import prompt
from roles_runtime.roles.correction import correction, exhausted, may_correct, recipient
from roles_runtime.roles.languages import words
from roles_runtime.roles.reading import read_leniently
from roles_runtime.roles.recalling import Recalled, recall
from roles_runtime.roles.thinking import Thought, think
from roles_runtime.roles.turn import Answer, Middleware, Turn
from roles_runtime.tools.source import Handed
from roles_runtime.tools.tasks.words import Language


class Role(ABC):
    """Who answers. One object serves all sessions side by side and keeps no state of theirs.

    Attributes:
        name: Its address: what stands in ``send_to``.
        intro: What the leader is told about it.
        model: What it thinks with: a Model, its name as ``provider:model``, several of these to fall back on, or None.
            Its turns have one Model made of it, which asks again where that helps.
        tools: What its model may always call: tools, and sources of them, which the Runtime opens.
        middleware: Round its turns, inside the team's.
        needs_kernel: Whether its turns have the session's kernel.
    """

    name: RoleName
    intro: str = ""
    model: Model | str | Sequence[Model | str] | None = None
    tools: Sequence[Handed] = ()
    middleware: Sequence[Middleware] = ()
    needs_kernel: bool = False

    def introduction(self, language: Language) -> str:
        """What the others are told about it in a team of that language: its intro, unless it has several."""
        return self.intro

    @abstractmethod
    async def reply(self, turn: Turn) -> Answer:
        """Answers a Post: with one Post, or with several to distinct other roles.

        Raises:
            Exception: whatever it raises fails the round with a clear reason; the session goes on.
        """


class ModelRole(Role):
    """A role that thinks with a model: it composes a prompt of what it may see, asks, and reads a Post in the answer.

    A model that answers in plain text, and not in the JSON that its prompt asks for, answers whoever asked. A faulty
    answer becomes a self-send that carries it and what was wrong with it, as often as the team's limits allow.

    To make a kind of its own, override `schema`, `compose`, `read` or `conclude`.
    """

    def __init__(
        self,
        name: RoleName,
        *,
        intro: str = "",
        instructions: str = "",
        model: Model | str | Sequence[Model | str] | None = None,
        tools: Sequence[Handed] = (),
        middleware: Sequence[Middleware] = (),
    ) -> None:
        """Makes one.

        Args:
            name: Its address.
            intro: What the leader is told about it.
            instructions: What its model is told, beside what every role's is told.
            model: A Model or ``provider:model``, or several: each is asked where those before it can not answer.
            tools: What its model may always call.
            middleware: Round its turns, inside the team's.
        """
        self.name, self.intro, self.instructions = name, intro, instructions
        self.model, self.tools, self.middleware = model, tuple(tools), tuple(middleware)

    async def reply(self, turn: Turn) -> Post:
        """Asks the model, and answers with what it wrote.

        Raises:
            ModelMissingError: there is no model to ask.
            ModelError: the model could not answer.
            InvalidResponseError: its answers stayed faulty until no self-correction was left.
        """
        turn.draft.status("composing prompt")
        thought = await think(turn, await self._request(turn), partial(self.read, turn.draft))
        try:
            if thought.cut_off:
                told = words(turn.language)
                raise InvalidResponseError(told.faulty(told.cut_off))
            return await self.conclude(turn, thought)
        except InvalidResponseError as error:
            turn.draft.withdraw()
            return self.mend(turn, thought, error.problem)

    async def _request(self, turn: Turn) -> LLMRequest:
        recalled = await recall(turn)
        messages = (*self.compose(turn, datetime.now(UTC), recalled), *prompt.reminders(turn.reminders))
        return LLMRequest(messages, response_schema=self.schema(turn))

    def schema(self, turn: Turn) -> JsonObject:
        """The JSON Schema of its answers, titled by its name."""
        others = list(prompt.recipients(turn.roster, self.name))
        properties: JsonObject = {"send_to": {"type": "string", "enum": [*others]}, "message": {"type": "string"}}
        return prompt.response_schema(self.name, properties, ["message"])

    def compose(self, turn: Turn, now: datetime, recalled: Recalled) -> tuple[Message, ...]:
        """The prompt: the instructions, then what the role said and was told, thought and called."""
        text = prompt.fill(
            prompt.template("model_role", turn.language),
            **self.common_values(turn, now),
            intro=self.introduction(turn.language),
            team=prompt.roster_text(turn.roster, self.name, words(turn.language)),
        )
        rounds = turn.memory.get_role_rounds(self.name)
        return (prompt.system(text, self.name), *prompt.conversation(rounds, self.name, self.name, recalled))

    def common_values(self, turn: Turn, now: datetime) -> dict[str, str]:
        """What every role's template has a place for."""
        told = words(turn.language)
        return {
            "name": self.name,
            "instructions": f"\n{self.instructions.strip()}\n" if self.instructions.strip() else "",
            "schema": prompt.schema_text(self.schema(turn)),
            "files": prompt.files_text(turn.memory) + prompt.summary_text(turn.memory, told),
            "time": prompt.time_text(now, told),
            "conversation_start": CONVERSATION_START,
        }

    async def read(self, draft: Draft, text: AsyncGenerator[str, None]) -> None:
        """Takes the answer's text into the draft while it comes."""
        await read_leniently(draft, text)

    async def conclude(self, turn: Turn, thought: Thought) -> Post:
        """Makes the answer of the draft.

        Raises:
            InvalidResponseError: what the model wrote can not be acted upon; the text tells it why.
        """
        draft = turn.draft
        require(draft, ["message"], words=words(turn.language).faults)
        post = draft.post
        post.send_to = turn.requester if post.send_to.strip() in ("", UNKNOWN) else recipient(turn, post.send_to)
        return post

    def mend(self, turn: Turn, thought: Thought, problem: str) -> Post:
        """Answers with a self-correction.

        Raises:
            InvalidResponseError: none is left.
        """
        if not may_correct(turn):
            raise exhausted(turn, thought.raw_text, problem)
        return correction(turn, thought.raw_text, problem)
