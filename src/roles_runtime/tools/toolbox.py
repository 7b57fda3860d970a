"""A Toolbox: the tools of one turn. It answers every call with a result; a faulty one with a result that says so."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import groupby
from typing import TypeAlias

import anyio
import msgspec
from pydantic import ValidationError

from roles_runtime.errors import StoreError, ToolFailedError
from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.parts import JsonObject, mend_surrogates
from roles_runtime.llm.request import ToolSpec
from roles_runtime.posts.event import Outcome
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import Told, capped, parts_of, result_of, words_of
from roles_runtime.tools.time_limit import TimeLimit
from roles_runtime.tools.tool import Tool

MAX_ARGUMENTS_BYTES = 1 << 20
"""Arguments above this are refused."""

MAX_SIDE_BY_SIDE = 8
"""How many calls of one answer run at once."""

_MAX_FAULTS = 20


class Answered(msgspec.Struct, frozen=True):
    """A call, and what came of it.

    Attributes:
        call: The call.
        returned: What its model is told.
        outcome: ``ok``; ``error``; ``timeout``; ``rejected`` where it was not carried out at all.
        started_at: When it began, ``time.time_ns()``.
    """

    call: ToolCall
    returned: ToolReturn
    outcome: Outcome
    started_at: int


Tell: TypeAlias = Callable[[Answered], Awaitable[None]]
"""Is told each result, in the order of the calls."""


class Toolbox:
    """The lookup by name, the parsing and validation of arguments, and error results stand here and nowhere else."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Takes the tools of a turn.

        Raises:
            ToolDefinitionError: two of them have one name.
        """
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            tool.check_new(self._tools)
            self._tools[tool.name] = tool

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of them, in order."""
        return tuple(tool.spec for tool in self._tools.values())

    async def call(self, call: ToolCall, caller: Caller, refusal: str = "") -> Answered:
        """Answers one call. No call raises: what goes wrong is an error result that the model can act upon.

        Args:
            call: The call.
            caller: Who calls.
            refusal: Why it is not carried out; empty where it is.

        Raises:
            StoreError: a tool could not write to the journal, which is nothing that a model could mend.
        """
        started_at = time.time_ns()
        caller.status(f"calling {call.name}")
        outcome, result = ("rejected", refusal) if refusal else await self._outcome(call, caller)
        text, attachments = parts_of(result)
        returned = ToolReturn(
            call_id=call.call_id,
            name=call.name,
            result=capped(text),
            is_error=outcome != "ok",
            attachments=attachments,
        )
        return Answered(call, returned, outcome, started_at)

    async def call_all(
        self, calls: Sequence[ToolCall], caller: Callable[[ToolCall], Caller], tell: Tell, refusals: Sequence[str] = ()
    ) -> tuple[ToolReturn, ...]:
        """Answers all calls of one answer of the model; the results are in the order of the calls.

        Calls run side by side, `MAX_SIDE_BY_SIDE` at once. One of an exclusive tool runs alone: it begins when those
        before it have ended, and those after it begin when it has.

        Args:
            calls: In order.
            caller: Who makes a call.
            tell: Called with each result as soon as it and all before it are there.
            refusals: Why each call is not carried out, empty for one that is; all are, where left out.

        Raises:
            StoreError, RoleError: a tool, or ``tell``, could not write; all other calls were cancelled.
        """
        if len(calls) == 1:  # as most are
            answered = await self.call(calls[0], caller(calls[0]), *refusals)
            await tell(answered)
            return (answered.returned,)
        told = zip(calls, refusals or [""] * len(calls), strict=True)
        jobs = [partial(self.call, call, caller(call), refusal) for call, refusal in told]
        # One that must run alone is a batch of its own; neighbours that may stand beside each other are one together.
        alone = [index if self._is_exclusive(call) else -1 for index, call in enumerate(calls)]
        returns: list[ToolReturn] = []
        for _, batch in groupby(range(len(jobs)), alone.__getitem__):
            returns += await _side_by_side([jobs[index] for index in batch], tell)
        return tuple(returns)

    def _is_exclusive(self, call: ToolCall) -> bool:
        tool = self._tools.get(call.name)
        return tool is not None and tool.exclusive

    async def _outcome(self, call: ToolCall, caller: Caller) -> tuple[Outcome, Told]:
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return "error", f"There is no tool named {call.name[:100]!r}; those there are: {known}."
        try:
            arguments = _parsed(call.arguments)
            _check(tool, arguments)
            with TimeLimit(tool.timeout_s):
                return "ok", result_of(await tool.call(arguments, caller))
            return "timeout", f"{tool.name} gave no result within {tool.timeout_s:g} s, and is waited for no longer."
        except _BadArgumentsError as error:
            return "error", f"{tool.name} was not called: {error}"
        except ToolFailedError as error:
            return "error", str(error) or f"{tool.name} failed."
        except StoreError:
            raise
        except BaseException as error:  # a tool is anybody's code: its fault is the model's to know, not the turn's end
            if _goes_beyond(error):
                raise
            return "error", f"{tool.name} failed: {words_of(error)}"


