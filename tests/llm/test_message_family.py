"""The family survives JSON as itself, at any depth, whoever wrote it and whenever."""

from __future__ import annotations

import ast
from enum import Enum
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

import roles_runtime
from roles_runtime.errors import MessageError
from roles_runtime.llm.base_message import BaseMessage
from roles_runtime.llm.calls import ConsoleResult, FunctionCall, Reasoning, ToolCall, ToolReturn
from roles_runtime.llm.discriminator import register_message
from roles_runtime.llm.llm_message import (
    LLMAssistantMessage,
    LLMFunctionMessage,
    LLMMessage,
    LLMSystemMessage,
    LLMTFLMessage,
    LLMToolMessage,
    LLMUserMessage,
)
from roles_runtime.llm.message import (
    AssistantTextMessage,
    AttachmentMessage,
    AudioMessage,
    ConsoleMessage,
    ContactMessage,
    FunctionMessage,
    HistoryMessage,
    ImageMessage,
    IntermediateTrace,
    Message,
    MultiPartMessage,
    SystemMessage,
    TextMessage,
    ToolMessage,
    UnknownMessage,
    UrlMessage,
    UserMessage,
    VideoMessage,
)
from roles_runtime.llm.parts import (
    AudioPart,
    Contact,
    FilePart,
    ImagePart,
    Link,
    Media,
    TextPart,
    VideoPart,
    part_of,
    sniff,
)

MESSAGE = TypeAdapter(Message)
MESSAGES = TypeAdapter(list[Message])

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
CALL = ToolCall(call_id="c1", name="add", arguments='{"a": 1}')
RETURN = ToolReturn(
    call_id="c1", name="add", result="1", is_error=True, attachments=(ImagePart(media=Media(data=PNG)),)
)
THOUGHT = Reasoning(text="so", origin="anthropic", payload={"signature": "x"}, after_chars=2)

FAMILY: list[BaseMessage] = [
    SystemMessage(content="be brief"),
    TextMessage(content="hello", creator="User", additional_kwargs={"mood": ["good"]}),
    ImageMessage(content=ImagePart(media=Media(data=PNG), detail="a cat")),
    AudioMessage(content=AudioPart(media=Media(data=b"ID3aaaa"))),
    VideoMessage(content=VideoPart(media=Media(url="https://example.org/a.mp4", mime="video/mp4"))),
    AttachmentMessage(content=FilePart(media=Media(data=b"%PDF-1.7", name="a.pdf"))),
    ContactMessage(content=Contact(name="Ada", email="ada@example.org")),
    UrlMessage(content=Link(url="https://example.org", title="Example")),
    MultiPartMessage(content=(TextPart(text="see"), ImagePart(media=Media(data=PNG)))),
    HistoryMessage(content=(TextMessage(content="q"), AssistantTextMessage(content="a", tool_calls=(CALL,)))),
    AssistantTextMessage(content="ok", reasoning=(THOUGHT,), tool_calls=(CALL,), tfl_scripts=("run()",)),
    ToolMessage(tool_reses=(RETURN,)),
    ConsoleMessage(console_reses=(ConsoleResult(result="3", summary_result="3", attachments=("a.png",), trace="c"),)),
    FunctionMessage(function_call=FunctionCall(name="f", arguments="{}"), function_res="done"),
]


def name_of(message: BaseMessage) -> str:
    return type(message).__name__


@pytest.mark.parametrize("message", FAMILY, ids=name_of)
def test_instances_python_dicts_and_json_all_become_the_same_class(message: BaseMessage) -> None:
    from_json = MESSAGE.validate_json(message.model_dump_json())
    from_dict = MESSAGE.validate_python(message.model_dump())
    from_json_dict = MESSAGE.validate_python(message.model_dump(mode="json"))
    for restored in (MESSAGE.validate_python(message), from_json, from_dict, from_json_dict):
        assert type(restored) is type(message)
        assert restored == message


@pytest.mark.parametrize("message", FAMILY, ids=name_of)
def test_a_class_is_restored_at_any_depth(message: BaseMessage) -> None:
    trace = IntermediateTrace.model_validate({"records": [message.model_dump()]})
    deep = TextMessage(intermediate_trace=IntermediateTrace(records=(HistoryMessage(content=trace.records),)))
    restored = TextMessage.model_validate_json(deep.model_dump_json())
    assert restored.intermediate_trace is not None
    history = restored.intermediate_trace.records[0]
    assert isinstance(history, HistoryMessage)
    assert type(history.content[0]) is type(message)
    assert history.content[0] == message


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"role": "user", "content": "old"}, TextMessage),
        ({"role": "user", "content": [{"type": "text", "text": "old"}]}, MultiPartMessage),
        ({"role": "assistant", "content": "old", "reasoning": "because"}, AssistantTextMessage),
        ({"role": "system", "content": "old"}, SystemMessage),
        ({"role": "tool", "tool_reses": [{"call_id": "1", "name": "f", "result": "r"}]}, ToolMessage),
        ({"role": "console", "console_reses": [{"result": "r"}]}, ConsoleMessage),
        ({"role": "function", "function_res": "r"}, FunctionMessage),
    ],
)
def test_an_old_record_without_a_type_is_upgraded_and_can_be_told(
    record: dict[str, object], expected: type[BaseMessage]
) -> None:
    message = MESSAGE.validate_python(record)
    assert type(message) is expected
    assert message.to_llm_request()


