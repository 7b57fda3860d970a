"""Nothing is sent that the provider would refuse or silently misread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from roles_runtime.errors import WireError
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.wire_rules import anthropic, gemini, ollama, openai_chat, openai_responses
from roles_runtime.llm.wire_rules.fault import Fault
from roles_runtime.llm.wire_rules.written import unwritable

MAX_BODY_BYTES = 32 * 1024 * 1024
"""The least that the providers' own bounds allow for."""

_RULES: Mapping[str, Callable[[str, JsonObject], None]] = MappingProxyType(
    {
        "openai-chat": openai_chat.hold,
        "openai-responses": openai_responses.hold,
        "anthropic": anthropic.hold,
        "gemini": gemini.hold,
        "ollama": ollama.hold,
    }
)


def validate_wire(name: str, wire: str, body: JsonObject) -> None:
    """Holds a body to the rules of its wire.

    Args:
        name: ``provider:model``, for the error.
        wire: ``openai-chat``, ``openai-responses``, ``anthropic``, ``gemini`` or ``ollama``; others have no rules here
            beside that their body can be written.
        body: The request's body.

    Raises:
        WireError: it breaks one; the error says where and how.
    """
    try:
        _writable(body)
        if wire in _RULES:
            _RULES[wire](name, body)
    except Fault as fault:
        raise WireError(name, fault.path or "the body", fault.problem) from None


def _writable(body: JsonObject) -> None:
    try:
        written = msgspec.json.encode(body)
        # A NaN is written as null: where there is one, what was written must be what was meant.
        if b"null" in written and msgspec.json.decode(written) != body:
            raise ValueError("a value would be written as another one")
    except RecursionError:
        raise Fault("", "it is nested too deeply to be written") from None
    except (ValueError, TypeError, msgspec.MsgspecError) as error:
        raise unwritable(body) or Fault("", f"it can not be written as JSON: {error}") from None
    if len(written) > MAX_BODY_BYTES:
        size = len(written) // 1024 // 1024
        raise Fault("", f"it has {size} MiB, and no more than {MAX_BODY_BYTES // 1024 // 1024} may be sent")
