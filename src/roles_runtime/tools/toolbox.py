"""A Toolbox: the tools of one turn. It answers every call with a result; a faulty one with a result that says so."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from pydantic import ValidationError

from roles_runtime.errors import StoreError, ToolFailedError
from roles_runtime.llm.message import JsonObject, ToolCall, ToolReturn, mend_surrogates
from roles_runtime.llm.request import ToolSpec
from roles_runtime.tools.tool import Tool

MAX_RESULT_BYTES = 64 << 10
"""What a model is told of one result: some 16,000 tokens."""


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

    async def call(self, call: ToolCall) -> ToolReturn:
        """Answers one call. No call raises: what goes wrong is an error result that the model can act upon."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return _failed(call, f"There is no tool named {call.name!r}; those there are: {known}.")
        try:
            arguments = _parsed(call.arguments)
            _check(tool, arguments)
            return ToolReturn(call_id=call.call_id, name=call.name, result=capped(await tool.call(arguments)))
        except _BadArgumentsError as error:
            return _failed(call, f"{tool.name} was not called: {error}")
        except ToolFailedError as error:
            return _failed(call, str(error) or f"{tool.name} failed.")
        except StoreError:  # a journal that can not be written is nothing that a model could mend
            raise
        except Exception as error:  # a tool is anybody's code: its fault is the model's to know, not the turn's end
            return _failed(call, f"{tool.name} failed: {type(error).__name__}: {error}")


class _BadArgumentsError(Exception):
    pass


def _parsed(arguments: str) -> JsonObject:
    # Some providers send nothing where a tool takes nothing.
    if not arguments.strip():
        return {}
    try:
        value: object = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _BadArgumentsError(f"its arguments are no valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise _BadArgumentsError(f"its arguments must be one JSON object, and are {_kind(value)}.")
    return value


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
        faults = (f"- {'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in error.errors())
        raise _BadArgumentsError("\n".join(("its arguments do not fit:", *faults))) from error


def _failed(call: ToolCall, problem: str) -> ToolReturn:
    return ToolReturn(call_id=call.call_id, name=call.name, result=capped(problem), is_error=True)


def capped(text: str) -> str:
    """The text, or its beginning with a note where it is longer than a model shall read."""
    data = mend_surrogates(text).encode()
    if len(data) <= MAX_RESULT_BYTES:
        return data.decode()
    kept = data[:MAX_RESULT_BYTES].decode(errors="ignore")
    return f"{kept}\n[cut off: the result has {len(data):,} bytes, the first {MAX_RESULT_BYTES:,} are shown]"
