"""Histories as they come out of long lives: trimmed, cancelled, of several houses, with what models should not do."""

from __future__ import annotations

from hypothesis import strategies as st

from roles_runtime.llm.calls import ConsoleResult, FunctionCall, Reasoning, ToolCall, ToolReturn
from roles_runtime.llm.message import (
    AssistantTextMessage,
    ConsoleMessage,
    FunctionMessage,
    HistoryMessage,
    IntermediateTrace,
    Message,
    MultiPartMessage,
    SystemMessage,
    TextMessage,
    ToolMessage,
    UnknownMessage,
)
from roles_runtime.llm.parts import AudioPart, FilePart, ImagePart, Media, MediaPart, TextPart, VideoPart, part_of
from roles_runtime.llm.request import LLMRequest, ToolSpec

NOW_TS = 1_000

PNG, PDF = b"\x89PNG\r\n\x1a\n", b"%PDF-1.7"

texts = st.sampled_from(["", " ", "\n", "Hello", "東京 🌧", "\ud83d", "a" * 200, '{"json": true}', "\x00", " padded "])

ids = st.sampled_from(["c1", "c2", "c3", "", "functions.f:0", "call " + "x" * 80, "gemini-1", "調用", "call-1"])

names = st.sampled_from(["weather", "now", "", "a b", "functions.now", "天气", "9lives", "x" * 100, "-"])

arguments = st.sampled_from(
    ["{}", "", " ", '{"city":"東京"}', '{"city":"Par', '{"a":1}{"b":2}', "[1]", "null", '{"a": NaN}', '{"s":"\\ud83d"}']
)

media = st.sampled_from(
    [
        Media(data=PNG),
        Media(data=b"GIF89a"),
        Media(data=b"BM-a-bitmap"),
        Media(data=PDF, name="a.pdf"),
        Media(data=b"RIFF0000WAVE"),
        Media(data=b"OggS"),
        Media(data=b"0000ftypisom"),
        Media(data=b"", mime="image/png"),
        Media(data=b"strange"),
        Media(data=b"a,b", mime="text/csv", name="a.csv"),
        Media(url="https://example.com/a.png", mime="image/png"),
        Media(url="https://example.com/a.pdf", mime="application/pdf"),
        Media(url="https://example.com/a"),
    ]
)


@st.composite
def media_parts(draw: st.DrawFn) -> MediaPart:
    """Media of its own kind, or handed on as another."""
    held, detail = draw(media), draw(texts)
    kind = draw(st.sampled_from([part_of, ImagePart, FilePart, AudioPart, VideoPart]))
    return part_of(held, detail) if kind is part_of else kind(media=held, detail=detail)


calls = st.builds(ToolCall, call_id=ids, name=names, arguments=arguments)


@st.composite
def returns(draw: st.DrawFn, call: ToolCall) -> ToolReturn:
    """What came of that call."""
    attachments = draw(st.lists(media_parts(), max_size=2))
    return ToolReturn(
        call_id=call.call_id,
        name=call.name,
        result=draw(texts),
        is_error=draw(st.booleans()),
        attachments=tuple(attachments),
    )


