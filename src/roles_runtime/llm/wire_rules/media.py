"""Bytes and addresses of pictures, sounds and files, as wires have them."""

from __future__ import annotations

import binascii
import re
from collections.abc import Collection

from roles_runtime.llm.wire_rules.fault import Fault, json_name

SEEN = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""The pictures that every model which sees takes."""

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,")


def encoded(key: str, data: object) -> None:
    """Bytes as base64.

    Raises:
        Fault: they are none, empty, or a ``data:`` URL.
    """
    if not isinstance(data, str):
        raise Fault(key, f"must be base64 text, not {json_name(data)}")
    if not data:
        raise Fault(key, "must not be empty")
    if data.startswith("data:"):
        raise Fault(key, "must be base64 alone, without what a data: URL has before it")
    _decodes(key, data)


def address(key: str, url: object, kinds: Collection[str], *, bare: bool = False) -> None:
    """An ``http(s)`` URL, or a ``data:`` URL of one of these media types (``image/*`` is a whole kind).

    Args:
        key: The field.
        url: The URL.
        kinds: The media types.
        bare: Whether base64 without the head of a ``data:`` URL is taken too, as one server wants it.

    Raises:
        Fault: it is neither, or of another type.
    """
    if not isinstance(url, str):
        raise Fault(key, f"must be a URL, not {json_name(url)}")
    if url.startswith(("http://", "https://")):
        return
    match = _DATA_URL.match(url)
    if match is None:
        if bare and _is_base64(url):
            return
        raise Fault(key, "must be an http(s) URL or a data: URL in base64")
    of_type(key, match[1], kinds)
    if match.end() == len(url):
        raise Fault(key, "must not be empty after the comma")
    _decodes(key, url[match.end() :])


def web(key: str, url: object) -> None:
    """An ``http(s)`` URL.

    Raises:
        Fault: it is none.
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise Fault(key, "must be an http(s) URL")


def of_type(key: str, mime: object, kinds: Collection[str]) -> None:
    """Holds a media type to those that the wire takes.

    Raises:
        Fault: it is another.
    """
    if not isinstance(mime, str) or not _is_of(mime, kinds):
        raise Fault(key, f"must be one of {', '.join(kinds)}; here it is {mime!r}")


def _is_of(mime: str, kinds: Collection[str]) -> bool:
    kind, slash, _ = mime.partition("/")
    return bool(slash) and not {mime, f"{kind}/*", "*/*"}.isdisjoint(kinds)


def _is_base64(text: str) -> bool:
    try:
        return bool(binascii.a2b_base64(text, strict_mode=True))
    except ValueError:
        return False


def _decodes(key: str, data: str) -> None:
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError as error:
        raise Fault(key, f"is no base64: {str(error).lower()}") from None