def test_reasoning_that_was_one_text_becomes_one_piece() -> None:
    message = MESSAGE.validate_json('{"role":"assistant","msg_type":"text","reasoning":"because"}')
    assert isinstance(message, AssistantTextMessage)
    assert message.reasoning == (Reasoning(text="because"),)
    assert message.reasoning_content == "because"


@pytest.mark.parametrize("role", ["user", "assistant", "tool", "observer"])
def test_an_unknown_type_is_kept_with_all_its_data_and_comes_out_unchanged(role: str) -> None:
    record = {"role": role, "msg_type": "sticker", "content": {"id": 3}, "size": [1, {"deep": None}], "msg_id": "m-1"}
    messages = MESSAGES.validate_python([record])
    assert isinstance(messages[0], UnknownMessage)
    assert MESSAGES.dump_python(messages, mode="json") == [record]
    assert MESSAGES.validate_json(MESSAGES.dump_json(messages)) == messages
    assert messages[0].to_llm_request()


def test_a_field_of_a_later_version_is_kept() -> None:
    record = {"role": "user", "msg_type": "text", "content": "hi", "colour": "blue"}
    restored = MESSAGE.validate_json(MESSAGE.dump_json(MESSAGE.validate_python(record)))
    assert isinstance(restored, TextMessage)
    assert restored.model_extra == {"colour": "blue"}


def test_a_class_of_ones_own_round_trips_like_ours() -> None:
    @register_message
    class PollMessage(UserMessage):
        msg_type: Literal["poll"] = "poll"
        content: tuple[str, ...]

        def to_llm_request(self) -> tuple[LLMMessage, ...]:
            return (LLMUserMessage((TextPart(text=" or ".join(self.content)),)),)

    poll = PollMessage(content=("tea", "coffee"), intermediate_trace=IntermediateTrace(records=(ToolMessage(),)))
    history = HistoryMessage.model_validate({"content": [poll.model_dump()]})
    restored = HistoryMessage.model_validate_json(history.model_dump_json())
    assert isinstance(restored.content[0], PollMessage)
    assert restored.content[0] == poll
    assert register_message(PollMessage) is PollMessage


def test_a_type_that_is_an_enum_is_told_by_its_value() -> None:
    class Kind(str, Enum):  # noqa: UP042  # its str() names the class, which is the trap
        text = "text"

    assert type(MESSAGE.validate_python({"role": "user", "msg_type": Kind.text, "content": "x"})) is TextMessage


def test_a_class_without_a_type_of_its_own_can_not_be_registered() -> None:
    class Nameless(UserMessage):
        pass

    class Second(UserMessage):
        msg_type: Literal["twice"] = "twice"

    class Third(UserMessage):
        msg_type: Literal["twice"] = "twice"

    with pytest.raises(MessageError, match="msg_type of its own"):
        register_message(Nameless)
    register_message(Second)
    with pytest.raises(MessageError, match="is registered as 'user:twice'"):
        register_message(Third)


def test_a_built_in_type_can_not_be_taken() -> None:
    class Mine(UserMessage):
        msg_type: Literal["text"] = "text"

    with pytest.raises(MessageError, match="built in"):
        register_message(Mine)


def test_a_record_without_a_role_says_so() -> None:
    with pytest.raises(ValidationError, match="role"):
        MESSAGE.validate_python({"content": "x"})


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_bare_base_of_a_user_or_an_assistant_refuses_to_be_told(role: Literal["user", "assistant"]) -> None:
    with pytest.raises(MessageError, match="to_llm_request"):
        BaseMessage(role=role, content="x").to_llm_request()


def test_a_bare_base_of_another_role_says_what_it_holds() -> None:
    assert BaseMessage(role="system", content="x").to_llm_request() == (LLMSystemMessage("x"),)
    assert BaseMessage(role="tool", tool_reses=(RETURN,)).to_llm_request() == (
        LLMToolMessage("c1", "add", "1", True, RETURN.attachments),
    )


@pytest.mark.parametrize("message", FAMILY, ids=name_of)
def test_every_message_says_what_a_model_is_told_by_it(message: BaseMessage) -> None:
    assert message.to_llm_request()


