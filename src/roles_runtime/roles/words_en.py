"""What the roles tell their models, in English."""

from __future__ import annotations

from roles_runtime.kernels.verification import ENGLISH_RULES
from roles_runtime.memory.compression import TEMPLATE
from roles_runtime.posts.translator import ENGLISH_FAULTS
from roles_runtime.roles.words import RoleWords

_AGAIN = "Write the whole answer again"

ENGLISH = RoleWords(
    planner_intro="Plans, and hands out the steps of the plan.",
    coder_intro=(
        "Writes and runs Python code in a stateful notebook: reads files and tables, computes, plots, writes files. "
        "It is good for anything that code can find out."
    ),
    planner={
        "plan_reasoning": "Why this plan, and what the last result means for it.",
        "init_plan": "All steps, numbered, with their dependencies.",
        "plan": "The steps to follow, numbered.",
        "current_plan_step": "The step that this message carries out.",
        "stop": "Whether the work is done, and if it is not, why it stops.",
        "send_to": "Who gets the message.",
        "message": "What is said to them.",
    },
    coder={
        "thought": "What the task is, and how it is done.",
        "reply_type": "Whether reply_content is code to run, or words.",
        "reply_content": "The whole code without a Markdown fence, or the words.",
    },
    weekdays=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    time="{weekday}, {date} {clock}",
    member="- {name}: {intro}",
    nobody="- (nobody else)",
    summary="Summary of the earlier conversation, which is no longer shown:",
    context="Additional context:",
    request="The user's request:",
    task="Your task, from {name}:",
    plan="{name} follows this plan:\nPLAN:\n{plan}\nThe current step is: {step}",
    again=_AGAIN,
    fault=f"{{problem}} {_AGAIN}.",
    faults=ENGLISH_FAULTS,
    cut_off="the answer was cut off at the model's limit, so it must be shorter.",
    kept_part="[cut off: the answer has {length:,} characters]",
    no_recipient="send_to is missing; it must be one of: {names}.",
    own_recipient="send_to must not be {me} itself; it must be one of: {names}.",
    no_member="send_to is {given!r}, who is not in the team; it must be one of: {names}.",
    unfinished=(
        "stop is InProcess, but the message is for User, which ends the work. Send it to the one who acts next "
        "({others}), or say with stop why it ends: {stops}."
    ),
    unfinished_alone=(
        "stop is InProcess, but the message is for User, which ends the work. Say with stop why it ends: {stops}."
    ),
    reply_type="reply_type is {given!r}; it must be python or text.",
    rules=ENGLISH_RULES,
    rules_broken=(
        "The code was not run, for it breaks these rules:\n{rules}\nWrite the whole code again without that."
    ),
    kernel_lost="The code was not run. {error} {from_scratch}",
    kernel_ended="The code ended the kernel, and all variables are gone. {from_scratch}",
    too_slow="The code took too long and was interrupted. Write it so that it does less at once.",
    code_failed=(
        "The code failed: {error}\nFind out why, and write the whole code again; what ran before is still there."
    ),
    from_scratch="Write the whole code again, with every import and every earlier step that it needs.",
    no_reason="it gave no reason",
    answer_now="There were too many tool calls in this turn; answer now with what you have.",
    minutes="You keep the minutes of a team's conversation. Answer with the summary alone, as plain text.\n",
    summarise=TEMPLATE,
)
