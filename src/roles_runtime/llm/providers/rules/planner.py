"""The Planner's part: understands the question, hands it to the worker that runs code, words the result."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.providers.rules.board import Board, Handed, calls_to_begin, calls_to_end
from roles_runtime.llm.providers.rules.choice import Chosen, Unclear, choose
from roles_runtime.llm.providers.rules.instruction import Instruction
from roles_runtime.llm.providers.rules.lexicon import Language, language
from roles_runtime.llm.providers.rules.situation import Said, Situation, files_added, question_in
from roles_runtime.llm.providers.rules.tokens import keys
from roles_runtime.llm.providers.rules.wording import about_me, answer, refusal, say
from roles_runtime.posts.post import USER

Stop = Literal["InProcess", "Completed", "Clarification", "AdditionalInformation", "TaskFailure"]

_SUCCESS = re.compile(r"(?:\A|\n)The execution was successful\.\n(?:The result is:\n)?(.*)\Z", re.DOTALL)
_FILES = re.compile(r"\n?The following files were made:\n((?:- [^\n]*\n?)+)\s*\Z")
_FILE = re.compile(r"- type: [^;\n]*; uri: ([^\n]*?); size: ")
_ERROR = re.compile(r"(?:\A|\n)The error is:\n(.*)\Z", re.DOTALL)
_ASKS_WHO = frozenset(
    keys(phrase)
    for phrase in (
        "who are you", "what are you", "help", "help me", "what can you do", "hi", "hello", "hey", "are you an llm",
        "are you a llm", "what can i ask", "how do you work", "are you an ai", "are you chatgpt", "what model are you",
        "which model are you", "你是谁", "帮助", "你能做什么", "你好", "你会什么", "你是什么模型", "你是大语言模型吗",
        "能问什么", "你是什么",
    )
)  # fmt: skip


class PlannerReply(msgspec.Struct, frozen=True):
    """The keys of a Planner's answer, in their order."""

    plan_reasoning: str
    init_plan: str
    plan: str
    current_plan_step: str
    stop: Stop
    send_to: str
    message: str


def planner_reply(situation: Situation) -> PlannerReply:
    """What the Planner says next."""
    heard = next((each for each in reversed(situation.said) if not each.mine and each.by != situation.me), None)
    if heard is None:
        return _to_user(about_me("en"), "Clarification", "Nothing was asked.")
    if situation.said[-1].by == situation.me and not situation.said[-1].mine and situation.me:
        # the same rules would say the same thing again
        said_in = language(" ".join(situation.user_questions()[-1:]))
        reason = question_in(situation.said[-1].text)
        return _to_user(say("failed", said_in, reason=reason), "TaskFailure", "My answer was refused.")
    if heard.by in (USER, ""):
        return _asked(situation, heard)
    return _told(situation, heard)


def planner_calls(situation: Situation, board: Board, reply: PlannerReply) -> tuple[ToolCall, ...]:
    """What the Planner does on the team's board before it says that; nothing where all is done."""
    if reply.stop == "InProcess":
        handed = Instruction.from_text(reply.message)
        if handed is None:
            return ()
        step = Handed(reply.send_to, handed.file, "and draws it" in reply.plan, language(handed.question))
        return calls_to_begin(board, step)
    asked_by_user = situation.said[-1].by in (USER, "") if situation.said else True
    return calls_to_end(board, success=reply.stop == "Completed" and not asked_by_user)


def worker(recipients: tuple[str, ...]) -> str | None:
    """Who of the team runs code."""
    if "CodeInterpreter" in recipients:
        return "CodeInterpreter"
    return next((name for name in recipients if "codeinterpreter" in name.lower().replace("_", "")), None)


# -- a question


