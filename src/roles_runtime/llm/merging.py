"""One list that every provider takes, whatever the history was: trimmed, cancelled, of several speakers or houses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from roles_runtime.llm.adapter import Capabilities
from roles_runtime.llm.calls import Reasoning, ToolCall, arguments_of
from roles_runtime.llm.llm_message import (
    LLMAssistantMessage,
    LLMMessage,
    LLMPart,
    LLMSystemMessage,
    LLMToolMessage,
    LLMUserMessage,
    WireMessage,
)
from roles_runtime.llm.parts import MediaPart, TextPart, mend_surrogates, part_of

CANCELLED = "This call was cancelled before it gave a result."
"""What a call is answered with that nobody answered."""

GO_ON = "Go on."
"""What the user says where a provider must hear the user and the history has nothing."""

_MAX_NAME = 64
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""A tool's name that every provider takes."""

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")

FitCallId = Callable[[str], str]


def flatten_and_merge(
    told: Iterable[tuple[LLMMessage, ...]], capabilities: Capabilities, fit_call_id: FitCallId
) -> list[WireMessage]:
    """Flattens what the messages say, and mends it.

    Consoles and functions speak as the user; so do later instructions where the model takes none inside. Empty texts
    go. Media that the model does not take are told in words. Each call is answered right after its message, once and in
    order: a result that was pushed away is fetched, a missing one says that the call was cancelled, one without its
    call becomes the user's text. Ids are unique. Neighbours of one speaker become one message. The user speaks first
    and last.
    """
    said = (each for group in told for message in group for each in _spoken(message, capabilities))
    spoken = [*_instructed(said, capabilities)]
    paired = _paired(spoken, capabilities, _Ids(fit_call_id)) if capabilities.tools else map(_in_words, spoken)
    return _user_first_and_last(_merged(paired))


def _spoken(message: LLMMessage, capabilities: Capabilities) -> Iterator[WireMessage]:
    match message:
        case LLMUserMessage(parts):
            taken = tuple(_taken(part, capabilities) for part in parts if not _is_empty(part))
            if taken:
                yield LLMUserMessage(taken)
            return
    # Parts are mended when they are made, plain texts of somebody's own message may not be.
    text = mend_surrogates(message.text)
    match message:
        case LLMToolMessage():
            yield msgspec.structs.replace(message, text=text)
        case LLMAssistantMessage(tool_calls=calls):
            if calls or text.strip():
                yield msgspec.structs.replace(message, text=text if text.strip() else "")
        case LLMSystemMessage():
            if text.strip():
                yield LLMSystemMessage(text)
        case _:
            if text.strip():
                yield _user(text)


def _instructed(spoken: Iterable[WireMessage], capabilities: Capabilities) -> Iterator[WireMessage]:
    """Instructions where the model takes them, elsewhere as the user's text."""
    leading = not capabilities.system_param
    for message in spoken:
        leading = leading and isinstance(message, LLMSystemMessage)
        if isinstance(message, LLMSystemMessage) and not (leading or capabilities.system_inside):
            yield _user(message.text)
        else:
            yield message


def _user(text: str) -> LLMUserMessage:
    return LLMUserMessage((TextPart(text=text),))


def _is_empty(part: LLMPart) -> bool:
    return isinstance(part, TextPart) and not part.text.strip()


def _taken(part: LLMPart, capabilities: Capabilities, *, tool: bool = False) -> LLMPart:
    if isinstance(part, TextPart):
        return part
    media = part.media
    if media.data == b"" or not capabilities.takes(media.mime, url=media.url is not None, tool=tool):
        return TextPart(text=part.words)
    # Providers tell a picture from a file by its type, whatever it was handed on as.
    return part if media.kind == part.type else part_of(media, part.detail)


def _in_words(message: WireMessage) -> WireMessage:
    """Calls and results as text, for a model that knows no tools."""
    if isinstance(message, LLMToolMessage):
        return _user(f"[result of {message.name}] {message.text}")
    if isinstance(message, LLMAssistantMessage) and message.tool_calls:
        calls = "\n".join(f"[called {each.name} with {each.arguments}]" for each in message.tool_calls)
        return LLMAssistantMessage("\n".join(filter(None, (message.text, calls))), (), message.reasoning)
    return message


class _Ids:
    """Ids as a provider takes them, no two alike in one request."""

    def __init__(self, fit: FitCallId) -> None:
        self._fit = fit
        self._taken: set[str] = set()

    def fresh(self, call_id: str) -> str:
        fitting = self._fit(call_id)
        number = len(self._taken)
        while not fitting or fitting in self._taken:
            number += 1
            fitting = self._fit(f"call-{number}")
        self._taken.add(fitting)
        return fitting