@st.composite
def thoughts(draw: st.DrawFn) -> Reasoning:
    """A thought of some house, with what that house wants back, or without."""
    number = draw(st.integers(0, 10**9))
    house = draw(
        st.sampled_from(
            [
                ("", {}),
                ("anthropic", {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),
                ("anthropic", {"type": "thinking", "thinking": "", "signature": "c2ln"}),
                ("anthropic", {"type": "thinking", "thinking": "Hm.", "signature": ""}),
                ("anthropic", {"type": "redacted_thinking", "data": "ZA=="}),
                ("anthropic", {}),
                ("openai-responses", {"type": "reasoning", "id": f"rs_{number}", "summary": [],
                                      "encrypted_content": "gA"}),
                ("openai-responses", {}),
                ("gemini", {"place": "thought", "thoughtSignature": "c2ln"}),
                ("gemini", {"place": "thought"}),
                ("gemini", {"place": "call", "thoughtSignature": "c2ln"}),
                ("gemini", {"place": "text", "thoughtSignature": "c2ln", "chars": 0}),
                ("gemini", {"place": "text", "thoughtSignature": "c2ln", "chars": 3}),
                ("zhipu", {}),
                ("deepseek", {}),
            ]
        )
    )  # fmt: skip
    return Reasoning(
        text=draw(st.sampled_from(["", "Hm.", "So."])),
        origin=house[0],
        payload=house[1],
        after_chars=draw(st.sampled_from([0, 0, 3, 999])),
        after_calls=draw(st.sampled_from([0, 0, 1, 9])),
    )


@st.composite
def steps(draw: st.DrawFn) -> list[Message]:
    """Up to three calls at once and what came of them: all of it, a part, in any order, twice, or nothing."""
    called = draw(st.lists(calls, max_size=3))
    said = AssistantTextMessage(
        content=draw(texts),
        tool_calls=tuple(called),
        reasoning=tuple(draw(st.lists(thoughts(), max_size=2))),
        create_ts=NOW_TS,
    )
    came = [draw(returns(each)) for each in called]
    if draw(st.booleans()):
        came = draw(st.permutations(came))[: draw(st.integers(0, len(came)))]
    if draw(st.booleans()):
        return [said, ToolMessage(tool_reses=tuple(came))]
    apart: list[Message] = [ToolMessage(tool_reses=(each,)) for each in came]
    if draw(st.booleans()):
        apart.insert(draw(st.integers(0, len(apart))), draw(plain_messages))
    return [said, *apart]


plain_messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(TextMessage, content=texts, create_ts=st.just(NOW_TS)),
    st.builds(SystemMessage, content=texts),
    st.builds(AssistantTextMessage, content=texts),
    st.builds(MultiPartMessage, content=st.lists(st.builds(TextPart, text=texts) | media_parts(), max_size=3)),
    st.builds(FunctionMessage, function_call=st.just(FunctionCall(name="old", arguments="{}")), function_res=texts),
    st.builds(
        ConsoleMessage,
        console_reses=st.lists(
            st.builds(ConsoleResult, result=texts, attachments=st.lists(media_parts(), max_size=1)), max_size=2
        ),
    ),
    st.builds(
        ToolMessage, tool_reses=st.lists(st.builds(ToolReturn, call_id=ids, name=names, result=texts), max_size=2)
    ),
    st.builds(HistoryMessage, content=st.lists(st.builds(TextMessage, content=texts, creator=texts), max_size=2)),
    st.builds(UnknownMessage, role=st.just("narrator"), msg_type=st.just("aside"), content=texts),
    st.builds(
        UnknownMessage,
        role=st.just("assistant"),
        msg_type=st.just("song"),
        content=texts,
        tool_calls=st.lists(calls, max_size=1),
    ),
)


@st.composite
def traced(draw: st.DrawFn) -> list[Message]:
    """A message that its turn's trace hangs on."""
    records = [each for step in draw(st.lists(steps(), max_size=2)) for each in step]
    return [TextMessage(content=draw(texts), intermediate_trace=IntermediateTrace(records=tuple(records)))]


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """A whole conversation, or what trimming left of it."""
    groups = draw(st.lists(steps() | traced() | plain_messages.map(lambda each: [each]), max_size=6))
    whole: list[Message] = [each for group in groups for each in group]
    if draw(st.booleans()):
        whole.insert(0, SystemMessage(content=draw(texts)))
    start = draw(st.integers(0, len(whole))) if draw(st.booleans()) else 0
    return tuple(whole[start:])


_TOOLS = tuple(
    ToolSpec(name, description, {"type": "object", "properties": {}})
    for name, description in (("weather", "Of a city."), ("now", ""))
)

requests: st.SearchStrategy[LLMRequest] = st.builds(
    LLMRequest,
    messages=histories(),
    tools=st.sampled_from([(), _TOOLS]),
    response_schema=st.sampled_from([None, {"title": "Planner", "type": "object", "properties": {}}]),
    temperature=st.sampled_from([None, 0.0, 1.0]),
    max_tokens=st.sampled_from([None, 1, 5000]),
    top_p=st.sampled_from([None, 0.5]),
    tool_choice=st.sampled_from(["auto", "none", "required"]),
    effort=st.sampled_from([None, "none", "low", "medium", "high"]),
)
