"""A typed function as a model sees it: the JSON Schema of its arguments, and its docstring's words about them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias, get_type_hints

import msgspec
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import Told, result_of
from roles_runtime.tools.threads import from_thread, run_in_thread

Function: TypeAlias = Callable[..., object]

_SECTIONS = ("Args", "Arguments", "Returns", "Raises", "Yields", "Example", "Examples", "Note", "Notes", "Attributes")
_SECTION = re.compile(rf"^({'|'.join(_SECTIONS)}):\s*$")
_ARGUMENT = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


class Documented(msgspec.Struct, frozen=True):
    """What a docstring says: of the whole, and of each argument."""

    summary: str
    arguments: Mapping[str, str]


class _Untitled(GenerateJsonSchema):
    """JSON Schema without the titles that pydantic makes of names: a model pays for each word."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def read_docstring(function: Function) -> Documented:
    """Reads a Google docstring: all before its first section, and the arguments under ``Args:``."""
    summary: list[str] = []
    arguments: dict[str, str] = {}
    section, current, indent = "", "", 0
    for line in (inspect.getdoc(function) or "").splitlines():
        heading = _SECTION.match(line)
        if heading:
            section, current = heading[1], ""
        elif not section:
            summary.append(line)
        elif section in ("Args", "Arguments") and line.strip():
            depth = len(line) - len(line.lstrip())
            begun = _ARGUMENT.match(line.strip())
            if begun and (not current or depth <= indent):
                current, indent = begun[1], depth
                arguments[current] = begun[2]
            elif current:
                arguments[current] = f"{arguments[current]} {line.strip()}".strip()
    return Documented("\n".join(summary).strip(), arguments)


class Signature(msgspec.Struct, frozen=True):
    """What a function takes.

    Attributes:
        accepts: The arguments that a model gives, as a pydantic model.
        names: Which parameter each of its fields fills.
        caller: The parameter that the Caller fills; empty where it asks for none.
    """

    accepts: type[BaseModel]
    names: Mapping[str, str]
    caller: str = ""


def read_signature(function: Function, name: str, descriptions: Mapping[str, str]) -> Signature:
    """The arguments: one field each, in order, known by its name alone; others are refused.

    Raises:
        ToolDefinitionError: the function can not be a tool; it says which parameter stands in the way.
    """
    fields: dict[str, tuple[object, FieldInfo]] = {}
    names: dict[str, str] = {}
    callers: list[str] = []
    for parameter, hint in _parameters(function, name):
        if hint is Caller:
            callers.append(parameter.name)
            continue
        # The field's own name is ours, since a parameter may be called ``schema`` or begin with an underscore.
        field = f"argument_{len(names)}"
        names[field] = parameter.name
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[field] = (hint, Field(default, alias=parameter.name, description=descriptions.get(parameter.name)))
    if len(callers) > 1:
        raise ToolDefinitionError(f"Tool {name}: {' and '.join(callers)} are both the Caller; keep one of them.")
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    try:
        accepts: type[BaseModel] = create_model(name, __config__=config, **fields)  # type: ignore[call-overload]
    except PydanticUserError as error:
        raise ToolDefinitionError(f"Tool {name}: {_first_line(error)}") from error
    return Signature(accepts, names, "".join(callers))


def _parameters(function: Function, name: str) -> list[tuple[inspect.Parameter, object]]:
    try:
        parameters = inspect.signature(function).parameters.values()
        annotated = function if inspect.isroutine(function) else type(function).__call__
        hints = get_type_hints(annotated, include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        raise ToolDefinitionError(f"Tool {name}: its signature can not be read: {error}.") from error
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ToolDefinitionError(
                f"Tool {name}: {parameter} is {parameter.kind.description}; a model names each argument."
            )
        if parameter.name not in hints:
            raise ToolDefinitionError(f"Tool {name}: parameter {parameter.name!r} needs a type annotation.")
    return [(parameter, hints[parameter.name]) for parameter in parameters]


def json_schema(accepts: type[BaseModel], name: str) -> JsonObject:
    """The JSON Schema of the arguments.

    Raises:
        ToolDefinitionError: a parameter's type has none.
    """
    try:
        schema: JsonObject = accepts.model_json_schema(schema_generator=_Untitled)
    except PydanticUserError as error:
        raise ToolDefinitionError(f"Tool {name}: {_first_line(error)}") from error
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def call_of(function: Function, signature: Signature) -> Callable[[JsonObject, Caller], Awaitable[Told]]:
    """How a tool calls its function: by typed arguments, off the event loop unless it is async."""
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)

    async def call(arguments: JsonObject, caller: Caller) -> Told:
        given = signature.accepts.model_validate(arguments)
        values = {name: getattr(given, field) for field, name in signature.names.items()}
        if signature.caller:
            values[signature.caller] = caller if is_async else replace(caller, emit=from_thread(caller.emit))
        result = function(**values) if is_async else await run_in_thread(partial(function, **values))
        # A plain function may be one that was put round an async one.
        return result_of(await result if inspect.isawaitable(result) else result)

    return call


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