def test_what_is_told_is_what_the_message_holds() -> None:
    told = {name_of(message): message.to_llm_request() for message in FAMILY}
    assert told["AssistantTextMessage"] == (LLMAssistantMessage("ok", (CALL,), (THOUGHT,)),)
    assert told["ConsoleMessage"] == (LLMTFLMessage("3"),)
    assert told["FunctionMessage"] == (LLMFunctionMessage("f", "done"),)
    assert told["ContactMessage"] == (LLMUserMessage((TextPart(text="Contact\nname: Ada\nemail: ada@example.org"),)),)
    assert told["HistoryMessage"] == (
        LLMUserMessage(
            (
                TextPart(text="user: q\n"),
                TextPart(text="assistant: a\n"),
                TextPart(text='assistant called add({"a": 1})\n'),
            )
        ),
    )


def test_a_picture_that_a_console_made_follows_its_text() -> None:
    picture = ImagePart(media=Media(data=PNG))
    message = ConsoleMessage(console_reses=(ConsoleResult(result="drawn", attachments=("a.png", picture)),))
    assert message.to_llm_request() == (LLMTFLMessage("drawn"), LLMUserMessage((picture,)))
    assert MESSAGE.validate_json(message.model_dump_json()) == message


def test_no_field_that_crosses_json_is_a_container_of_base_messages() -> None:
    found = []
    for path in Path(roles_runtime.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                found += [
                    f"{path.name}: {ast.unparse(each)}"
                    for each in fields
                    if any(
                        isinstance(name, ast.Name) and name.id == "BaseMessage" for name in ast.walk(each.annotation)
                    )
                    and "ClassVar" not in ast.unparse(each.annotation)
                ]
    assert found == []


def test_a_container_of_base_messages_would_forget_the_classes() -> None:
    """The fault that the test above keeps out."""
    forgetful = TypeAdapter(list[BaseMessage])
    restored = forgetful.validate_json(MESSAGES.dump_json([TextMessage(content="x")]))
    assert type(restored[0]) is BaseMessage
    with pytest.raises(MessageError):
        restored[0].to_llm_request()


@given(st.text(st.characters(codec=None)))
def test_lone_surrogates_are_mended_when_a_message_is_built(text: str) -> None:
    message = AssistantTextMessage(
        content=text,
        reasoning=(Reasoning(text=text, payload={text: [text]}),),
        tool_calls=(ToolCall(call_id="c", name="f", arguments=text),),
        additional_kwargs={"k": {text: text}},
    )
    assert MESSAGE.validate_json(message.model_dump_json()) == message


def test_two_halves_of_a_pair_are_joined() -> None:
    assert TextMessage(content="\ud83d\ude00").content == "😀"
    assert ToolReturn(call_id="c", name="f", result="\ud83d").result == "\ufffd"


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_know_is_refused_and_not_made_null(number: float) -> None:
    with pytest.raises(ValidationError, match="JSON has no"):
        TextMessage(additional_kwargs={"n": [number]})


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        (b"%PDF-1.4", "application/pdf"),
        (b"\0\0\0\x18ftypmp42", "video/mp4"),
        (b"plain", "application/octet-stream"),
        (b"", "application/octet-stream"),
    ],
)
def test_a_media_type_is_told_by_the_bytes(data: bytes, mime: str) -> None:
    assert sniff(data) == mime


def test_what_the_bytes_are_counts_more_than_what_was_said() -> None:
    assert Media(data=PNG, mime="image/jpeg").mime == "image/png"
    assert Media(data=b"a,b\n", mime="text/csv").mime == "text/csv"
    assert Media(url="https://example.org/x", mime="image/png").mime == "image/png"


def test_media_has_bytes_or_a_url_and_never_a_path() -> None:
    with pytest.raises(ValidationError, match="either data or a url"):
        Media()
    with pytest.raises(ValidationError, match="either data or a url"):
        Media(data=b"x", url="https://example.org")
    for url in ("file:///etc/passwd", "/etc/passwd", "ftp://example.org/x"):
        with pytest.raises(ValidationError):
            Media(url=url)
    with pytest.raises(ValidationError, match="base64"):
        Media.model_validate({"data": "no base64!"})


def test_a_part_suits_its_media() -> None:
    assert isinstance(part_of(Media(data=PNG)), ImagePart)
    assert isinstance(part_of(Media(data=b"ID3")), AudioPart)
    assert isinstance(part_of(Media(data=b"\x1aE\xdf\xa3")), VideoPart)
    assert part_of(Media(data=b"%PDF-"), "a contract").words == "a contract"


def test_a_message_never_changes() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        TextMessage(content="x").content = "y"  # type: ignore[misc]


def test_the_union_has_a_json_schema() -> None:
    schema = MESSAGES.json_schema()
    assert "TextMessage" in schema["$defs"]
