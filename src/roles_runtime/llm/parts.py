"""What a message may hold beside plain text: pictures, sounds, films and files, each with words to fall back on."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Annotated, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    JsonValue,
    PlainSerializer,
    ValidationInfo,
    field_validator,
    model_validator,
)

JsonObject: TypeAlias = dict[str, JsonValue]
"""A JSON object; a JSON Schema is one."""

UNKNOWN_MIME = "application/octet-stream"

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The media types of pictures that every model which sees takes."""

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"%PDF-", "application/pdf"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
)
"""Where a format's signature stands, the signature, and the media type; the first that fits counts."""


def mend_surrogates(text: str) -> str:
    """The text with halves of surrogate pairs joined, and lone ones replaced by U+FFFD.

    A stream that was cut, or a tool, may leave some; JSON and UTF-8 have no place for them.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


Text: TypeAlias = Annotated[str, AfterValidator(mend_surrogates)]
"""Text that can be written down."""


def clean(value: JsonValue) -> JsonValue:
    """The value with every text in it mended.

    Raises:
        ValueError: it holds a number that JSON does not know (NaN, an infinity).
    """
    match value:
        case str():
            return mend_surrogates(value)
        case float() if not math.isfinite(value):
            raise ValueError(f"JSON has no {value}; say it as text")
        case list():
            return [clean(each) for each in value]
        case dict():
            return {mend_surrogates(key): clean(each) for key, each in value.items()}
    return value


CleanObject: TypeAlias = Annotated[JsonObject, AfterValidator(clean)]
"""A JSON object that can be written down and read again."""


def sniff(data: bytes) -> str:
    """The media type that the bytes themselves tell; ``application/octet-stream`` where they tell none."""
    for offset, signature, mime in _SIGNATURES:
        if data.startswith(signature, offset):
            return mime
    return UNKNOWN_MIME


def _bytes(value: object) -> object:
    if isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise ValueError(f"it is no base64: {error}") from error
    return value


Base64: TypeAlias = Annotated[
    bytes,
    BeforeValidator(_bytes),
    PlainSerializer(lambda data: base64.b64encode(data).decode(), return_type=str, when_used="json"),
]
"""Bytes, as base64 text in JSON."""


class Frozen(BaseModel):
    """A value: it never changes, and takes nothing that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Media(Frozen):
    """Bytes, or where they can be had. Exactly one of ``data`` and ``url`` is there.

    Attributes:
        data: The bytes themselves.
        url: ``http(s)``; handed on to the provider, never fetched by the runtime.
        mime: The media type. Of bytes whose signature is known it is what they are, whatever was said.
        name: A file's name, for a reader.
    """

    # The media type is looked at although nobody said one.
    model_config = ConfigDict(validate_default=True)

    data: Base64 | None = None
    url: str | None = None
    mime: str = ""
    name: Text = ""

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        if url is not None and AnyUrl(url).scheme not in ("http", "https"):
            raise ValueError("only http and https URLs are handed on; read a file through the Workspace and give data")
        return url

    @field_validator("mime")
    @classmethod
    def _is_sniffed(cls, mime: str, info: ValidationInfo) -> str:
        data = info.data.get("data")
        found = sniff(data) if data else UNKNOWN_MIME
        return mime if found == UNKNOWN_MIME and mime else found

    @model_validator(mode="after")
    def _is_one(self) -> Media:
        if (self.data is None) == (self.url is None):
            raise ValueError("a Media has either data or a url")
        return self

    @property
    def kind(self) -> str:
        """What stands before the slash: ``image``, ``audio``, ``video``, ``application``."""
        return self.mime.partition("/")[0]

    @property
    def base64(self) -> str:
        """The bytes as base64 text; empty where there is a url."""
        return base64.b64encode(self.data).decode() if self.data else ""

    @property
    def data_url(self) -> str:
        """The url, or the bytes as a ``data:`` URL."""
        return self.url if self.url is not None else f"data:{self.mime};base64,{self.base64}"


class TextPart(Frozen):
    """Text."""

    type: Literal["text"] = "text"
    text: Text


class _MediaPart(Frozen):
    """Something that not every model takes.

    Attributes:
        media: It.
        detail: Words that stand for it where a model does not take it.
    """

    media: Media
    detail: Text = ""

    @property
    def words(self) -> str:
        """What is said where it can not be shown."""
        name = f" {self.media.name}" if self.media.name else ""
        what = self.media.mime if self.media.url is None else self.media.url
        if self.detail.strip():
            return self.detail
        return f"[{self.media.kind}{name}: {what}, which this model does not take]"


class ImagePart(_MediaPart):
    """A picture.

    Attributes:
        fidelity: How closely a model shall look, where its provider lets one say so.
    """

    type: Literal["image"] = "image"
    fidelity: Literal["auto", "low", "high"] = "auto"


class AudioPart(_MediaPart):
    """A sound."""

    type: Literal["audio"] = "audio"


class VideoPart(_MediaPart):
    """A film."""

    type: Literal["video"] = "video"


class FilePart(_MediaPart):
    """Any other file; providers take PDF at most."""

    type: Literal["file"] = "file"


MediaPart: TypeAlias = ImagePart | AudioPart | VideoPart | FilePart
MessagePart: TypeAlias = Annotated[TextPart | MediaPart, Discriminator("type")]
"""A part of a message with several."""


def part_of(media: Media, detail: str = "") -> MediaPart:
    """The part that suits the media type."""
    match media.kind:
        case "image":
            return ImagePart(media=media, detail=detail)
        case "audio":
            return AudioPart(media=media, detail=detail)
        case "video":
            return VideoPart(media=media, detail=detail)
        case _:
            return FilePart(media=media, detail=detail)


class Contact(Frozen):
    """Somebody, as an address book has them."""

    name: Text
    phone: Text = ""
    email: Text = ""
    note: Text = ""


class Link(Frozen):
    """A page.

    Attributes:
        url: Where it is; not fetched.
        title, detail: What it is about.
    """

    url: str
    title: Text = ""
    detail: Text = ""
