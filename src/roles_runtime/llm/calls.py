"""What a model wishes to have called, and what came of it; what it thought; what came of code."""

from __future__ import annotations

import msgspec
from pydantic import Field

from roles_runtime.llm.parts import CleanObject, Frozen, JsonObject, MediaPart, Text


class ToolCall(Frozen):
    """A model's wish to have a tool called.

    Attributes:
        call_id: Given by the provider, or by us where it gives none; its result names it.
        name: The tool's name.
        arguments: JSON text of an object, as the model wrote it: unchecked.
    """

    call_id: str
    name: Text
    arguments: Text


def arguments_of(call: ToolCall) -> JsonObject:
    """The arguments as an object, for a provider that wants to have them back as one.

    Nothing at all is what providers write for no arguments. What is no JSON object stands under ``_raw`` as it came, so
    that the model can see what it wrote; no tool runs with it.
    """
    if not call.arguments.strip():
        return {}
    try:
        value: object = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"_raw": call.arguments}


class ToolReturn(Frozen):
    """What came of a `ToolCall`.

    Attributes:
        call_id, name: Of the call.
        result: Text for the model.
        is_error: Whether the tool failed; the result says how.
        attachments: Pictures and files that came of it.
    """

    call_id: str
    name: Text
    result: Text
    is_error: bool = False
    attachments: tuple[MediaPart, ...] = ()


class ConsoleResult(Frozen):
    """What came of a cell.

    Attributes:
        result: The whole text.
        summary_result: The form without temporal parts, for later rounds.
        attachments: Files that it made: by name, or as parts that a model may see.
        trace: Where in the code it came from: a cell's id, or a traceback.
    """

    result: Text
    summary_result: Text = ""
    attachments: tuple[MediaPart | Text, ...] = ()
    trace: Text = ""


class FunctionCall(Frozen):
    """A call of the time before `ToolCall`: one a message, without an id. Old records hold them; nothing makes them."""

    name: Text
    arguments: Text


class Reasoning(Frozen):
    """A piece of what a model thought.

    It is given back to nobody but the provider it came from, and to that one as it was. Its place is told by how
    much of the answer stood before it.

    Attributes:
        text: What can be read of it; some providers tell nothing.
        origin: Whose it is: the adapter's ``origin``. Empty where nobody wants it back.
        payload: What the provider needs to have back: a signature, an encrypted content, an item as it came.
        after_chars: How many characters of the answer's text stand before it.
        after_calls: How many of its tool calls stand before it.
    """

    text: Text = ""
    origin: str = ""
    payload: CleanObject = Field(default_factory=dict)
    after_chars: int = 0
    after_calls: int = 0
