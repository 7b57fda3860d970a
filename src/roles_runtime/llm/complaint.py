"""What a server says when it complains, in an answer of its own or inside a stream."""

from __future__ import annotations

import re

import msgspec

from roles_runtime.errors import ModelError
from roles_runtime.llm.decoding import decoded, text_of
from roles_runtime.llm.faults import fault_by_words

_TITLE = re.compile(rb"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_STATUS_OF = {
    "context_length_exceeded": 400,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "server_error": 500,
    "internal_error": 500,
    "vector_store_timeout": 500,
}


class Complaint(msgspec.Struct):
    """An ``error`` object. Servers differ in what they fill in, and with which type."""

    message: object = None
    type: object = None
    code: object = None
    status: object = None

    @property
    def about(self) -> str:
        """Its code; its type, or its status by name, where it has no code, or a number only."""
        code, kind = text_of(self.code), text_of(self.type) or text_of(self.status)
        return kind if kind and (not code or code.isdecimal()) else code

    @property
    def http_status(self) -> int:
        """The HTTP status that it would have had, as far as it tells; else 0."""
        code = text_of(self.code)
        if len(code) == 3 and code.isdecimal() and 400 <= int(code) < 600:
            return int(code)
        return _STATUS_OF.get(code) or _STATUS_OF.get(text_of(self.type)) or 0

    def fault(self, name: str) -> ModelError:
        """The error that stands for it, where it came inside a stream."""
        return fault_by_words(name, self.http_status, self.about, text_of(self.message) or "an error without words")


class _Body(msgspec.Struct):
    error: Complaint | str | None = None
    message: object = None
    msg: object = None
    detail: object = None
    type: object = None
    code: object = None


_DECODER = msgspec.json.Decoder(_Body | list[_Body])


def complaint_of(error: Complaint | str) -> Complaint:
    """An ``error`` that is a text alone, as a whole one."""
    return Complaint(message=error) if isinstance(error, str) else error


def find_complaint(body: bytes) -> Complaint | None:
    """The complaint that a JSON body is; None where it is none."""
    try:
        said = decoded(_DECODER, body)
    except msgspec.DecodeError:
        return None
    if isinstance(said, list):
        said = said[0] if said else _Body()
    if said.error is not None:
        return complaint_of(said.error)
    words = said.message or said.msg or said.detail
    return Complaint(words, said.type, said.code) if words else None


def read_complaint(body: bytes) -> tuple[str, str]:
    """Code and words of an answer that is an error, whatever its body is."""
    found = find_complaint(body)
    if found is not None:
        return found.about, text_of(found.message)
    title = _TITLE.search(body)
    if title or body.lstrip()[:1] == b"<":
        words = title.group(1).decode(errors="replace").strip() if title else ""
        return "", f"an HTML page: {words}" if words else "an HTML page"
    return "", body[:2000].decode(errors="replace")
