"""Long results go to files, with a preview; the model reads on with a tool."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import ConfigError, ToolDefinitionError, ToolFailedError
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.message import ToolMessage
from roles_runtime.llm.model import Finish, TextChunk, ToolCallChunk
from roles_runtime.llm.parts import FilePart, Media
from roles_runtime.llm.providers.scripted import ScriptedModel, ScriptedReply
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.conversation import RoundState
from roles_runtime.roles.middleware.results import ResultReduction, read_file_part
from roles_runtime.roles.role import ModelRole
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import ToolResult
from roles_runtime.tools.tool import Tool, tool
from runtime.casting import running

pytestmark = pytest.mark.anyio

LONG = "".join(f"line {n}: ä 中 🙂\n" for n in range(2_000))


@tool
async def look() -> str:
    """Looks."""
    return LONG


@tool
async def glance() -> str:
    """Glances."""
    return "short"


def call(tool_name: str, /, **arguments: object) -> ScriptedReply:
    wished = ToolCall(call_id="c", name=tool_name, arguments=json.dumps(arguments))
    return (ToolCallChunk(wished), Finish("tool_calls"))


DONE: ScriptedReply = (TextChunk("Done."), Finish())


async def results(folder: Path, tools: Sequence[Tool], *replies: ScriptedReply) -> tuple[list[str], LLMRequest]:
    """Plays a round with these answers; what the model was told of its calls, and its last request."""
    model = ScriptedModel([*replies, DONE], sequential=True)
    role = ModelRole("Looker", model=model, tools=tools)
    reduction = ResultReduction(longest_chars=1_000, preview_chars=100)
    async with running(role, middleware=[reduction], data_dir=folder) as runtime:
        record = await (await runtime.session("s")).ask("Look.")
    assert record.state is RoundState.finished, record.detail
    told = [each for each in model.requests[-1].messages if isinstance(each, ToolMessage)]
    return [each.tool_reses[0].result for each in told], model.requests[-1]


async def test_a_long_result_is_told_by_its_beginning_and_stands_whole_in_a_file(tmp_path: Path) -> None:
    (told,), request = await results(tmp_path, [look], call("look"))
    assert told.startswith(LONG[:100])
    assert len(told) < 400
    assert "the whole stands in the file look-result.txt" in told
    assert [each.name for each in request.tools] == ["look", "read_file_part"]
    kept = tmp_path / "sessions" / "s" / "files" / "look-result.txt"
    assert kept.read_text(encoding="utf-8") == LONG


async def test_a_taken_name_is_told_when_the_runtime_is_made() -> None:
    for tools, inner in (([read_file_part], []), ([look], [ResultReduction()])):
        role = ModelRole("Looker", model=ScriptedModel([]), tools=tools, middleware=inner)
        with pytest.raises(ToolDefinitionError, match="read_file_part"):
            async with running(role, middleware=[ResultReduction()]):
                pass


async def test_a_short_result_stays_as_it_is(tmp_path: Path) -> None:
    (told,), _ = await results(tmp_path, [glance], call("glance"))
    assert told == "short"


async def test_the_model_reads_the_rest_part_by_part_and_misses_nothing(tmp_path: Path) -> None:
    parts: list[ScriptedReply] = []

    def read_on(request: LLMRequest) -> Sequence[object]:
        last = request.messages[-1]
        assert isinstance(last, ToolMessage)
        found = re.search(r"read on from (\d+)\]\Z", last.tool_reses[0].result)
        start = int(found[1]) if found else 0
        return call("read_file_part", name="look-result.txt", start=start, length=9_999)  # type: ignore[return-value]

    parts += [read_on] * -(-len(LONG.encode()) // 9_999)  # type: ignore[list-item]
    told, _ = await results(tmp_path, [look], call("look"), *parts)
    read = [re.sub(r"\n\[bytes .*\]\Z", "", each) for each in told[1:]]
    assert "".join(read) == LONG
    assert told[-1].endswith("of look-result.txt; this is its end]")


async def test_attachments_stay_beside_the_preview(tmp_path: Path) -> None:
    @tool
    async def draw() -> ToolResult:
        """Draws."""
        return ToolResult(LONG, (FilePart(media=Media(data=b"%PDF", name="a.pdf")),))

    _, request = await results(tmp_path, [draw], call("draw"))
    (message,) = (each for each in request.messages if isinstance(each, ToolMessage))
    assert isinstance(message.tool_reses[0].attachments[0], FilePart)
    assert "draw-result.txt" in message.tool_reses[0].result


async def test_a_result_that_can_not_be_written_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "s").write_text("no folder", encoding="utf-8")
    (told,), _ = await results(tmp_path, [look], call("look"))
    assert told == LONG


async def test_what_is_outside_or_missing_is_told_to_the_model(tmp_path: Path) -> None:
    wrong = [call("read_file_part", name=name) for name in ("../../secret", "missing.txt", "/etc/passwd")]
    told, _ = await results(tmp_path, [glance], *wrong)
    assert "it is outside the workspace" in told[0]
    assert "there is no such file" in told[1]
    assert "it is outside the workspace" in told[2]


def nobody(workspace: Workspace) -> Caller:
    return Caller("s", "r", "Looker", "c", workspace, lambda event: None)


async def test_a_start_beyond_the_end_and_a_negative_one_are_told_as_such(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.write("a.txt", b"abc")
    assert await read_file_part.call({"name": "a.txt", "start": 9}, nobody(workspace)) == (
        "[a.txt has 3 bytes; there is nothing at 9]"
    )
    with pytest.raises(ToolFailedError, match="start must be 0 or more"):
        await read_file_part.call({"name": "a.txt", "start": -1}, nobody(workspace))


@given(st.text(min_size=1, max_size=60), st.integers(1, 9))
async def test_parts_of_any_size_make_the_whole_where_they_hold_a_character(text: str, length: int) -> None:
    length = max(length, 4)  # the longest character of UTF-8
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        workspace.write("a.txt", text.encode())
        size, start, read = len(text.encode()), 0, ""
        while start < size:
            told = await read_file_part.call({"name": "a.txt", "start": start, "length": length}, nobody(workspace))
            assert isinstance(told, str)
            part, _, note = told.rpartition("\n")
            read += part
            found = re.match(r"\[bytes \d+ to (\d+)", note)
            assert found
            start = int(found[1])
        assert read == text


def test_a_preview_longer_than_what_is_long_is_refused() -> None:
    with pytest.raises(ConfigError, match="preview_chars"):
        ResultReduction(longest_chars=10, preview_chars=11)
