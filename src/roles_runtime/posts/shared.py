"""What a role shares with all others: entries that ride on a Post as attachments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from roles_runtime.errors import DocumentError
from roles_runtime.posts.ids import create_id

SharedType = Literal["plan", "experience_sub_path", "example_sub_path", "file_profile", "summary"]
Scope = Literal["round", "conversation"]

FILE_PROFILE_HEADING = "Files in the workspace (file_profile, JSON):"
"""The line that stands before the profiles' JSON in a prompt; the JSON has the next line for itself."""


class SharedMemoryEntry(msgspec.Struct, gc=False, frozen=True):
    """Something every role of the session may see.

    Attributes:
        type: What it is; one per sender, type and scope counts, the latest.
        content: Its text.
        scope: ``round`` is seen within its round only, ``conversation`` from then on.
        id: ``sme-…``.
    """

    type: SharedType
    content: str
    scope: Scope
    id: str

    @staticmethod
    def create(type: SharedType, scope: Scope, content: str, id: str | None = None) -> SharedMemoryEntry:
        """A new entry."""
        return SharedMemoryEntry(type, content, scope, id or "sme-" + create_id())

    def to_dict(self) -> dict[str, str]:
        """Keys type, content, scope, id, in this order."""
        return {"type": self.type, "content": self.content, "scope": self.scope, "id": self.id}

    @staticmethod
    def from_dict(content: Mapping[str, object]) -> SharedMemoryEntry:
        """Reads one back, with its id.

        Raises:
            DocumentError: a field is missing or of the wrong type.
        """
        try:
            return msgspec.convert({"id": "sme-" + create_id(), **content}, SharedMemoryEntry)
        except msgspec.ValidationError as error:
            raise DocumentError("shared_memory_entry", str(error)) from error


class ColumnProfile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One column of a table, as the sandbox saw it.

    Attributes:
        name: As it stands in the file.
        dtype: One of ``integer``, ``number``, ``text``, ``boolean``, ``date``, ``mixed``.
        missing: How many values are missing.
        distinct_count: How many different values there are, missing ones not counted.
        distinct: All of them as text, in order of frequency, where there are at most 200.
        minimum, maximum: As text; numbers and dates only.
    """

    name: str
    dtype: Literal["integer", "number", "text", "boolean", "date", "mixed"]
    missing: int = 0
    distinct_count: int = 0
    distinct: tuple[str, ...] = ()
    minimum: str = ""
    maximum: str = ""


class FileProfile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of the workspace, as the sandbox saw it.

    Attributes:
        name: Its path inside the workspace, as code opens it.
        size_bytes: Its size.
        format: ``csv``, ``tsv``, ``jsonl``, ``json``, ``xlsx``, ``parquet`` or ``other``.
        read_call: The Python expression that reads it as a DataFrame, with ``pd`` imported: the encoding,
            separator and options that worked. Empty where the file is no table.
        rows: How many rows the table has.
        columns: In the file's order.
        first_rows: Up to five rows, each value as text.
        problem: Why it could not be read as a table, in one line; empty where it could.
    """

    name: str
    size_bytes: int
    format: str = "other"
    read_call: str = ""
    rows: int = 0
    columns: tuple[ColumnProfile, ...] = ()
    first_rows: tuple[tuple[str, ...], ...] = ()
    problem: str = ""


class FileProfiles(msgspec.Struct, frozen=True):
    """The profiles of all files of a session so far: the content of its ``file_profile`` entry, as JSON."""

    files: tuple[FileProfile, ...]

    def to_json(self) -> str:
        """As text, the form in which it stands in every model's prompt."""
        return msgspec.json.encode(self).decode()

    @staticmethod
    def from_json(text: str) -> FileProfiles:
        """Reads them back.

        Raises:
            DocumentError: it is no such JSON.
        """
        try:
            return msgspec.json.decode(text, type=FileProfiles)
        except msgspec.DecodeError as error:
            raise DocumentError("file_profile", str(error)) from error
