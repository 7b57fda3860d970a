"""What every adapter is asked in these tests, and how its answer is looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from roles_runtime.llm.adapter import StreamReader
from roles_runtime.llm.calls import Reasoning, ToolCall, ToolReturn
from roles_runtime.llm.message import (
    AssistantTextMessage,
    MultiPartMessage,
    SystemMessage,
    TextMessage,
    ToolMessage,
)
from roles_runtime.llm.model import Chunk
from roles_runtime.llm.parts import FilePart, ImagePart, JsonObject, Media, TextPart
from roles_runtime.llm.request import LLMRequest, ToolSpec

PNG = b"\x89PNG\r\n\x1a\n....."
PDF = b"%PDF-1.7 ....."

WEATHER = ToolSpec(
    "weather",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)

SCHEMA: JsonObject = {
    "title": "Planner",
    "type": "object",
    "properties": {"to": {"type": "string", "minLength": 1}, "step": {"const": "plan"}},
    "required": ["to"],
}

QUESTION = TextMessage(content="Where is it warmer, in 東京 or in Paris? 🌡️")


def asked(*messages: object, **fields: object) -> LLMRequest:
    """A request of a question, or of these messages."""
    told = messages or (SystemMessage(content="You know the weather."), QUESTION)
    return LLMRequest(told, **fields)


def trip(*thoughts: Reasoning, tools: tuple[ToolSpec, ...] = (WEATHER,)) -> LLMRequest:
    """A question with a picture and a file, two calls side by side, a result with a picture, one that failed."""
    return asked(
        SystemMessage(content="You know the weather."),
        MultiPartMessage(
            content=(
                TextPart(text="Where is it warmer?"),
                ImagePart(media=Media(data=PNG), detail="A map."),
                FilePart(media=Media(data=PDF, name="cities.pdf"), detail="A list of cities."),
            )
        ),
        AssistantTextMessage(
            content="I look. Both.",
            reasoning=(Reasoning(text="another house's", origin="elsewhere", payload={"key": "x"}), *thoughts),
            tool_calls=(
                ToolCall(call_id="call_1", name="weather", arguments='{"city": "東京"}'),
                ToolCall(call_id="call_2", name="weather", arguments=""),
            ),
        ),
        ToolMessage(
            tool_reses=(
                ToolReturn(
                    call_id="call_1", name="weather", result="21 °C", attachments=(ImagePart(media=Media(data=PNG)),)
                ),
                ToolReturn(call_id="call_2", name="weather", result="Which city?", is_error=True),
            )
        ),
        tools=tools,
    )


def read(reader: StreamReader, pieces: Iterable[bytes]) -> list[Chunk]:
    """All that a reader makes of a stream."""
    chunks = [chunk for piece in pieces for chunk in reader.feed(piece)]
    return chunks if chunks and type(chunks[-1]).__name__ == "Finish" else [*chunks, *reader.close()]


def same_however_cut(make: Callable[[], StreamReader], stream: bytes) -> list[Chunk]:
    """The chunks of a stream; they are the same at every cut, inside a letter too, and byte by byte."""
    whole = read(make(), [stream])
    for cut in range(1, len(stream)):
        assert read(make(), [stream[:cut], stream[cut:]]) == whole, cut
    assert read(make(), [stream[i : i + 1] for i in range(len(stream))]) == whole
    return whole


def counter(prefix: str) -> Callable[[], str]:
    """Gives ids by number."""
    given: list[None] = []

    def give() -> str:
        given.append(None)
        return f"{prefix}{len(given)}"

    return give


def golden(name: str, body: JsonObject) -> None:
    """Holds a body to the file that says how it looks on the wire."""
    path = Path(__file__).parent / "golden" / f"{name}.json"
    assert body == json.loads(path.read_text(encoding="utf-8")), f"{name}: {json.dumps(body, ensure_ascii=False)}"
