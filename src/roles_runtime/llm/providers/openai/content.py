"""Media and ids, as both of OpenAI's wires have them."""

from __future__ import annotations

import hashlib
import re

from roles_runtime.llm.parts import FilePart, MediaPart

_ID = re.compile(r"[!-~]+")
_SOUND_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def fitted_id(call_id: str, limit: int) -> str:
    """The id, if it is short enough and written in plain signs; else one that is made of it, always the same."""
    if len(call_id) <= limit and _ID.fullmatch(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:32]}" if call_id else ""


def sound_format(mime: str) -> str:
    """What the wire calls a sound's format; empty where it has no word for it."""
    return _SOUND_FORMATS.get(mime, "")


def file_name(part: MediaPart) -> str:
    """A name that the wire wants to have, although not every file has one."""
    return part.media.name or ("file.pdf" if isinstance(part, FilePart) else "file")
