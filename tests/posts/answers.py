"""Reads a model's answer in a test: cut anyhow, from whatever iterable."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from typing import Any

from roles_runtime.posts.draft import Draft
from roles_runtime.posts.event import PassingEvent
from roles_runtime.posts.translator import PostTranslator


def answer(**fields: object) -> str:
    """The JSON text of an answer with these fields, in this order."""
    return json.dumps({"response": fields})


def new_draft(events: list[PassingEvent] | None = None) -> Draft:
    return Draft("round-1", "Planner", (events if events is not None else []).append)


def fill(chunks: Iterable[str], draft: Draft | None = None, **options: Any) -> Draft:
    """A draft, filled by the translator."""
    draft = draft or new_draft()
    asyncio.run(PostTranslator.raw_text_to_post(chunks, draft, **options))
    return draft


def outcome(draft: Draft) -> tuple[object, ...]:
    """All that a draft says, without the ids that differ each time."""
    post = draft.post
    return (
        post.message,
        post.send_to,
        [(each.type, each.content) for each in post.attachment_list],
        draft.complete,
        draft.problem,
        draft.fields,
        draft.warnings,
        draft.reasoning,
        draft.raw_text,
    )


def cuts(text: str) -> Iterator[list[str]]:
    """The text whole, char by char, and cut once at every place."""
    yield [text]
    yield list(text)
    for place in range(len(text) + 1):
        yield [text[:place], text[place:]]
