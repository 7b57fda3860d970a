"""Thinking: a role asks its model, calls the tools that the model wishes for, and asks again, until it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import TypeAlias

import msgspec

from roles_runtime.errors import ModelError, ModelMissingError, RoleError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.message import AssistantTextMessage, ToolMessage
from roles_runtime.llm.request import LLMRequest
from roles_runtime.llm.stream import Reply, asked
from roles_runtime.posts.event import ModelReplied, Outcome, ToolReturned
from roles_runtime.roles.languages import words
from roles_runtime.roles.turn import Turn
from roles_runtime.tools.allowance import Allowance
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.toolbox import Answered, Toolbox

MAX_TOOL_ROUNDS = 16
"""How many answers in a row may be tool calls; then the model is told to answer, and the next call is its last."""

Read: TypeAlias = Callable[[AsyncGenerator[str, None]], Awaitable[None]]
"""Takes the growing text of an answer into the draft. It may leave the text before its end."""


class Thought(msgspec.Struct, frozen=True):
    """What a model answered.

    Attributes:
        raw_text: As it wrote it.
        cut_off: Whether it ran into its limit.
    """

    raw_text: str
    cut_off: bool = False


async def think(turn: Turn, request: LLMRequest, read: Read) -> Thought:
    """Asks the turn's model, with the turn's tools; each answer and each result is journalled as it comes.

    Args:
        turn: Whose model, tools, draft and journal are used.
        request: What to ask; the tools are added.
        read: Called with the text of each answer. The draft is empty at its start.

    Raises:
        ModelMissingError: the turn has no model.
        ModelError: the model could not answer, or refused to.
        RoleError: the model goes on calling tools after it was told to answer.
    """
    toolbox, allowance = Toolbox(turn.tools), Allowance()
    request = msgspec.structs.replace(request, tools=toolbox.specs())
    for index in range(MAX_TOOL_ROUNDS + 2):
        message, reply = await _ask(turn, request, read)
        if not message.tool_calls:
            # Thousands of turns may wait for the journal at once; none of them needs its prompt any more.
            del request
            await _take(turn, message, reply)
            return Thought(message.content, reply.reason == "length")
        # What is journalled and told again has ids that can not be mistaken for each other.
        calls = allowance.with_unique_ids(message.tool_calls)
        if calls is not message.tool_calls:
            message = message.model_copy(update={"tool_calls": calls})
        await _take(turn, message, reply)
        # What a model says beside its calls is no answer yet.
        turn.draft.withdraw()
        refusals = (
            [words(turn.language).answer_now] * len(calls) if index >= MAX_TOOL_ROUNDS else allowance.refusals(calls)
        )
        returns = await toolbox.call_all(calls, partial(_caller, turn), partial(_record_return, turn), refusals)
        request = msgspec.structs.replace(
            request, messages=(*request.messages, message, ToolMessage(tool_reses=returns))
        )
    raise RoleError(turn.role, f"its model called tools {MAX_TOOL_ROUNDS + 2} times in a row and gave no answer.")


async def _ask(turn: Turn, request: LLMRequest, read: Read) -> tuple[AssistantTextMessage, Reply]:
    if turn.model is None:
        raise ModelMissingError(turn.role)
    draft = turn.draft
    draft.status("calling model")
    begun = partial(draft.status, "receiving response")
    try:
        async with asked(turn.model, request) as reply, aclosing(reply.text(begun)) as text:
            await read(text)
    except Exception:  # whatever the provider raised: what was shown of the answer is void
        draft.withdraw()
        raise
    return reply.message(turn.role), reply


async def _take(turn: Turn, message: AssistantTextMessage, reply: Reply) -> None:
    """Journals an answer; one that is a refusal goes no further."""
    outcome: Outcome = "rejected" if reply.reason == "refusal" else "ok"
    await record_reply(turn, message, reply, outcome, traced=bool(message.tool_calls or message.reasoning))
    if outcome == "rejected":
        turn.draft.withdraw()
        raise ModelError(reply.model, f"it refused to answer: {message.content or 'it gave no reason.'}")


async def record_reply(
    turn: Turn, message: AssistantTextMessage, reply: Reply, outcome: Outcome, *, traced: bool
) -> None:
    """Journals what a model answered, and what that cost.

    Args:
        turn: In which it was asked.
        message: The answer, as it is journalled.
        reply: The same as it came: who answered, why it ended, what it cost.
        outcome: What the turn makes of it.
        traced: Whether later turns of the role are shown it as a step of this one.

    Raises:
        RoleError, StoreError: as `Turn.record`.
    """
    usage = reply.usage
    await turn.record(
        ModelReplied(
            turn.round_id,
            turn.role,
            turn.turn_id,
            reply.model,
            message.model_dump_json(),
            reply.reason,
            usage.input_tokens,
            usage.output_tokens,
            reply.started_at,
            outcome,
            usage.cached_tokens,
            usage.reasoning_tokens,
            traced,
        )
    )


def _caller(turn: Turn, call: ToolCall) -> Caller:
    return Caller(turn.session_id, turn.round_id, turn.role, call.call_id, turn.workspace, turn.emit)


async def _record_return(turn: Turn, answered: Answered) -> None:
    await turn.record(
        ToolReturned(
            turn.round_id,
            turn.role,
            turn.turn_id,
            answered.call.call_id,
            answered.call.name,
            answered.returned.model_dump_json(),
            answered.started_at,
            answered.outcome,
        )
    )
