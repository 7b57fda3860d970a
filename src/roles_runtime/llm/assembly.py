"""From a request to a provider's body, in named phases.

1. `construct_prompt_context`: the traces that hang on messages take their place among them.
2. `Adapter.configure_api_params`: the body's fields beside messages and tools.
3. `format_to_request_msgs`: each Message as what every provider has to say somehow.
4. `flatten_and_merge` (merging.py): one list without gaps, whatever the history was; kept under the window.
5. `Adapter.reformat_request_msg_to_api`: the provider's own messages.
6. `Adapter.assemble_api_request`: the whole body.
7. `validate_wire`: nothing is sent that the provider would refuse or misread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from roles_runtime.llm.adapter import Adapter
from roles_runtime.llm.base_message import BaseMessage
from roles_runtime.llm.llm_message import LLMMessage
from roles_runtime.llm.merging import flatten_and_merge
from roles_runtime.llm.message import Message, SystemMessage, UserMessage
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import LLMRequest
from roles_runtime.llm.validate import validate_wire
from roles_runtime.llm.window import kept_under


class PromptContext(msgspec.Struct, frozen=True):
    """What is to be told, with every trace in its place.

    Attributes:
        system: The instructions at the beginning; empty where the provider has them among the messages.
        messages: The rest, in order.
    """

    system: str
    messages: tuple[Message, ...]


def assemble(adapter: Adapter, request: LLMRequest) -> JsonObject:
    """The body that asks this.

    Raises:
        MessageError: a message does not say what a model is told by it.
        WireError: the provider would refuse or misread the body.
    """
    context = construct_prompt_context(request.messages, system_apart=adapter.capabilities.system_param)
    params = adapter.configure_api_params(request, context.system)
    told = format_to_request_msgs(context.messages)
    merged = flatten_and_merge(told, adapter.capabilities, adapter.fit_call_id)
    merged = kept_under(adapter.capabilities.context_window, merged, request, context.system)
    body = adapter.assemble_api_request(params, adapter.reformat_request_msg_to_api(merged), request)
    validate_wire(adapter.name, adapter.wire, body)
    return body


def construct_prompt_context(messages: Sequence[Message], *, system_apart: bool) -> PromptContext:
    """Puts traces in their place and, where asked to, the leading instructions apart."""
    leading = 0
    while system_apart and leading < len(messages) and isinstance(messages[leading], SystemMessage):
        leading += 1
    system = "\n\n".join(message.text for message in messages[:leading] if message.text.strip())
    return PromptContext(system, tuple(_expanded(messages[leading:])))


def _expanded(messages: Iterable[Message]) -> Iterable[Message]:
    for message in messages:
        trace = message.intermediate_trace if isinstance(message, UserMessage) else None
        if trace is None:
            yield message
            continue
        yield from (each for each in trace.records if each.create_ts < message.create_ts)
        yield message
        yield from (each for each in trace.records if each.create_ts >= message.create_ts)


def format_to_request_msgs(messages: Iterable[BaseMessage]) -> list[tuple[LLMMessage, ...]]:
    """Each message as what is told by it."""
    return [message.to_llm_request() for message in messages]
