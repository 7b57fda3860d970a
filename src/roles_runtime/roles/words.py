"""What the roles tell their models beside their templates, in one language."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from roles_runtime.kernels.verification import RuleWords
from roles_runtime.posts.translator import FaultWords


class RoleWords(msgspec.Struct, frozen=True):
    """The words of one language. What stands in braces is put in by the roles.

    Attributes:
        planner_intro, coder_intro: What a Planner and a CodeInterpreter say of themselves.
        planner, coder: Descriptions of the fields of their answers.
        weekdays: From Monday on.
        time: ``{weekday}``, ``{date}``, ``{clock}``.
        member: A line of the roster: ``{name}``, ``{intro}``.
        nobody: That line, where nobody else is there.
        summary, context, request: Stand before the summary of earlier rounds, the others' plans, the user's request.
        task: Stands before a task: ``{name}``.
        plan: A shared plan: ``{name}``, ``{plan}``, ``{step}``.
        again: What a model is told to do after a fault; it begins the last sentence of every fault.
        fault: ``{problem}``, and then that.
        faults: Of answers that are not whole.
        cut_off: A fault, as the next ones: the answer was too long.
        kept_part: Says that only the beginning of a faulty answer is shown: ``{length}``.
        no_recipient, own_recipient, no_member: Faults of ``send_to``: ``{me}``, ``{given}``, ``{names}``.
        unfinished, unfinished_alone: ``stop`` does not fit a Post to User: ``{others}``, ``{stops}``.
        reply_type: It is neither of two: ``{given}``.
        rules: Of what code may do.
        rules_broken, kernel_lost, kernel_ended, too_slow, code_failed: Why code is to be written anew: ``{rules}``,
            ``{error}``, and ``{from_scratch}``, which is the next one.
        from_scratch: For a new kernel.
        no_reason: Stands for an error that says nothing.
        answer_now: Ends a row of tool calls.
        minutes: The instructions of whoever summarises.
        summarise: Its prompt: ``{PREVIOUS_SUMMARY}``.
    """

    planner_intro: str
    coder_intro: str
    planner: Mapping[str, str]
    coder: Mapping[str, str]
    weekdays: tuple[str, str, str, str, str, str, str]
    time: str
    member: str
    nobody: str
    summary: str
    context: str
    request: str
    task: str
    plan: str
    again: str
    fault: str
    faults: FaultWords
    cut_off: str
    kept_part: str
    no_recipient: str
    own_recipient: str
    no_member: str
    unfinished: str
    unfinished_alone: str
    reply_type: str
    rules: RuleWords
    rules_broken: str
    kernel_lost: str
    kernel_ended: str
    too_slow: str
    code_failed: str
    from_scratch: str
    no_reason: str
    answer_now: str
    minutes: str
    summarise: str

    def faulty(self, problem: str, **values: object) -> str:
        """A fault as its model is told, with what it is to do."""
        return self.fault.format(problem=problem.format(**values))
