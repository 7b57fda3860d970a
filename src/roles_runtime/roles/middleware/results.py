"""Reduction of tool results: a long one goes to a file of the workspace, and the model reads on where it wants to."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Awaitable, Callable

import msgspec
from anyio import to_thread

from roles_runtime.errors import ConfigError, ToolFailedError, WorkspaceError
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.parts import JsonObject, mend_surrogates
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.result import Told, ToolResult, parts_of, result_of
from roles_runtime.tools.tool import Tool, tool

MAX_PART_BYTES = 16 << 10
"""How much `read_file_part` gives at once: some 4,000 tokens."""


class ResultReduction:
    """Replaces a long result by its beginning, and by the name of the file that holds it whole.

    The tools that stand in the turn are watched: register it after the middleware that gives the turn tools. Where the
    file can not be written the result stays as it is.

    Attributes:
        gives: The name of the tool that it gives.
    """

    gives = ("read_file_part",)

    def __init__(self, *, longest_chars: int = 16_000, preview_chars: int = 2_000) -> None:
        """Sets what is long.

        Args:
            longest_chars: A longer text is moved to a file.
            preview_chars: How much of its beginning stays.

        Raises:
            ConfigError: a number is out of range.
        """
        if not 0 < preview_chars <= longest_chars:
            problem = f"it is {preview_chars} and must be from 1 to longest_chars, which is {longest_chars}."
            raise ConfigError("ResultReduction", "preview_chars", problem)
        self._longest, self._preview = longest_chars, preview_chars

    async def __call__(self, turn: Turn, respond: Respond) -> Answer:
        """Answers with tools whose long results go to files, and with one to read these."""
        if not turn.tools:
            return await respond(turn)
        reduced = turn.replace(tools=tuple(self._reducing(each) for each in turn.tools))
        return await respond(reduced.with_tools(read_file_part))

    def _reducing(self, watched: Tool) -> Tool:
        call: Callable[[JsonObject, Caller], Awaitable[Told]] = watched.call

        async def reducing(arguments: JsonObject, caller: Caller) -> Told:
            told = result_of(await call(arguments, caller))
            text, attachments = parts_of(told)
            if len(text) <= self._longest:
                return told
            content = mend_surrogates(text).encode()
            try:
                name = await to_thread.run_sync(caller.workspace.write, f"{watched.name}-result.txt", content)
            except WorkspaceError:
                return told
            return ToolResult(f"{text[: self._preview]}\n{_note(name, len(content))}", attachments)

        return msgspec.structs.replace(watched, call=reducing)


def _note(name: str, size_bytes: int) -> str:
    return (
        f"[the beginning of a result of {size_bytes:,} bytes; the whole stands in the file {name}: "
        f"read on with {read_file_part.name}]"
    )


@tool
async def read_file_part(caller: Caller, name: str, start: int = 0, length: int = MAX_PART_BYTES) -> str:
    """Reads a part of a text file of the workspace, such as the whole of a long result.

    Args:
        caller: Who reads.
        name: The file's name.
        start: The byte to begin at.
        length: How many bytes to read; 16384 at most.
    """
    if start < 0 or length < 1:
        raise ToolFailedError("start must be 0 or more, and length 1 or more.")
    try:
        part, size_bytes = await to_thread.run_sync(_read, caller.workspace, name, start, min(length, MAX_PART_BYTES))
    except WorkspaceError as error:
        raise ToolFailedError(str(error)) from error
    except OSError as error:
        raise ToolFailedError(f"{name}: it can not be read: {error.strerror}.") from error
    if start >= size_bytes:
        return f"[{name} has {size_bytes:,} bytes; there is nothing at {start:,}]"
    decoder = getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(part, final=start + len(part) >= size_bytes)
    end = start + len(part) - len(decoder.getstate()[0])
    if end == start:  # a character is longer than what was asked for
        text, end = part.decode("utf-8", "replace"), start + len(part)
    left = f"read on from {end}" if end < size_bytes else "this is its end"
    return f"{text}\n[bytes {start} to {end} of {size_bytes} of {name}; {left}]"


def _read(workspace: Workspace, name: str, start: int, length: int) -> tuple[bytes, int]:
    with workspace.open(name) as file:
        size_bytes = file.seek(0, 2)
        file.seek(min(start, size_bytes))
        return file.read(length), size_bytes
