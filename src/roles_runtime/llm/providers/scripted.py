"""A model that replays given answers: for tests, for recordings, and to see a team work without any LLM."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeAlias

import anyio
import msgspec

from roles_runtime.errors import DocumentError, ModelError
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.message import Message, UserMessage
from roles_runtime.llm.model import Chunk, Finish, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.options import ProviderOptions, take_none
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.documents import read_text, read_yaml

Step: TypeAlias = Chunk | Exception
Scripted: TypeAlias = str | Sequence[Step] | Exception
"""A text, streamed in small pieces; chunks as they are, a last `Finish` included; or an error to raise, which may also
stand among the chunks."""

ScriptedReply: TypeAlias = Scripted | Callable[[LLMRequest], Scripted]
"""An answer, or what makes one from the request."""

Script: TypeAlias = Sequence[ScriptedReply] | Mapping[str, Sequence[ScriptedReply]]
"""Answers in order; of one role, or of each by its name or kind (``*`` is for those that are not named)."""

_PIECE = 8  # characters; small enough that a reader sees values grow, and keys cut in the middle


def names_of(request: LLMRequest) -> tuple[str, ...]:
    """Who asks, as a script may call it: the creator of the system message, or the title of the response schema."""
    creators = [message.creator for message in request.messages[:1] if message.role == "system"]
    title = (request.response_schema or {}).get("title")
    return tuple(name for name in (*creators, title) if isinstance(name, str) and name)


def position_of(request: LLMRequest) -> int:
    """How many answers of the model the request already holds: its assistant messages, examples not counted.

    Examples come before the conversation: their messages are made by nobody of the team and bear no creator. What
    earlier turns called stands in the trace of the message that they answered.
    """
    told = [message for each in request.messages for message in (each, *_traced(each))]
    return sum(message.role == "assistant" and message.creator != "" for message in told)


def _traced(message: Message) -> tuple[Message, ...]:
    trace = message.intermediate_trace if isinstance(message, UserMessage) else None
    return () if trace is None else trace.records


class ScriptedModel:
    """Replays answers.

    Which answer comes follows from the request alone (`names_of`, `position_of`): the first time a role asks it gets
    its first answer, and so on. So one object serves any number of sessions side by side, and a session that is
    restored goes on where it stood. What leaves no trace in later requests is not counted: an empty answer, an error,
    a round that failed. For these there is ``sequential``.

    Attributes:
        requests: What was asked, in order; kept in sequential mode only.
    """

    writes_code = False

    def __init__(
        self, replies: Script, *, name: str = "scripted", sequential: bool = False, delay_s: float = 0.0
    ) -> None:
        """Takes the script.

        Args:
            replies: The answers.
            name: Under which it is known.
            sequential: Give one answer after the other, whatever is asked. The position is then the object's own
                state, so that it serves one session and no more.
            delay_s: Seconds before each answer.
        """
        self.name = name
        self.requests: list[LLMRequest] = []
        self._replies: Mapping[str, Sequence[ScriptedReply]] = (
            replies if isinstance(replies, Mapping) else {"*": replies}
        )
        self._sequential, self._delay_s = sequential, delay_s
        self._given: Counter[str] = Counter()

    @classmethod
    def from_name(cls, model: str, options: ProviderOptions | None = None) -> Self:
        """Reads a script: ``scripted:path/to/script.yaml`` (or ``.json``), a list of answers for each role.

        An answer is a text; an object with ``response``, which is sent as JSON; one with ``tool_calls``, a list of
        ``{name, arguments}``; or one with ``error``, a text. Beside the roles there may be ``delay_s``: how many
        seconds each answer takes.

        Raises:
            ModelError: the file is missing, too large, or no script; it says where.
        """
        take_none("scripted", options)
        name = f"scripted:{model}"
        if not model:
            raise ModelError("scripted", "it needs a script: scripted:path/to/script.yaml.")
        try:
            is_json = model.endswith(".json")
            document: object = msgspec.json.decode(read_text(Path(model))) if is_json else read_yaml(model)
        except (msgspec.DecodeError, DocumentError) as error:
            raise ModelError(name, f"the script can not be used: {error}") from error
        delay_s = _delay_s(name, document)
        return cls(_script(name, document), name=name, delay_s=delay_s)

    async def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        """The answer whose turn it is.

        Raises:
            ModelError: the script has no more answers for that role.
        """
        scripted = self._pick(request)
        if self._delay_s:
            await anyio.sleep(self._delay_s)
        for step in _steps(scripted):
            if isinstance(step, Exception):
                # The object stands in the script: each raise starts its traceback anew.
                raise step.with_traceback(None)
            yield step

    def _pick(self, request: LLMRequest) -> Scripted:
        names = names_of(request)
        key = next((name for name in names if name in self._replies), "*")
        replies = self._replies.get(key, ())
        position = position_of(request)
        if self._sequential:
            position = self._given[key]
            self._given[key] += 1
            self.requests.append(request)
        if position >= len(replies):
            who = names[0] if names else "this role"
            raise ModelError(self.name, f"the script has {len(replies)} answers for {who}, and was asked for one more.")
        reply = replies[position]
        return reply(request) if callable(reply) else reply


def _steps(scripted: Scripted) -> Sequence[Step]:
    if isinstance(scripted, Exception):
        return (scripted,)
    if not isinstance(scripted, str):
        return scripted
    pieces = [TextChunk(scripted[start : start + _PIECE]) for start in range(0, len(scripted), _PIECE)]
    return (*pieces, Finish("stop", Usage(calls=1)))


def _delay_s(name: str, document: object) -> float:
    """Takes the delay out of a script, where it has one."""
    delay_s = document.pop("delay_s", 0.0) if isinstance(document, dict) else 0.0
    if isinstance(delay_s, bool) or not isinstance(delay_s, int | float) or not 0 <= delay_s <= 60:
        raise ModelError(name, f"delay_s is a number of seconds, from 0 to 60, not {delay_s!r}.")
    return float(delay_s)


def _script(name: str, document: object) -> Script:
    if isinstance(document, list):
        return [_reply(name, f"answer {index}", each) for index, each in enumerate(document, 1)]
    if not isinstance(document, dict) or not all(isinstance(replies, list) for replies in document.values()):
        raise ModelError(name, "the script must hold a list of answers for each role.")
    return {
        str(role): [_reply(name, f"{role}, answer {index}", each) for index, each in enumerate(replies, 1)]
        for role, replies in document.items()
    }


def _reply(name: str, where: str, answer: object) -> Scripted:
    match answer:
        case str():
            return answer
        case {"response": dict()}:
            return msgspec.json.encode(answer).decode()
        case {"error": str(problem)}:
            return ModelError(name, problem)
        case {"tool_calls": [*calls]}:
            chunks = [ToolCallChunk(_call(name, where, index, each)) for index, each in enumerate(calls)]
            return (*chunks, Finish("tool_calls", Usage(calls=1)))
    raise ModelError(name, f"{where}: it must be a text, or an object with response, tool_calls or error.")


def _call(name: str, where: str, index: int, call: object) -> ToolCall:
    match call:
        case {"name": str(tool), "arguments": dict(arguments)}:
            given: JsonObject = arguments
            return ToolCall(call_id=f"call-{index}", name=tool, arguments=msgspec.json.encode(given).decode())
        case {"name": str(tool), "arguments": str(text)}:
            return ToolCall(call_id=f"call-{index}", name=tool, arguments=text)
    raise ModelError(name, f"{where}: a tool call needs a name and arguments.")
