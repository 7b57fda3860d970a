"""What a tool gave back, as a model is told it: always a text, with pictures and files beside it, and bounded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec
from pydantic_core import to_json

from roles_runtime.llm.parts import (
    AudioPart,
    FilePart,
    ImagePart,
    Media,
    MediaPart,
    TextPart,
    VideoPart,
    mend_surrogates,
    part_of,
)

MAX_RESULT_BYTES = 64 << 10
"""What a model is told of one result: some 16,000 tokens."""

MAX_ATTACHMENT_BYTES = 8 << 20
"""How large the pictures and files of one result may be together."""


class ToolResult(msgspec.Struct, frozen=True):
    """What a tool gave back.

    Attributes:
        text: What the model reads.
        attachments: Pictures and files, in order.
    """

    text: str
    attachments: tuple[MediaPart, ...] = ()


Told: TypeAlias = "str | ToolResult"
"""What the call of a tool gives: a text alone, or with attachments."""


def parts_of(told: Told) -> tuple[str, tuple[MediaPart, ...]]:
    """Text and attachments of what a call gave."""
    return (told, ()) if isinstance(told, str) else (told.text, told.attachments)


def result_of(value: object) -> Told:
    """What a function returned, for a model.

    A text stays as it is; a `Media`, a media part, or a list that has some of them among texts becomes attachments.
    Anything else is told as JSON: NaN as text, bytes as base64, and what JSON has no form for by its ``str``.
    """
    match value:
        case str() | ToolResult():
            return value
        case Media() | TextPart() | ImagePart() | AudioPart() | VideoPart() | FilePart():
            return _gathered([value])
        case list() | tuple() if any(isinstance(each, _PARTS) for each in value):
            return _gathered(value)
    return _json(value)


def capped(text: str) -> str:
    """The text, or its beginning with a note where it is longer than a model shall read."""
    data = mend_surrogates(text).encode()
    if len(data) <= MAX_RESULT_BYTES:
        return data.decode()
    kept = data[:MAX_RESULT_BYTES].decode(errors="ignore")
    return f"{kept}\n[cut off: the result has {len(data):,} bytes, the first {MAX_RESULT_BYTES:,} are shown]"


def words_of(error: BaseException) -> str:
    """What an error says, by its kind and its words; it is anybody's, and may fail at telling what it is."""
    try:
        said = str(error)
    except (Exception, SystemExit):
        said = "it can not say what went wrong"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


_PARTS = (Media, TextPart, ImagePart, AudioPart, VideoPart, FilePart)


def _gathered(values: Iterable[object]) -> ToolResult:
    texts: list[str] = []
    attachments: list[MediaPart] = []
    left_bytes = MAX_ATTACHMENT_BYTES
    for value in values:
        match value:
            case Media():
                part: MediaPart = part_of(value)
            case ImagePart() | AudioPart() | VideoPart() | FilePart():
                part = value
            case TextPart(text=text) | str(text):
                texts.append(text)
                continue
            case _:
                texts.append(_json(value))
                continue
        size_bytes = len(part.media.data or b"")
        if size_bytes > left_bytes:
            texts.append(f"[left out: {part.media.kind} of {size_bytes:,} bytes, more than a result may hold]")
            continue
        left_bytes -= size_bytes
        attachments.append(part)
    # Some providers refuse a result without a text.
    return ToolResult("\n".join(texts) or _listed(attachments), tuple(attachments))


def _listed(attachments: Iterable[MediaPart]) -> str:
    return "Attached: " + ", ".join(each.media.mime for each in attachments)


def _json(value: object) -> str:
    try:
        return to_json(value, bytes_mode="base64", inf_nan_mode="strings", fallback=_plain).decode()
    except (Exception, SystemExit):  # half a character, or an object that fails at telling what it is
        return _words(value)


def _plain(value: object) -> object:
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else _words(value)


def _words(value: object) -> str:
    try:
        return str(value)
    except (Exception, SystemExit):
        return f"<{type(value).__name__}>"