def _asked(situation: Situation, heard: Said) -> PlannerReply:
    question = question_in(heard.text)
    said_in = language(question)
    if tuple(key for key in keys(question) if key.isalnum()) in _ASKS_WHO:
        return _to_user(about_me(said_in), "Completed", "The user asks who I am.")
    if not situation.tables:
        return _without_table(situation, said_in)
    chosen = choose(question, situation.user_questions()[:-1], situation.tables, files_added(heard.text))
    if isinstance(chosen, Unclear):
        only = situation.tables[0] if len(situation.tables) == 1 else None
        columns = None if only is None else (only.name, tuple(column.name for column in only.columns))
        why = "Not every word of the question is accounted for." if chosen.words else "The question is not plain."
        return _to_user(refusal(chosen, said_in, columns), "Clarification", why)
    return _delegate(situation, question, chosen, said_in)


def _without_table(situation: Situation, said_in: Language) -> PlannerReply:
    unread = [f"{file.name} ({file.problem})" if file.problem else file.name for file in situation.files]
    text = say("no_table", said_in, files=", ".join(unread)) if unread else say("no_file", said_in)
    return _to_user(f"{text}\n{about_me(said_in)}", "AdditionalInformation", "There is no table to answer from.")


def _delegate(situation: Situation, question: str, chosen: Chosen, said_in: Language) -> PlannerReply:
    name = worker(situation.recipients)
    if name is None:
        return _to_user(say("nobody", said_in), "TaskFailure", "Nobody of the team runs code.")
    instruction = Instruction(chosen.schema.file.name, question, chosen.before)
    drawn = " and draw it" if chosen.query.plot else ""
    plan = [
        f"1. {name} works out the answer from {chosen.schema.file.name} by code{' and draws it' if drawn else ''}",
        "2. Tell the user the result <narrow depend on 1>",
    ]
    return PlannerReply(
        plan_reasoning="Every word of the question is accounted for; it is about one table.",
        init_plan="\n".join(
            [
                "1. Choose the file and the columns that the question names",
                f"2. Work out the answer by code{drawn} <narrow depend on 1>",
                "3. Tell the user the result <narrow depend on 2>",
            ]
        ),
        plan="\n".join(plan),
        current_plan_step=plan[0],
        stop="InProcess",
        send_to=name,
        message=instruction.to_text(),
    )


# -- a result


def _told(situation: Situation, heard: Said) -> PlannerReply:
    questions = situation.user_questions()
    question = questions[-1] if questions else ""
    said_in = language(question)
    success = _SUCCESS.search(heard.text)
    if success is None:
        reason = _reason(heard.text)
        return _to_user(say("failed", said_in, reason=reason), "TaskFailure", f"{heard.by} did not succeed.", done=True)
    result, files = _split(success[1])
    chosen = choose(question, questions[:-1], situation.tables, _last_added(situation))
    text = result if isinstance(chosen, Unclear) else answer(chosen.query, result, files, said_in)
    return _to_user(text or say("empty", said_in), "Completed", f"{heard.by} has the result.", done=True)


def _last_added(situation: Situation) -> tuple[str, ...]:
    asked = [each.text for each in situation.said if not each.mine and each.by in (USER, "")]
    return files_added(asked[-1]) if asked else ()


def _split(text: str) -> tuple[str, tuple[str, ...]]:
    """The result, and the names of the files that were made."""
    made = _FILES.search(text)
    if made is None:
        return text, ()
    return text[: made.start()], tuple(_FILE.findall(made[1]))


def _reason(text: str) -> str:
    """One line that tells why it failed: the last of the error, or of what was said."""
    error = _ERROR.search(text)
    lines = [line.strip() for line in (error[1] if error else text).splitlines() if line.strip()]
    return (lines[-1] if lines else "no reason was given")[:500]


def _to_user(message: str, stop: Stop, reasoning: str, *, done: bool = False) -> PlannerReply:
    step = "2. Tell the user the result" if done else "1. Answer the user"
    plan = f"1. Work out the answer by code\n{step} <narrow depend on 1>" if done else step
    return PlannerReply(reasoning, plan, plan, step, stop, USER, message)
