"""A typed function as a model sees it: the JSON Schema of its arguments, and its docstring's words about them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias, get_type_hints

import anyio.to_thread
import msgspec
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_json

from roles_runtime.errors import ToolDefinitionError
from roles_runtime.llm.message import JsonObject

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


def arguments_model(function: Function, name: str, descriptions: Mapping[str, str]) -> type[BaseModel]:
    """The arguments as a pydantic model: one field each, in order, known by its name alone; others are refused.

    Raises:
        ToolDefinitionError: the function can not be a tool; it says which parameter stands in the way.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
        annotated = function if inspect.isroutine(function) else type(function).__call__
        hints = get_type_hints(annotated, include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        raise ToolDefinitionError(f"Tool {name}: its signature can not be read: {error}.") from error
    fields: dict[str, tuple[object, FieldInfo]] = {}
    for index, parameter in enumerate(parameters):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ToolDefinitionError(
                f"Tool {name}: {parameter} is {parameter.kind.description}; a model names each argument."
            )
        if parameter.name not in hints:
            raise ToolDefinitionError(f"Tool {name}: parameter {parameter.name!r} needs a type annotation.")
        default = ... if parameter.default is parameter.empty else parameter.default
        # The field's own name is ours, since a parameter may be called ``schema`` or begin with an underscore.
        fields[f"argument_{index}"] = (
            hints[parameter.name],
            Field(default, alias=parameter.name, description=descriptions.get(parameter.name)),
        )
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    try:
        return create_model(name, __config__=config, **fields)  # type: ignore[call-overload, no-any-return]
    except PydanticUserError as error:
        raise ToolDefinitionError(f"Tool {name}: {_first_line(error)}") from error


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


def caller(function: Function, accepts: type[BaseModel]) -> Callable[[JsonObject], Awaitable[str]]:
    """How a tool calls its function: by typed arguments, off the event loop unless it is async."""
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    names = {field: info.alias or field for field, info in accepts.model_fields.items()}

    async def call(arguments: JsonObject) -> str:
        given = accepts.model_validate(arguments)
        work = partial(function, **{name: getattr(given, field) for field, name in names.items()})
        if is_async:
            result = await work()  # type: ignore[misc]  # a coroutine function, as was asked above
        else:
            # A thread can not be stopped; a cancelled turn leaves it behind and drops what it returns.
            result = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        return result if isinstance(result, str) else to_json(result).decode()

    return call


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