async def _side_by_side(jobs: Sequence[Callable[[], Awaitable[Answered]]], tell: Tell) -> list[ToolReturn]:
    if len(jobs) == 1:
        answered = await jobs[0]()
        await tell(answered)
        return [answered.returned]
    answers: dict[int, Answered] = {}
    done = [anyio.Event() for _ in jobs]
    slots = anyio.Semaphore(MAX_SIDE_BY_SIDE)

    async def run(index: int) -> None:
        async with slots:
            answers[index] = await jobs[index]()
        done[index].set()

    try:
        async with anyio.create_task_group() as group:
            for index in range(len(jobs)):
                group.start_soon(run, index)
            for index, event in enumerate(done):
                await event.wait()
                await tell(answers[index])
    except BaseExceptionGroup as errors:
        # Whoever calls knows the errors of a call, and nothing of groups.
        raise _first(errors) from None
    return [answers[index].returned for index in range(len(jobs))]


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _goes_beyond(error: BaseException) -> bool:
    """Whether it is more than the tool's own fault: a real cancellation, a Ctrl-C, the turn being closed."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    if isinstance(error, BaseExceptionGroup):
        return any(map(_goes_beyond, error.exceptions))
    return isinstance(error, KeyboardInterrupt | GeneratorExit)


class _BadArgumentsError(Exception):
    pass


def _parsed(arguments: str) -> JsonObject:
    # Some providers send nothing where a tool takes nothing.
    if not arguments.strip():
        return {}
    # A character has a byte at least: what is far too long is not encoded to be counted.
    size_bytes = len(arguments) if len(arguments) > MAX_ARGUMENTS_BYTES else len(arguments.encode("utf-8", "replace"))
    if size_bytes > MAX_ARGUMENTS_BYTES:
        raise _BadArgumentsError(
            f"its arguments have {size_bytes:,} bytes, and at most {MAX_ARGUMENTS_BYTES:,} are taken; write less."
        )
    try:
        value = _decoded(arguments)
    except (ValueError, RecursionError) as error:
        raise _BadArgumentsError(f"its arguments are no valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise _BadArgumentsError(f"its arguments must be one JSON object, and are {_kind(value)}.")
    return value


def _decoded(arguments: str) -> object:
    """The arguments as JSON; line breaks within texts, which models write raw, and halves of pairs are forgiven."""
    try:
        value: object = msgspec.json.decode(arguments)
    except msgspec.DecodeError as error:
        try:
            mended = mend_surrogates(json.dumps(json.loads(arguments, strict=False), ensure_ascii=False))
            value = msgspec.json.decode(mended)
        except (ValueError, RecursionError):
            raise error from None
    # Only then: it is read again for what a decoder does not tell.
    json.loads(arguments, object_pairs_hook=_each_once, strict=False)
    return value


def _each_once(pairs: list[tuple[str, object]]) -> None:
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            raise _BadArgumentsError(f"its arguments name {name[:100]!r} twice; say each once.")
        names.add(name)


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "a number"


def _check(tool: Tool, arguments: JsonObject) -> None:
    if tool.accepts is None:
        return
    try:
        tool.accepts.model_validate(arguments)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        lines = [f"- {'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in faults[:_MAX_FAULTS]]
        if len(faults) > _MAX_FAULTS:
            lines.append(f"- and {len(faults) - _MAX_FAULTS} more")
        raise _BadArgumentsError("\n".join(("its arguments do not fit:", *lines))) from error
