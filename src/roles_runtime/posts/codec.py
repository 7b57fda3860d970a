"""Entries as bytes: the one form in which every store keeps them."""

from __future__ import annotations

import msgspec

from roles_runtime.errors import DocumentError, StoreCorruptError, StoreVersionError
from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.event import FORMAT_VERSION, Entry, PostSent
from roles_runtime.posts.post import seal
from roles_runtime.posts.shared import SharedMemoryEntry

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)


class _Version(msgspec.Struct):
    format_version: int = FORMAT_VERSION


def encode_entry(entry: Entry) -> bytes:
    """An entry as one line of JSON, UTF-8."""
    return _encoder.encode(entry)


def decode_entry(data: bytes | str) -> Entry:
    """Reads an entry; its Post comes sealed, shared entries come as such.

    Raises:
        StoreVersionError: a newer version wrote it.
        StoreCorruptError: it is no entry.
    """
    try:
        entry = _decoder.decode(data)
    except msgspec.DecodeError as error:
        raise _explained(data, error) from error
    if entry.format_version > FORMAT_VERSION:
        raise _newer(entry.format_version)
    if isinstance(entry.event, PostSent):
        for attachment in entry.event.post.attachment_list:
            if attachment.type == AttachmentType.shared_memory_entry and isinstance(attachment.extra, dict):
                try:
                    attachment.extra = SharedMemoryEntry.from_dict(attachment.extra)
                except DocumentError as error:
                    raise StoreCorruptError(f"The journal holds a damaged entry: {error}") from error
        seal(entry.event.post)
    return entry


def _newer(version: int) -> StoreVersionError:
    return StoreVersionError(
        f"The journal holds an entry of format {version}, and this version reads up to {FORMAT_VERSION}; update it."
    )


def _explained(data: bytes | str, error: msgspec.DecodeError) -> StoreCorruptError | StoreVersionError:
    try:
        version = msgspec.json.decode(data, type=_Version).format_version
    except msgspec.DecodeError:
        version = FORMAT_VERSION
    if version > FORMAT_VERSION:
        return _newer(version)
    return StoreCorruptError(f"The journal holds something that is no entry: {error}. Restore the store from a copy.")
