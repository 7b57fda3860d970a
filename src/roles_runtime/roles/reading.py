"""Reading an answer that may be plain text where JSON was asked for."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

from roles_runtime.posts.draft import Draft
from roles_runtime.posts.reader import RESPONSE
from roles_runtime.posts.translator import PostTranslator

# What an answer in JSON can begin with: the object, a fence, a list in its place, a block of reasoning.
_JSON_BEGINS = ("{", "`", "[", "<")
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


async def read_leniently(draft: Draft, text: AsyncGenerator[str, None]) -> None:
    """Takes an answer into the draft while it comes: JSON through the translator, anything else as the message."""
    pieces: list[str] = []
    async for piece in text:
        pieces.append(piece)
        if piece.strip():
            break
    begun = "".join(pieces)
    if not begun.strip():
        _whole(draft, begun)
        return
    if begun.lstrip().startswith(_JSON_BEGINS):
        await PostTranslator.raw_text_to_post(_resumed(begun, text), draft)
        if draft.problem is not None and not _means_json(draft.raw_text):
            plain = draft.raw_text
            draft.withdraw()
            _take_plain(draft, plain)
        return
    await _read_plain(draft, begun, text)


async def _read_plain(draft: Draft, begun: str, text: AsyncGenerator[str, None]) -> None:
    pieces = [begun]
    draft.grow_message(begun.lstrip())
    async for piece in text:
        pieces.append(piece)
        draft.grow_message(piece)
    draft.grow_message("", is_end=True)
    whole = "".join(pieces)
    if _means_json(whole):
        # The object came after a preface.
        draft.withdraw()
        await PostTranslator.raw_text_to_post([whole], draft)
        return
    _whole(draft, whole)


def _take_plain(draft: Draft, plain: str) -> None:
    draft.grow_message(_THINKING.sub("", plain).strip(), is_end=True)
    _whole(draft, plain)


def _whole(draft: Draft, raw_text: str) -> None:
    draft.raw_text = raw_text
    draft.fields.append("message")


def _means_json(raw_text: str) -> bool:
    return f'"{RESPONSE}"' in raw_text


async def _resumed(begun: str, text: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    yield begun
    async for piece in text:
        yield piece
