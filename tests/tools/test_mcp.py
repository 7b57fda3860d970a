"""MCP servers as tools, against real ones: a process over stdio, and one over HTTP on loopback."""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import ToolDefinitionError, ToolSourceError
from roles_runtime.llm.parts import ImagePart, Media
from roles_runtime.tools.mcp import MAX_NAME_CHARS, McpServer, tool_name
from roles_runtime.tools.source import sources_of, tools_of
from roles_runtime.tools.tool import tool
from roles_runtime.tools.toolbox import Toolbox
from tools.calling import a_caller, answer, called, caller_of

pytestmark = pytest.mark.anyio

SCRIPT = str(Path(__file__).with_name("mcp_server.py"))
COMMAND = (sys.executable, SCRIPT)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


@asynccontextmanager
async def opened(server: McpServer) -> AsyncIterator[Toolbox]:
    async with server:
        yield Toolbox(tools_of([server]))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*COMMAND, str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
            process_wait(process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def servers() -> list[psutil.Process]:
    """The servers that this process started and that still run; other tests keep kernels warm."""
    return [each for each in psutil.Process().children() if SCRIPT in each.cmdline()]


def process_wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        return


async def test_the_tools_of_a_server_are_tools_with_its_name_before_theirs() -> None:
    async with opened(McpServer("shelf", command=COMMAND)) as toolbox:
        specs = {spec.name: spec for spec in toolbox.specs()}
        assert specs["shelf__add"].description == "Adds."
        assert specs["shelf__add"].parameters["required"] == ["left"]
        assert (await answer(toolbox, "shelf__add", '{"left": 2}')).result == "3"
        odd = next(name for name in specs if name.startswith("shelf__odd_name_with_letters"))
        assert (await answer(toolbox, odd)).result == "odd"


async def test_what_a_server_gives_back_is_told() -> None:
    async with opened(McpServer("shelf", command=COMMAND)) as toolbox:
        picture = await answer(toolbox, "shelf__picture")
        books = await answer(toolbox, "shelf__books")
        broken = await answer(toolbox, "shelf__broken_picture")
        failed = await answer(toolbox, "shelf__fail")
        wrong = await answer(toolbox, "shelf__add", '{"left": "two"}')
    assert picture.attachments == (ImagePart(media=Media(data=PNG)),)
    assert picture.result == "Attached: image/png"
    assert books.result.splitlines() == [
        "Two books.",
        "file:///ulysses.txt (ulysses; a day in Dublin)",
        "file:///emma.txt:",
        "Emma Woodhouse, handsome",
    ]
    assert "it can not be read" in broken.result
    assert (failed.is_error, wrong.is_error) == (True, True)
    assert "left" in wrong.result


async def test_a_server_gets_only_what_it_is_given_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sk-very-secret")
    async with opened(McpServer("shelf", command=COMMAND, env={"SHELF": "left"})) as toolbox:
        names, value = (await answer(toolbox, "shelf__environment")).result.split(" | ")
    assert set(names.split()) <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE", "SHELF"}
    assert value == "left"


async def test_a_server_is_offered_neither_sampling_nor_roots_nor_elicitation() -> None:
    async with opened(McpServer("shelf", command=COMMAND)) as toolbox:
        assert (await answer(toolbox, "shelf__capabilities")).result == "{}"


async def test_what_a_server_writes_on_stderr_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "roles_runtime"):
        async with opened(McpServer("shelf", command=COMMAND)) as toolbox:
            await answer(toolbox, "shelf__add", '{"left": 2}')
    assert "MCP server shelf says: the shelf is open" in caplog.messages


async def test_only_what_is_allowed_is_there_and_a_role_gets_only_what_it_is_handed() -> None:
    @tool
    def own() -> None: ...

    server = McpServer("shelf", command=COMMAND, allow=["add", "books"])
    handed = [own, server.only("books")]
    assert sources_of([*handed, server]) == [server]
    async with server:
        assert [each.name for each in tools_of([server])] == ["shelf__add", "shelf__books"]
        assert [each.name for each in tools_of(handed)] == ["own", "shelf__books"]
        with pytest.raises(ToolDefinitionError, match="shelf has no tool 'die'; it has add, books"):
            tools_of([server.only("die")])
    assert server.tools() == {}


