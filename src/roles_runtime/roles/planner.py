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
from roles_runtime.roles.correction import AGAIN, recipient
from roles_runtime.roles.recalling import Recalled
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.thinking import Thought
from roles_runtime.roles.turn import Middleware, Turn
from roles_runtime.tools.source import Handed

IN_PROCESS = "InProcess"
STOPS = (IN_PROCESS, "Completed", "Clarification", "AdditionalInformation", "SecurityRisks", "TaskFailure")
"""What ``stop`` may say; all but the first are reasons to write to User."""

_ASKED = ("plan_reasoning", "init_plan", "plan", "current_plan_step", "stop", "send_to", "message")
_NEEDED = ("send_to", "message", "init_plan", "plan", "current_plan_step")
_DESCRIPTIONS = {
    "plan_reasoning": "Why this plan, and what the last result means for it.",
    "init_plan": "All steps, numbered, with their dependencies.",
    "plan": "The steps to follow, numbered.",
    "current_plan_step": "The step that this message carries out.",
    "stop": "Whether the work is done, and if it is not, why it stops.",
    "send_to": "Who gets the message.",
    "message": "What is said to them.",
}


class Planner(ModelRole):
    """The leader of a team, which plans."""

    def __init__(
        self,
        name: RoleName = "Planner",
        *,
        intro: str = "Plans, and hands out the steps of the plan.",
        instructions: str = "",
        model: Model | str | Sequence[Model | str] | None = None,
        tools: Sequence[Handed] = (),
        middleware: Sequence[Middleware] = (),
        examples: Sequence[Conversation] = (),
    ) -> None:
        """Makes one.

        Args:
            name: Its address.
            intro: What the others are told about it.
            instructions: What its model is told, beside its prompt.
            model: A Model or ``provider:model``, or several: each is asked where those before it can not answer.
            tools: What its model may always call.
            middleware: Round its turns, inside the team's.
            examples: Conversations that stand before the real one in its prompt.
        """
        super().__init__(name, intro=intro, instructions=instructions, model=model, tools=tools, middleware=middleware)
        self.examples = tuple(examples)

    def schema(self, turn: Turn) -> JsonObject:
        """The JSON Schema of its answers; ``send_to`` is one of the team, or User."""
        properties: JsonObject = {key: {"type": "string", "description": _DESCRIPTIONS[key]} for key in _ASKED}
        choices = {"stop": STOPS, "send_to": prompt.recipients(turn.roster, self.name)}
        for key, names in choices.items():
            properties[key] = {"type": "string", "enum": [*names], "description": _DESCRIPTIONS[key]}
        return prompt.response_schema("Planner", properties, _ASKED)

    def compose(self, turn: Turn, now: datetime, recalled: Recalled) -> tuple[Message, ...]:
        """The prompt: instructions, examples, conversation."""
        text = prompt.fill(
            prompt.template("planner"),
            **self.common_values(turn, now),
            team=prompt.roster_text(turn.roster, self.name),
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
        require(turn.draft, _NEEDED)
        post = turn.draft.post
        post.send_to = recipient(turn, post.send_to)
        if post.send_to == USER and _stop(post) == IN_PROCESS.casefold():
            others = ", ".join(prompt.recipients(turn.roster, self.name)[:-1])
            raise InvalidResponseError(
                f"stop is {IN_PROCESS}, but the message is for {USER}, which ends the work. "
                + (f"Send it to the one who acts next ({others}), or say" if others else "Say")
                + f" with stop why it ends: {', '.join(STOPS[1:])}. {AGAIN}."
            )
        share_plan(post)
        return post


def _stop(post: Post) -> str:
    text = "".join(each.content for each in post.get_attachment(AttachmentType.stop))
    return text.strip().casefold().replace(" ", "").replace("_", "").replace("-", "")


def share_plan(post: Post) -> None:
    """Shows the plan that a Post carries to the whole team, in place of what the Post showed before."""
    plan = post.get_attachment(AttachmentType.plan)[-1].content.strip()
    step = post.get_attachment(AttachmentType.current_plan_step)[-1].content.strip()
    text = f"{post.send_from} follows this plan:\nPLAN:\n{plan}\nThe current step is: {step}"
    entry = SharedMemoryEntry.create("plan", "round", text)
    post.attachment_list = [each for each in post.attachment_list if not _is_plan(each)]
    post.add_attachment(Attachment.create(AttachmentType.shared_memory_entry, text, extra=entry))


def _is_plan(attachment: Attachment) -> bool:
    return isinstance(attachment.extra, SharedMemoryEntry) and attachment.extra.type == "plan"
