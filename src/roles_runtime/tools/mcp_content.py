"""What a tool of an MCP server gave back, as a tool of ours gives it. Imported only where a server is opened."""

from __future__ import annotations

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import ValidationError

from roles_runtime.errors import ToolFailedError
from roles_runtime.llm.parts import UNKNOWN_MIME, Media
from roles_runtime.tools.result import Told, result_of


def told(result: CallToolResult) -> Told:
    """The texts, with pictures, sounds and files as attachments.

    Raises:
        ToolFailedError: the server says that it is an error.
    """
    parts = [_part(block) for block in result.content]
    if result.is_error:
        raise ToolFailedError("\n".join(part for part in parts if isinstance(part, str)))
    if not parts:
        return result_of("" if result.structured_content is None else result.structured_content)
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if len(texts) == len(parts) else result_of(parts)


def _part(block: ContentBlock) -> str | Media:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return _media(block.data, block.mime_type, block.type)
        case ResourceLink():
            words = (block.title or block.name, block.description or "", block.mime_type or "")
            return f"{block.uri} ({'; '.join(filter(None, words))})"
        case EmbeddedResource(resource=TextResourceContents() as resource):
            return f"{resource.uri}:\n{resource.text}"
        case EmbeddedResource(resource=BlobResourceContents() as resource):
            return _media(resource.blob, resource.mime_type or UNKNOWN_MIME, str(resource.uri))
    return f"[a {type(block).__name__}, which can not be shown here]"


def _media(base64: str, mime: str, what: str) -> str | Media:
    try:
        return Media.model_validate({"data": base64, "mime": mime})
    except ValidationError as error:
        return f"[{what}: it can not be read: {error.errors()[0]['msg']}]"
