"""Jupyter's messages: signed JSON, read field by field. Pure: values in, frames out, and back.

Whoever wrote a message may be the cell. So nothing of its content has a certain type, and nothing is decoded that
nobody asks for: a few MiB of JSON can become a GiB of objects.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from secrets import token_hex
from typing import TypeVar

import msgspec

T = TypeVar("T")

_DELIMITER = b"<IDS|MSG>"
_VERSION = "5.4"
_Raw = dict[str, msgspec.Raw]


class _Header(msgspec.Struct, frozen=True):
    msg_type: str = ""
    msg_id: str = ""


class Fields:
    """A JSON object whose fields are decoded when they are asked for. Text is real Unicode, fit for any journal."""

    def __init__(self, raw: Mapping[str, msgspec.Raw]) -> None:
        self._raw = raw

    def text(self, name: str) -> str:
        """A field as text; empty where it is missing or something else."""
        return self._get(name, str) or ""

    def texts(self, name: str) -> list[str]:
        """A field as a list of texts; empty where it is missing or something else."""
        return self._get(name, list[str]) or []

    def fields(self, name: str) -> Fields:
        """A field as an object; empty where it is missing or something else."""
        return Fields(self._get(name, _Raw) or {})

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def _get(self, name: str, kind: type[T]) -> T | None:
        raw = self._raw.get(name)
        return None if raw is None else _decoded(raw, kind)


class Message(msgspec.Struct, frozen=True):
    """What a kernel said.

    Attributes:
        kind: Such as ``stream`` or ``execute_reply``.
        parent_id: Of the request that it came of.
        content: What it says.
    """

    kind: str
    parent_id: str
    content: Fields


class Wire:
    """Writes and reads messages that one key signs."""

    def __init__(self, key: str) -> None:
        self._key = key.encode("ascii")
        self._session = token_hex(16)

    def compose(
        self, kind: str, content: Mapping[str, object], metadata: Mapping[str, str] | None = None
    ) -> tuple[str, list[bytes]]:
        """A request's id, which the answers name as their parent, and its frames."""
        header = {
            "msg_id": token_hex(16),
            "session": self._session,
            "username": "roles_runtime",
            "date": datetime.now(UTC).isoformat(),
            "msg_type": kind,
            "version": _VERSION,
        }
        # Half a surrogate pair, which no UTF-8 has, goes as an escape; the cell that holds it answers for it.
        parts = [json.dumps(part).encode("ascii") for part in (header, {}, metadata or {}, content)]
        return header["msg_id"], [_DELIMITER, self._signature(parts), *parts]

    def read(self, frames: Sequence[bytes]) -> Message | None:
        """The message in some frames, or None where there is none that the key signed."""
        if _DELIMITER not in frames:
            return None
        start = list(frames).index(_DELIMITER)
        signature, *parts = frames[start + 1 : start + 6] or (b"",)
        if len(parts) != 4 or not hmac.compare_digest(signature, self._signature(parts)):
            return None
        header, parent, content = (
            _decoded(parts[0], _Header),
            _decoded(parts[1], _Header),
            _decoded(parts[3], _Raw),
        )
        if header is None or parent is None or content is None:
            return None
        return Message(header.msg_type, parent.msg_id, Fields(content))

    def _signature(self, parts: Sequence[bytes]) -> bytes:
        signed = hmac.new(self._key, digestmod=sha256)
        for part in parts:
            signed.update(part)
        return signed.hexdigest().encode("ascii")


def _decoded(data: bytes | msgspec.Raw, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
