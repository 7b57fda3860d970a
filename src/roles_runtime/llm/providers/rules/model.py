"""`RulesModel`: answers a request by fixed rules."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Self

import msgspec

from roles_runtime.errors import ModelError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.model import Chunk, Finish, TextChunk, ToolCallChunk
from roles_runtime.llm.options import ProviderOptions, take_none
from roles_runtime.llm.providers.rules.board import board_of
from roles_runtime.llm.providers.rules.interpreter import InterpreterReply, interpreter_reply
from roles_runtime.llm.providers.rules.lexicon import language
from roles_runtime.llm.providers.rules.planner import PlannerReply, planner_calls, planner_reply
from roles_runtime.llm.providers.rules.situation import situation_of
from roles_runtime.llm.providers.rules.wording import about_me
from roles_runtime.llm.request import LLMRequest

_VERSION = "rules-v1"
_PIECE = 48


class _Response(msgspec.Struct, frozen=True):
    response: PlannerReply | InterpreterReply


class RulesModel:
    """The embedded default: no LLM, but rules that answer questions about tables, or say that they can not.

    It plays the Planner and the CodeInterpreter, told apart by the title of the response schema, and reads nothing but
    the request. The same request gets the same answer; one object serves any number of sessions.
    """

    writes_code = False

    @property
    def name(self) -> str:
        """``rules:rules-v1``."""
        return f"rules:{_VERSION}"

    @classmethod
    def from_name(cls, model: str, options: ProviderOptions | None = None) -> Self:
        """Makes the model; there is one version.

        Raises:
            ModelError: another one is named.
        """
        take_none("rules", options)
        if model not in ("", _VERSION):
            raise ModelError(f"rules:{model}", f"there is no such version; write rules:{_VERSION}, or just rules.")
        return cls()

    async def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        """The answer in pieces, or tool calls; then `Finish` without tokens: none are spent."""
        reply = reply_to(request)
        if isinstance(reply, str):
            for start in range(0, len(reply), _PIECE):
                yield TextChunk(reply[start : start + _PIECE])
            yield Finish()
            return
        for call in reply:
            yield ToolCallChunk(call)
        yield Finish("tool_calls")


def reply_to(request: LLMRequest) -> str | tuple[ToolCall, ...]:
    """The whole answer: JSON by the request's schema, or plain words where another part is asked for.

    Before it answers, the Planner keeps the team's board of tasks, where it is given the tools for it.
    """
    situation = situation_of(request)
    if situation.part == "Planner":
        reply = planner_reply(situation)
        calls = planner_calls(situation, board_of(request), reply)
        return calls or msgspec.json.encode(_Response(reply)).decode()
    if situation.part == "CodeInterpreter":
        return msgspec.json.encode(_Response(interpreter_reply(situation))).decode()
    return about_me(language(situation.said[-1].text if situation.said else ""))
