"""A real HTTP server that plays what it is told, and then breaks as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Literal

import msgspec

from roles_runtime.llm.parts import JsonObject


class Answer(msgspec.Struct, frozen=True):
    """One answer.

    Attributes:
        pieces: Of the body, written one after the other.
        status, kind, headers: Its head; `kind` is the content type.
        end: ``whole``; ``cut``, the line; ``hang``, for ever.
    """

    pieces: tuple[bytes, ...]
    status: int = 200
    kind: str = "text/event-stream"
    headers: tuple[tuple[str, str], ...] = ()
    end: Literal["whole", "cut", "hang"] = "whole"


class Asked(msgspec.Struct, frozen=True):
    """One request; names of headers are in lower case."""

    target: str
    headers: dict[str, str]
    body: JsonObject


class Played:
    """The server.

    Attributes:
        url: Where it is.
        asked: What it was asked, in order.
        lines: How many connections were made.
    """

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._answers = list(answers)
        self.url = ""
        self.asked: list[Asked] = []
        self.lines = 0
        self._serving: set[asyncio.Task[None]] = set()

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.lines += 1
        self._serving.add(asyncio.create_task(self._serve(reader, writer)))

    async def stop(self) -> None:
        for each in self._serving:
            each.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while self._answers:
                self.asked.append(await _request(reader))
                if not await _play(self._answers.pop(0), writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def playing(*answers: Answer) -> AsyncIterator[Played]:
    """Serves on a free port of this machine."""
    played = Played(answers)
    server = await asyncio.start_server(played.serve, "127.0.0.1", 0)
    played.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield played
    finally:
        server.close()
        await played.stop()


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(first.split()[1], headers, msgspec.json.decode(body))


async def _play(answer: Answer, writer: asyncio.StreamWriter) -> bool:
    head = [f"HTTP/1.1 {answer.status} OK", f"content-type: {answer.kind}", "transfer-encoding: chunked"]
    head += [f"{name}: {value}" for name, value in answer.headers]
    writer.write("\r\n".join([*head, "", ""]).encode())
    for piece in answer.pieces:
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()
    if answer.end == "hang":
        await asyncio.sleep(60)
    if answer.end != "whole":
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
