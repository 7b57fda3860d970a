"""The Planner leads a team: it splits the user's request, hands the steps out, and tells the user what came of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime

from roles_runtime.errors import InvalidResponseError
from roles_runtime.llm.message import Message
from roles_runtime.llm.model import Model
from roles_runtime.llm.parts import JsonObject
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import Conversation
from roles_runtime.posts.draft import Draft
from roles_runtime.posts.post import USER, Post, RoleName
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.posts.translator import PostTranslator, require
from roles_runtime.roles import prompt
from roles_runtime.roles.correction import recipient
from roles_runtime.roles.languages import words
from roles_runtime.roles.recalling import Recalled
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.thinking import Thought
from roles_runtime.roles.turn import Middleware, Turn
from roles_runtime.roles.words_en import ENGLISH
from roles_runtime.tools.source import Handed
from roles_runtime.tools.tasks.words import Language

IN_PROCESS = "InProcess"
STOPS = (IN_PROCESS, "Completed", "Clarification", "AdditionalInformation", "SecurityRisks", "TaskFailure")
"""What ``stop`` may say; all but the first are reasons to write to User."""

_ASKED = ("plan_reasoning", "init_plan", "plan", "current_plan_step", "stop", "send_to", "message")
_NEEDED = ("send_to", "message", "init_plan", "plan", "current_plan_step")


class Planner(ModelRole):
    """The leader of a team, which plans."""

    def __init__(
        self,
        name: RoleName = "Planner",
        *,
        intro: str = ENGLISH.planner_intro,
        instructions: str = "",
        model: Model | str | Sequence[Model | str] | None = None,
        tools: Sequence[Handed] = (),
        middleware: Sequence[Middleware] = (),
        examples: Sequence[Conversation] = (),
    ) -> None:
        """Makes one.

        Args:
            name: Its address.
            intro: What the others are told about it; its own one is told in the team's language.
            instructions: What its model is told, beside its prompt.
            model: A Model or ``provider:model``, or several: each is asked where those before it can not answer.
            tools: What its model may always call.
            middleware: Round its turns, inside the team's.
            examples: Conversations that stand before the real one in its prompt.
        """
        super().__init__(name, intro=intro, instructions=instructions, model=model, tools=tools, middleware=middleware)
        self.examples = tuple(examples)

    def introduction(self, language: Language) -> str:
        """Its intro; its own one is there in each language."""
        return words(language).planner_intro if self.intro == ENGLISH.planner_intro else self.intro

    def schema(self, turn: Turn) -> JsonObject:
        """The JSON Schema of its answers; ``send_to`` is one of the team, or User."""
        described = words(turn.language).planner
        properties: JsonObject = {key: {"type": "string", "description": described[key]} for key in _ASKED}
        choices = {"stop": STOPS, "send_to": prompt.recipients(turn.roster, self.name)}
        for key, names in choices.items():
            properties[key] = {"type": "string", "enum": [*names], "description": described[key]}
        return prompt.response_schema("Planner", properties, _ASKED)

    def compose(self, turn: Turn, now: datetime, recalled: Recalled) -> tuple[Message, ...]:
        """The prompt: instructions, examples, conversation."""
        text = prompt.fill(
            prompt.template("planner", turn.language),
            **self.common_values(turn, now),
            team=prompt.roster_text(turn.roster, self.name, words(turn.language)),
        )
        return (
            prompt.system(text, self.name),
            *prompt.examples(self.examples, self.name),
            *prompt.conversation(turn.memory.get_role_rounds(self.name), self.name, self.name, recalled),
        )

    async def read(self, draft: Draft, text: AsyncGenerator[str, None]) -> None:
        """Takes the answer's JSON into the draft while it comes."""
        await PostTranslator.raw_text_to_post(text, draft)

    async def conclude(self, turn: Turn, thought: Thought) -> Post:
        """Checks the answer, and shares its plan with the team.

        Raises:
            InvalidResponseError: something is missing, the recipient is nobody it can write to, or ``stop`` says that
                the work goes on while the Post would end it.
        """
        told = words(turn.language)
        require(turn.draft, _NEEDED, words=told.faults)
        post = turn.draft.post
        post.send_to = recipient(turn, post.send_to)
        if post.send_to == USER and _stop(post) == IN_PROCESS.casefold():
            others = prompt.recipients(turn.roster, self.name)[:-1]
            problem = told.unfinished if others else told.unfinished_alone
            raise InvalidResponseError(told.faulty(problem, others=", ".join(others), stops=", ".join(STOPS[1:])))
        share_plan(post, turn.language)
        return post


def _stop(post: Post) -> str:
    text = "".join(each.content for each in post.get_attachment(AttachmentType.stop))
    return text.strip().casefold().replace(" ", "").replace("_", "").replace("-", "")


def share_plan(post: Post, language: Language) -> None:
    """Shows the plan that a Post carries to the whole team, in place of what the Post showed before."""
    plan = post.get_attachment(AttachmentType.plan)[-1].content.strip()
    step = post.get_attachment(AttachmentType.current_plan_step)[-1].content.strip()
    text = words(language).plan.format(name=post.send_from, plan=plan, step=step)
    entry = SharedMemoryEntry.create("plan", "round", text)
    post.attachment_list = [each for each in post.attachment_list if not _is_plan(each)]
    post.add_attachment(Attachment.create(AttachmentType.shared_memory_entry, text, extra=entry))


def _is_plan(attachment: Attachment) -> bool:
    return isinstance(attachment.extra, SharedMemoryEntry) and attachment.extra.type == "plan"
