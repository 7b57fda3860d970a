"""The CodeInterpreter's part: a task as pandas code, or in words why there is none."""

from __future__ import annotations

from typing import Literal

import msgspec

from roles_runtime.llm.providers.rules.choice import Chosen, Unclear, choose
from roles_runtime.llm.providers.rules.codegen import write_code
from roles_runtime.llm.providers.rules.follow import understand_in_turn
from roles_runtime.llm.providers.rules.grammar import NotUnderstood
from roles_runtime.llm.providers.rules.instruction import Instruction
from roles_runtime.llm.providers.rules.lexicon import language
from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.llm.providers.rules.situation import Said, Situation, question_in
from roles_runtime.llm.providers.rules.wording import about_me, refusal, say

_KERNEL_GONE = ("every import and every earlier step", "全部导入和先前的全部步骤")
"""Of what is told after a kernel was lost, by language."""


class InterpreterReply(msgspec.Struct, frozen=True):
    """The keys of a CodeInterpreter's answer, in their order."""

    thought: str
    reply_type: Literal["python", "text"]
    reply_content: str


def interpreter_reply(situation: Situation) -> InterpreterReply:
    """What the CodeInterpreter writes next."""
    task, attempts, problem = _task(situation)
    if task is None:
        return InterpreterReply("There is no task.", "text", about_me("en"))
    chosen = _choose(task.text, situation)
    if isinstance(chosen, Unclear):
        said_in = language(task.text)
        text = refusal(chosen, said_in, None) if situation.tables else say("no_file", said_in)
        return InterpreterReply("The task is not plain to me.", "text", text)
    if attempts:
        return _once_more(chosen, attempts, problem)
    thought = f"The task is one query over {chosen.schema.file.name}; pandas answers it."
    return InterpreterReply(thought, "python", write_code(chosen.query, chosen.schema))


def _task(situation: Situation) -> tuple[Said | None, int, str]:
    """The task at hand, how often it was tried, and what was wrong the last time."""
    attempts, problem = 0, ""
    for each in reversed(situation.said):
        if each.mine:
            attempts += 1
        elif situation.me and each.by == situation.me:
            problem = problem or each.text
        else:
            return each, attempts, problem
    return None, attempts, problem


def _choose(text: str, situation: Situation) -> Chosen | Unclear:
    instruction = Instruction.from_text(text)
    if instruction is None:
        return choose(question_in(text), (), situation.tables, ())
    files = [file for file in situation.tables if file.name == instruction.file]
    if not files:
        return Unclear(words=(instruction.file,))
    schema = Schema(files[0])
    understood = understand_in_turn(instruction.questions, schema)
    if isinstance(understood, NotUnderstood):
        return Unclear(words=understood.words, meanings=understood.meanings)
    return Chosen(schema, understood.query)


def _once_more(chosen: Chosen, attempts: int, problem: str) -> InterpreterReply:
    """The same code only for a new kernel; for any other fault the rules know no other."""
    if attempts == 1 and any(words in problem for words in _KERNEL_GONE):
        code = write_code(chosen.query, chosen.schema)
        return InterpreterReply("The kernel is new; the code needs nothing that was there before.", "python", code)
    line = next((line.strip() for line in problem.splitlines() if line.strip()), "it gave no reason")
    text = f"The code failed, and I know no other: {line[:500]}"
    return InterpreterReply("There is no other way to write it.", "text", text)