def _paired(spoken: list[WireMessage], capabilities: Capabilities, ids: _Ids) -> Iterator[WireMessage]:
    claimed: set[int] = set()
    for index, message in enumerate(spoken):
        if isinstance(message, LLMToolMessage):
            if index not in claimed:
                yield _user(f"[result of {message.name or 'a tool'}, whose call is not shown] {message.text}")
        elif isinstance(message, LLMAssistantMessage) and message.tool_calls:
            yield from _answered(message, _results(spoken, index, claimed), capabilities, ids)
        else:
            yield message


def _results(spoken: list[WireMessage], index: int, claimed: set[int]) -> list[LLMToolMessage | None]:
    """The result of each call, from what follows until the model speaks again; by id, the first one counts."""
    message = spoken[index]
    assert isinstance(message, LLMAssistantMessage)
    found: list[LLMToolMessage | None] = [None] * len(message.tool_calls)
    for later in range(index + 1, len(spoken)):
        each = spoken[later]
        if isinstance(each, LLMAssistantMessage):
            break
        if isinstance(each, LLMToolMessage):
            for place, call in enumerate(message.tool_calls):
                if found[place] is None and call.call_id == each.call_id:
                    found[place] = each
                    claimed.add(later)
                    break
    return found


def _answered(
    message: LLMAssistantMessage,
    results: list[LLMToolMessage | None],
    capabilities: Capabilities,
    ids: _Ids,
) -> Iterator[WireMessage]:
    calls = tuple(_replayable(call, ids.fresh(call.call_id)) for call in message.tool_calls)
    yield LLMAssistantMessage(message.text, calls, message.reasoning)
    shown: list[LLMPart] = []
    for call, result in zip(calls, results, strict=True):
        if result is None:
            yield LLMToolMessage(call.call_id, call.name, CANCELLED, is_error=True)
            continue
        inside: list[MediaPart] = []
        for part in result.parts:
            taken = _taken(part, capabilities, tool=True)
            if not isinstance(taken, TextPart):
                inside.append(taken)
            else:
                shown += (TextPart(text=f"From the result of {call.name}:"), _taken(part, capabilities))
        yield LLMToolMessage(call.call_id, call.name, result.text, result.is_error, tuple(inside))
    if shown:
        yield LLMUserMessage(tuple(shown))


def _replayable(call: ToolCall, call_id: str) -> ToolCall:
    """The call as every provider takes it back: with a name that is one, and arguments that are a JSON object.

    A model may have called what is no tool; the name that it invented is in the call's result.
    """
    name = call.name if _NAME.fullmatch(call.name) else _plain(call.name)
    arguments = msgspec.json.encode(arguments_of(call)).decode()
    return ToolCall.model_construct(call_id=call_id, name=name, arguments=arguments)


def _plain(name: str) -> str:
    plain = _NO_NAME.sub("_", name)[:_MAX_NAME]
    return plain if _NAME.fullmatch(plain) else f"_{plain}"[:_MAX_NAME]


def _merged(messages: Iterable[WireMessage]) -> list[WireMessage]:
    merged: list[WireMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if isinstance(message, LLMUserMessage) and isinstance(last, LLMUserMessage):
            merged[-1] = LLMUserMessage(last.parts + message.parts)
        elif isinstance(message, LLMSystemMessage) and isinstance(last, LLMSystemMessage):
            merged[-1] = LLMSystemMessage(f"{last.text}\n\n{message.text}")
        elif isinstance(message, LLMAssistantMessage) and isinstance(last, LLMAssistantMessage):
            merged[-1] = _joined(last, message)
        else:
            merged.append(message)
    return merged


def _joined(first: LLMAssistantMessage, second: LLMAssistantMessage) -> LLMAssistantMessage:
    gap = "\n\n" if first.text and second.text else ""
    before = len(first.text) + len(gap)
    moved = tuple(
        Reasoning.model_construct(
            text=each.text,
            origin=each.origin,
            payload=each.payload,
            after_chars=each.after_chars + before,
            after_calls=each.after_calls,
        )
        for each in second.reasoning
    )
    return LLMAssistantMessage(first.text + gap + second.text, second.tool_calls, first.reasoning + moved)


def _user_first_and_last(messages: list[WireMessage]) -> list[WireMessage]:
    start = next((i for i, each in enumerate(messages) if not isinstance(each, LLMSystemMessage)), len(messages))
    if start == len(messages) or not isinstance(messages[start], LLMUserMessage):
        messages.insert(start, _user(GO_ON))
    if isinstance(messages[-1], LLMAssistantMessage | LLMSystemMessage):
        messages.append(_user(GO_ON))
    return messages
