"""What servers that speak OpenAI's chat wire do differently, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.providers.openai.names import compatible_capabilities, openai_capabilities
from roles_runtime.llm.request import Effort

EFFORTS: Mapping[Effort, str] = MappingProxyType({"none": "none", "low": "low", "medium": "medium", "high": "high"})


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A server's ways.

    What no server needs is sent to none: ``name`` in messages, and ``strict`` in tools.

    Attributes:
        provider: What stands before the colon, and whose thoughts it takes back.
        base_url: Where it is, if nobody says otherwise.
        key_variables: Where its key stands in the environment; the first that holds one counts.
        needs_key: Whether it answers nobody without a key.
        capabilities: What a model takes, by its name.
        max_tokens: The field of the answer's bound.
        usage_option: Whether it must be asked for the usage, and takes that.
        auto_only: Whether a tool's use can not be forced; forbidding it then means to show no tools.
        empty_content: What stands beside tool calls where the model said nothing.
        sampling_range: Lower and upper bound of ``temperature`` and ``top_p``; None where they are OpenAI's own.
        thoughts_back: Whether a message's ``reasoning_content`` is sent back: ``never``; ``own``, where there is
            some of its own; ``always``, for it refuses messages without the field.
        thinking_switch: Whether thinking is turned on and off by ``thinking: {type}``.
        efforts: Words of ``reasoning_effort``; an effort without one is not told.
        raw_base64: Whether pictures go as bare base64 rather than as ``data:`` URLs.
        schema: How a response schema is enforced.
        id_limit: How long a call's id may be, in characters.
    """

    provider: str
    base_url: str
    key_variables: tuple[str, ...]
    needs_key: bool = True
    capabilities: Callable[[str], Capabilities]
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage_option: bool = True
    auto_only: bool = False
    empty_content: str | None = None
    sampling_range: tuple[float, float] | None = None
    thoughts_back: Literal["never", "own", "always"] = "never"
    thinking_switch: bool = False
    efforts: Mapping[Effort, str] = EFFORTS
    raw_base64: bool = False
    schema: Literal["json_schema", "json_object"] = "json_schema"
    id_limit: int = 64


OPENAI = Profile(
    provider="openai",
    base_url="https://api.openai.com/v1",
    key_variables=("OPENAI_API_KEY",),
    capabilities=openai_capabilities,
    max_tokens="max_completion_tokens",
    id_limit=40,
)

COMPATIBLE = Profile(
    provider="openai",
    base_url="",
    # Never OpenAI's own key: the server is somebody else's.
    key_variables=("OPENAI_COMPATIBLE_API_KEY",),
    needs_key=False,
    capabilities=compatible_capabilities,
)
"""Any other server with that wire, of which nothing is known."""