async def test_a_tool_that_is_allowed_but_not_there_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(ToolDefinitionError, match=r"no tool 'lend' to allow; it has add, picture"):
        async with McpServer("shelf", command=COMMAND, allow=["lend"]):
            pytest.fail("it must not open")
    assert not servers()


async def test_a_server_that_ends_during_a_call_is_an_error_result_and_the_next_call_starts_it_anew() -> None:
    async with opened(McpServer("shelf", command=COMMAND)) as toolbox:
        before = await answer(toolbox, "shelf__process")
        died = await answer(toolbox, "shelf__die")
        after = await answer(toolbox, "shelf__process")
        assert (await answer(toolbox, "shelf__process")) == after
    assert died.is_error
    assert died.result == "The MCP server shelf ended before it answered; the next call starts it anew."
    assert before.result != after.result
    assert not servers()


async def test_calls_that_meet_a_server_that_ended_start_one_anew_together() -> None:
    async with opened(McpServer("shelf", command=COMMAND)) as toolbox:
        await answer(toolbox, "shelf__die")

        async def ignored(answered: object) -> None: ...

        calls = [called("shelf__process", "", str(n)) for n in range(4)]
        returns = await toolbox.call_all(calls, caller_of, ignored)
        assert len({each.result for each in returns}) == 1
        assert not returns[0].is_error
        assert len(servers()) == 1


async def test_a_server_that_can_not_be_started_anew_is_an_error_result(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    shutil.copy(SCRIPT, script)
    async with opened(McpServer("shelf", command=[sys.executable, str(script)])) as toolbox:
        script.unlink()
        await answer(toolbox, "shelf__die")
        for _ in range(2):
            result = await answer(toolbox, "shelf__process")
            assert result.result == "The MCP server shelf ended, and can not be started anew."


async def test_a_call_that_takes_too_long_is_an_error_result_and_the_server_goes_on() -> None:
    async with opened(McpServer("shelf", command=COMMAND, timeout_s=1)) as toolbox:
        answered = await toolbox.call(called("shelf__sleep"), a_caller())
    assert answered.outcome == "timeout"
    assert not servers()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            ["no-such-program-at-all", "x"],
            r"MCP server shelf \(no-such-program-at-all x\): it can not be started: .*No",
        ),
        ([sys.executable, "-c", "raise SystemExit('no shelf here')"], r"(?s)last words were:.*no shelf here"),
        ([sys.executable, "-c", "print('hello, I speak no MCP')"], "can not be started: "),
    ],
)
async def test_a_server_that_does_not_start_is_an_error_that_names_it_and_its_command(
    command: list[str], told: str
) -> None:
    server = McpServer("shelf", command=command)
    with pytest.raises(ToolSourceError, match=told):
        async with server:
            pytest.fail("it must not open")
    assert not servers()


async def test_a_server_that_says_nothing_is_not_waited_for_beyond_its_time() -> None:
    server = McpServer("shelf", command=[sys.executable, "-c", "import time; time.sleep(60)"], start_timeout_s=0.5)
    with pytest.raises(ToolSourceError, match=r"it did not answer within 0\.5 s"):
        async with server:
            pytest.fail("it must not open")
    assert not servers()


async def test_nothing_is_left_when_it_is_closed_or_when_its_opening_is_cancelled() -> None:
    before, descriptors = asyncio.all_tasks(), psutil.Process().num_fds()
    async with opened(McpServer("shelf", command=COMMAND)) as toolbox:
        await answer(toolbox, "shelf__add", '{"left": 2}')
    with anyio.move_on_after(0.2):
        async with McpServer("shelf", command=COMMAND, allow=["no such"]):
            await anyio.sleep_forever()
    await anyio.sleep(0.05)
    assert asyncio.all_tasks() == before
    assert not servers()
    assert psutil.Process().num_fds() <= descriptors + 1


