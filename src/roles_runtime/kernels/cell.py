"""What comes of one cell: its messages, gathered within bounds, become an Execution."""

from __future__ import annotations

import base64
import binascii
import re
import time
from secrets import token_hex
from typing import Literal

import anyio
import msgspec

from roles_runtime.kernels.jupyter import Message
from roles_runtime.kernels.kernel import Execution
from roles_runtime.posts.conversation import ArtifactRef

MAX_OUTPUT_CHARS = 5_000
MAX_STREAM_CHARS = 1_200_000
MAX_ERROR_CHARS = 20_000
MAX_IMAGES = 100
MAX_IMAGE_BYTES = 64 << 20
MAX_LOG_ENTRIES = 1_000
LOG_MIME = "application/vnd.roles-runtime.log+json"
_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/svg+xml": ".svg"}
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")

Outcome = Literal["ok", "error", "timeout", "cancelled", "lost"]


class Image(msgspec.Struct, frozen=True):
    """A displayed image, with the name that it is kept by."""

    name: str
    mime: str
    content: bytes


class Stream:
    """One of stdout and stderr: pieces up to a cap, then only their length."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._room, self._cut = MAX_STREAM_CHARS, 0

    def add(self, text: str) -> None:
        """One more piece."""
        kept = text[: self._room]
        self._room -= len(kept)
        self._cut += len(text) - len(kept)
        if kept:
            self.pieces.append(kept)

    def whole(self) -> tuple[str, ...]:
        """All pieces, and what was cut said in words."""
        return (*self.pieces, f"\n[{self._cut} more characters were cut]\n") if self._cut else tuple(self.pieces)


class Cell:
    """A cell under way. `replied` and `idle` are set as the kernel says so."""

    def __init__(self, code: str) -> None:
        self.execution_id = "exec-" + token_hex(6)
        self.code = code
        self.message_id = ""
        self.replied, self.idle = anyio.Event(), anyio.Event()
        self.error: str | None = None
        self.outcome: Outcome = "lost"
        self.images: list[Image] = []
        self.log: list[tuple[str, str, str]] = []
        self.stdout, self.stderr = Stream(), Stream()
        self._verdict: tuple[Outcome, str] | None = None
        self._output = ""
        self._image_room = MAX_IMAGE_BYTES
        self._began = time.monotonic()

    def take(self, message: Message) -> None:
        """Takes in one message that names this cell as its parent."""
        match message.kind:
            case "stream":
                (self.stderr if message.content.text("name") == "stderr" else self.stdout).add(
                    message.content.text("text")
                )
            case "execute_result":
                self._output = _text(message)[: MAX_OUTPUT_CHARS + 1]
                self._take_image(message)
            case "display_data" | "update_display_data":
                self._take_display(message)
            case "status" if message.content.text("execution_state") == "idle":
                self.idle.set()
            case "execute_reply":
                self._take_reply(message)

    def _take_display(self, message: Message) -> None:
        entry = message.content.fields("data").texts(LOG_MIME)
        if entry:
            if len(entry) == 3 and len(self.log) < MAX_LOG_ENTRIES:
                self.log.append((entry[0][:100], entry[1][:100], entry[2][:2000]))
        elif not self._take_image(message):
            self.stdout.add(_text(message) + "\n")

    def _take_image(self, message: Message) -> bool:
        data = message.content.fields("data")
        mime = next((each for each in _SUFFIXES if each in data), None)
        text = data.text(mime) if mime is not None else ""
        if mime is None or not text:
            return False
        if len(self.images) < MAX_IMAGES and len(text) <= self._image_room:
            try:
                content = text.encode() if mime == "image/svg+xml" else base64.b64decode(text)
            except (binascii.Error, ValueError):
                return False
            if all(image.content != content for image in self.images):
                self._image_room -= len(text)
                name = f"{self.execution_id}-display-{len(self.images)}{_SUFFIXES[mime]}"
                self.images.append(Image(name, mime, content))
        return True

    def _take_reply(self, message: Message) -> None:
        if message.content.text("status") == "ok":
            self.outcome = "ok"
        else:
            self.outcome = "error"
            self.error = _error_text(message)
        self.replied.set()

    def judge(self, outcome: Outcome, error: str) -> None:
        """The runtime's word on how it ended, over the kernel's, whose error is kept below it."""
        self._verdict = (outcome, error)

    def note(self, text: str) -> None:
        """A word of the runtime in the log."""
        self.log.append(("WARNING", "workspace", text))

    def mourn(self, reason: str) -> bool:
        """The kernel is dead; returns whether this cell's outcome tells of it."""
        if self.outcome != "lost":
            return False
        loss = f"The kernel was lost ({reason}); a new one starts with the next cell, its variables are gone."
        self._verdict = (self._verdict[0], f"{self._verdict[1]} {loss}") if self._verdict else ("lost", loss)
        return True

    def execution(self, artifacts: tuple[ArtifactRef, ...]) -> Execution:
        """All of it as a value."""
        outcome, error = self.outcome, self.error
        if self._verdict is not None:
            outcome = self._verdict[0]
            error = f"{self._verdict[1]}\n{self.error}" if self.error else self._verdict[1]
        output = self._output
        if len(output) > MAX_OUTPUT_CHARS:
            output = output[: MAX_OUTPUT_CHARS - 1] + "…"
        return Execution(
            self.execution_id,
            self.code,
            is_success=outcome == "ok",
            error=error,
            output=output,
            stdout=self.stdout.whole(),
            stderr=self.stderr.whole(),
            log=tuple(self.log),
            artifacts=artifacts,
            outcome=outcome,
            duration_s=time.monotonic() - self._began,
        )


def _text(message: Message) -> str:
    return message.content.fields("data").text("text/plain")


def _error_text(message: Message) -> str:
    traceback = "\n".join(message.content.texts("traceback"))
    summary = f"{message.content.text('ename')}: {message.content.text('evalue')}"
    return _COLOURS.sub("", traceback or summary)[-MAX_ERROR_CHARS:]
