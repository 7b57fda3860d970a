"""The CodeInterpreter: has its model write Python for a task, checks it, runs it, and mends it until it works."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from roles_runtime.errors import InvalidResponseError, KernelLostError, KernelUnavailableError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.verification import Rules, verify
from roles_runtime.llm.message import Message
from roles_runtime.llm.model import Model
from roles_runtime.llm.parts import JsonObject
from roles_runtime.posts.attachment import Attachment, AttachmentType, Json
from roles_runtime.posts.conversation import Conversation
from roles_runtime.posts.draft import Draft
from roles_runtime.posts.post import Post, RoleName
from roles_runtime.posts.translator import PostTranslator, require
from roles_runtime.roles import coding_prompt, prompt
from roles_runtime.roles.correction import correction, exhausted, may_correct
from roles_runtime.roles.languages import words
from roles_runtime.roles.outcome import Outcome, fenced, joined, last_line, outcome_of, part, unfenced
from roles_runtime.roles.recalling import Recalled
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.thinking import Thought
from roles_runtime.roles.turn import Middleware, Turn
from roles_runtime.roles.words import RoleWords
from roles_runtime.roles.words_en import ENGLISH
from roles_runtime.tools.source import Handed
from roles_runtime.tools.tasks.words import Language

_FIELDS = ("thought", "reply_type", "reply_content")
_KINDS = ("python", "text")

Verification: TypeAlias = Literal["NONE", "CORRECT", "INCORRECT"]


class _Run(msgspec.Struct, frozen=True):
    """What came of a piece of code, as attachments tell it."""

    verification: Verification
    status: Literal["NONE", "SUCCESS", "FAILURE"]
    faults: str = ""
    outcome: Outcome = Outcome("")
    paths: tuple[str, ...] = ()
    problem: str = ""


class CodeInterpreter(ModelRole):
    """Does tasks by code in the session's kernel."""

    needs_kernel = True

    def __init__(
        self,
        name: RoleName = "CodeInterpreter",
        *,
        intro: str = ENGLISH.coder_intro,
        instructions: str = "",
        model: Model | str | Sequence[Model | str] | None = None,
        tools: Sequence[Handed] = (),
        middleware: Sequence[Middleware] = (),
        examples: Sequence[Conversation] = (),
        rules: Rules | None = None,
        max_retry_count: int = 3,
    ) -> None:
        """Makes one.

        Args:
            name: Its address.
            intro: What the leader is told about it; its own one is told in the team's language.
            instructions: What its model is told, beside its prompt.
            model: A Model or ``provider:model``, or several: each is asked where those before it can not answer.
            tools: What its model may always call.
            middleware: Round its turns, inside the team's.
            examples: Conversations that stand before the real one in its prompt.
            rules: What its code may do, checked before it runs; None checks nothing. It is advice to the model: the
                wall is the sandbox.
            max_retry_count: Self-corrections in a round, within what the team allows.
        """
        super().__init__(name, intro=intro, instructions=instructions, model=model, tools=tools, middleware=middleware)
        self.examples, self.rules, self.max_retry_count = tuple(examples), rules, max_retry_count

    def introduction(self, language: Language) -> str:
        """Its intro; its own one is there in each language."""
        return words(language).coder_intro if self.intro == ENGLISH.coder_intro else self.intro

    def schema(self, turn: Turn) -> JsonObject:
        """The JSON Schema of its answers."""
        described = words(turn.language).coder
        properties: JsonObject = {key: {"type": "string", "description": described[key]} for key in _FIELDS}
        properties["reply_type"] = {"type": "string", "enum": [*_KINDS], "description": described["reply_type"]}
        return prompt.response_schema("CodeInterpreter", properties, _FIELDS)

    def compose(self, turn: Turn, now: datetime, recalled: Recalled) -> tuple[Message, ...]:
        """The prompt: instructions, examples, and the tasks with the code written for them."""
        told, language = words(turn.language), turn.language
        rules = "" if self.rules is None else "".join(f"- {line}\n" for line in self.rules.lines(told.rules))
        text = prompt.fill(prompt.template("code_interpreter", language), **self.common_values(turn, now), rules=rules)
        messages = coding_prompt.conversation(
            turn.memory.get_role_rounds(self.name),
            self.name,
            recalled,
            told,
            context=prompt.plans_text(turn.memory, told),
            requirements=prompt.template("code_requirements", language),
        )
        return (prompt.system(text, self.name), *coding_prompt.examples(self.examples, self.name, told), *messages)

    async def read(self, draft: Draft, text: AsyncGenerator[str, None]) -> None:
        """Takes the answer's JSON into the draft, and ends the call once there is all that is needed."""

        def early_stop(kind: str, value: str) -> bool:
            return kind == AttachmentType.reply_content and bool(value.strip()) and _kind(draft.post) in _KINDS

        await PostTranslator.raw_text_to_post(text, draft, early_stop)

    async def conclude(self, turn: Turn, thought: Thought) -> Post:
        """Answers in words, or runs the code and tells what came of it.

        Raises:
            InvalidResponseError: there is no whole code or text, or ``reply_type`` is unknown.
            KernelError: no kernel could be had; the round can not go on.
        """
        told = words(turn.language)
        require(turn.draft, ("reply_type", "reply_content"), words=told.faults)
        post = turn.draft.post
        post.send_to = turn.requester
        kind, content = _kind(post), _last(post, AttachmentType.reply_content)
        if kind == "text":
            _attach(turn.draft, (AttachmentType.verification, "NONE"), (AttachmentType.execution_status, "NONE"))
            turn.draft.grow_message(content, is_end=True)
            return turn.draft.post
        if kind != "python":
            raise InvalidResponseError(told.faulty(told.reply_type, given=kind[:40]))
        code = unfenced(content)
        return self._report(turn, code, await self._run(turn, code))

    def mend(self, turn: Turn, thought: Thought, problem: str) -> Post:
        """Answers with a self-correction; without one left a worker says that it failed.

        Raises:
            InvalidResponseError: none is left, and the role leads.
        """
        if may_correct(turn, self.max_retry_count):
            return correction(turn, thought.raw_text, problem)
        if turn.role == turn.leader:
            raise exhausted(turn, thought.raw_text, problem)
        post = turn.answer("Failed to generate code.")
        post.add_attachment(Attachment.create(AttachmentType.code_error, problem))
        return post

    async def _run(self, turn: Turn, code: str) -> _Run:
        if turn.kernel is None:
            raise KernelUnavailableError(
                f"Role {self.name} needs a kernel, and this team has none; give it kernels='local'."
            )
        told = words(turn.language)
        verification: Verification = "NONE"
        if self.rules is not None:
            turn.draft.status("verifying code")
            faults = verify(code, self.rules)
            if faults:
                listed = joined(map(str, faults))
                return _Run("INCORRECT", "NONE", listed, problem=told.rules_broken.format(rules=listed))
            verification = "CORRECT"
        turn.draft.status("executing code")
        try:
            execution = await turn.kernel.execute(code)
        except KernelLostError as error:
            lost = Outcome(f"The code was not run. {error}")
            problem = told.kernel_lost.format(error=error, from_scratch=told.from_scratch)
            return _Run(verification, "FAILURE", outcome=lost, problem=problem)
        paths = tuple(artifact.path for artifact in execution.artifacts)
        if execution.is_success:
            return _Run(verification, "SUCCESS", outcome=outcome_of(execution), paths=paths)
        return _Run(verification, "FAILURE", "", outcome_of(execution), paths, _what_failed(execution, told))

    def _report(self, turn: Turn, code: str, run: _Run) -> Post:
        outcome, draft = run.outcome, turn.draft
        again = bool(run.problem) and may_correct(turn, self.max_retry_count)
        if run.problem and not again and turn.role == turn.leader:
            raise InvalidResponseError(run.problem)
        _attach(
            draft,
            (AttachmentType.verification, run.verification),
            (AttachmentType.code_error, run.faults),
            (AttachmentType.execution_status, run.status),
        )
        extra: Json = None if outcome.summary == outcome.text else {coding_prompt.SUMMARY: outcome.summary}
        draft.grow_attachment(AttachmentType.execution_result, outcome.text, is_end=True, extra=extra)
        _attach(draft, (AttachmentType.artifact_paths, "\n".join(run.paths)))
        if again:
            draft.address(self.name)
            _attach(draft, (AttachmentType.revise_message, run.problem))
        said = outcome.marked or f"The code was not run. Its check found:\n{run.faults}"
        draft.grow_message(f"The following code was written:\n{part(fenced(code))}\n{said}", is_end=True)
        return draft.post


def _attach(draft: Draft, *values: tuple[AttachmentType, str]) -> None:
    for kind, content in values:
        draft.grow_attachment(kind, content, is_end=True)


def _kind(post: Post) -> str:
    return _last(post, AttachmentType.reply_type).strip().casefold()


def _last(post: Post, kind: AttachmentType) -> str:
    found = post.get_attachment(kind)
    return found[-1].content if found else ""


def _what_failed(execution: Execution, told: RoleWords) -> str:
    match execution.outcome:
        case "lost":
            return told.kernel_ended.format(from_scratch=told.from_scratch)
        case "timeout":
            return told.too_slow
    error = last_line(execution.error or "") or told.no_reason
    return told.code_failed.format(error=error[:500])