async def test_it_is_opened_once_at_a_time_and_may_be_opened_again() -> None:
    server = McpServer("shelf", command=COMMAND)
    async with server:
        with pytest.raises(ToolSourceError, match="open already"):
            await server.__aenter__()
    async with opened(server) as toolbox:
        assert (await answer(toolbox, "shelf__add", '{"left": 2}')).result == "3"


async def test_it_may_be_closed_by_another_task_than_the_one_that_opened_it() -> None:
    server = McpServer("shelf", command=COMMAND)
    await asyncio.create_task(server.__aenter__())
    await asyncio.create_task(server.__aexit__(None, None, None))
    assert not servers()


async def test_a_server_that_runs_already_is_reached_over_http(address: str) -> None:
    async with opened(McpServer("web", url=address, allow=["add", "picture"])) as toolbox:
        assert (await answer(toolbox, "web__add", '{"left": 40, "right": 2}')).result == "42"
        assert (await answer(toolbox, "web__picture")).attachments == (ImagePart(media=Media(data=PNG)),)


async def test_a_server_that_nobody_runs_is_an_error_that_names_it_without_what_is_secret() -> None:
    server = McpServer("web", url="http://ada:sk-secret@127.0.0.1:9/mcp?key=sk-secret", headers={"X-Key": "sk-secret"})
    with pytest.raises(ToolSourceError, match=r"MCP server web \(http://127\.0\.0\.1:9/mcp\)") as caught:
        async with server:
            pytest.fail("it must not open")
    assert "sk-secret" not in f"{caught.value}{server!r}"


@pytest.mark.parametrize(
    ("name", "command", "url"),
    [
        ("", COMMAND, None),
        ("a__b", COMMAND, None),
        ("a b", COMMAND, None),
        ("a" * 33, COMMAND, None),
        ("a", (), None),
        ("a", COMMAND, "http://x"),
        ("a", (), "file:///etc/passwd"),
        ("a", "python server.py", None),
    ],
)
def test_a_description_that_can_be_no_server_is_refused(name: str, command: tuple[str, ...], url: str | None) -> None:
    with pytest.raises(ToolDefinitionError, match="MCP server"):
        McpServer(name, command=command, url=url)


@given(name=st.text(min_size=1), other=st.text(min_size=1))
def test_every_name_is_made_to_fit_what_providers_take(name: str, other: str) -> None:
    fitted = tool_name("server", name)
    assert fitted.startswith("server__")
    assert len(fitted) <= MAX_NAME_CHARS
    assert fitted.isascii()
    assert fitted.replace("-", "_").isidentifier()
    long_name, long_other = name + "x" * 80, other + "x" * 80
    assert (tool_name("server", long_name) == tool_name("server", long_other)) == (name == other)


async def test_two_tools_that_can_not_be_told_apart_are_refused(tmp_path: Path) -> None:
    script = tmp_path / "twins.py"
    script.write_text(
        "from mcp.server.mcpserver import MCPServer\n"
        "server = MCPServer('twins')\n"
        "for name in ('a.b', 'a b'):\n"
        "    server.tool(name=name)(lambda: 'x')\n"
        "server.run()\n",
        encoding="utf-8",
    )
    with pytest.raises(ToolDefinitionError, match=r"'a\.b' and 'a b' would both be named twins__a_b"):
        async with McpServer("twins", command=[sys.executable, str(script)]):
            pytest.fail("it must not open")


def test_nothing_of_the_sdk_is_imported_before_a_server_is_opened() -> None:
    code = "import sys, roles_runtime.tools.mcp; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_missing_sdk_is_an_error_that_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "import anyio\n"
        "from roles_runtime.errors import ToolSourceError\n"
        "from roles_runtime.tools.mcp import McpServer\n"
        "try: anyio.run(McpServer('shelf', command=['x']).__aenter__)\n"
        "except ToolSourceError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ('MCP server shelf (x): it needs an extra: pip install "roles-runtime[mcp]".')
