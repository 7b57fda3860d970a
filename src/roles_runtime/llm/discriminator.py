"""Which class a message is of: by ``role:msg_type``, of an instance, a dict or JSON alike."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from roles_runtime.errors import MessageError
from roles_runtime.llm.base_message import BaseMessage

OTHER = "other"
"""The tag of what is not built in: a class that a user registered, or one that is unknown here."""

# A record without a msg_type is of the time when there was one class a role, or comes from a house without types.
_FIRST_TYPES = {
    "system": "text",
    "user": "text",
    "assistant": "text",
    "tool": "returns",
    "console": "results",
    "function": "result",
}

_BUILT_IN: set[str] = set()
_REGISTERED: dict[str, type[BaseMessage]] = {}

Registered = TypeVar("Registered", bound=type[BaseMessage])


def key_of(value: object) -> str:
    """``role:msg_type`` of an instance or of a mapping that became or becomes one.

    What has no msg_type is of the first one of its role; a user's with a list as content is ``multi_part``.
    """
    if isinstance(value, dict):
        role, msg_type, content = value.get("role"), value.get("msg_type"), value.get("content")
    else:
        role, msg_type = getattr(value, "role", None), getattr(value, "msg_type", None)
        content = getattr(value, "content", None)
    # str() of a member of an Enum names the class; what stands on the wire is its value.
    role = role.value if isinstance(role, Enum) else role
    msg_type = msg_type.value if isinstance(msg_type, Enum) else msg_type
    if not msg_type:
        msg_type = "multi_part" if role == "user" and isinstance(content, list | tuple) else _FIRST_TYPES.get(str(role))
    return f"{role}:{msg_type}"


def discriminator(built_in: frozenset[str]) -> Callable[[object], str]:
    """The callable that a tagged union asks: the key where it is built in, else `OTHER`."""

    _BUILT_IN.update(built_in)

    def tag_of(value: object) -> str:
        if type(value) is BaseMessage:
            return OTHER
        key = key_of(value)
        return key if key in built_in else OTHER

    return tag_of


def register_message(message: Registered) -> Registered:
    """Makes a subclass of your own part of `Message`: it round-trips through JSON as itself, at any depth.

    The class gives its role and its msg_type as Literals with a default::

        @register_message
        class StickerMessage(UserMessage):
            msg_type: Literal["sticker"] = "sticker"
            content: str

            def to_llm_request(self): ...

    Registering the same class again changes nothing.

    Raises:
        MessageError: the class has no role or no msg_type of its own, or another one has them.
    """
    fields: dict[str, FieldInfo] = getattr(message, "model_fields", {})
    key = ":".join(str(fields[name].default) if name in fields else "" for name in ("role", "msg_type"))
    if not issubclass(message, BaseMessage) or "PydanticUndefined" in key or key.endswith(":"):
        raise MessageError(
            f"{message.__name__} needs a role and a msg_type of its own: msg_type: Literal['...'] = '...'."
        )
    if key in _BUILT_IN:
        raise MessageError(f"{message.__name__}: {key!r} is built in; give it another msg_type.")
    taken = _REGISTERED.setdefault(key, message)
    if taken.__qualname__ != message.__qualname__ or taken.__module__ != message.__module__:
        raise MessageError(f"{message.__name__}: {taken.__name__} is registered as {key!r}; give it another msg_type.")
    _REGISTERED[key] = message
    return message


class Others:
    """Annotates the branch of the union for all that is not built in: what users registered, and what is unknown.

    It is looked up when a message is read, so that a class may be registered after the union was made.
    """

    def __init__(self, unknown: type[BaseMessage]) -> None:
        self._unknown = unknown

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: object) -> BaseMessage:
            if isinstance(value, BaseMessage):
                return value
            return _REGISTERED.get(key_of(value), self._unknown).model_validate(value)

        return core_schema.no_info_plain_validator_function(
            read,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value, info: value.model_dump(mode=info.mode), info_arg=True
            ),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "object", "required": ["role"], "properties": {"role": {"type": "string"}}}
