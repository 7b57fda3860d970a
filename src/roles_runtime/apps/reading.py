"""``sessions`` and ``show``: what a store tells, whoever owns its sessions now."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from roles_runtime.apps.assemble import make_store
from roles_runtime.apps.board import MAX_ROWS, Middle, Moment
from roles_runtime.apps.costs import Costs, cost_document, cost_line
from roles_runtime.apps.jaeger import trace_line
from roles_runtime.apps.plain import print_json, round_lines, write_svg
from roles_runtime.apps.shown import round_document
from roles_runtime.apps.text import one_line
from roles_runtime.errors import RolesError, SessionNotFoundError
from roles_runtime.posts.attachment import Json
from roles_runtime.posts.conversation import Conversation
from roles_runtime.posts.event import Entry
from roles_runtime.runtime.restore import read_session
from roles_runtime.stores.store import SessionInfo
from roles_runtime.telemetry.traceparent import trace_id

if TYPE_CHECKING:
    from roles_runtime.apps.config import Config

HEADINGS = ("session", "last written (UTC)", "entries", "first question", "open in")


async def list_sessions(config: Config, *, as_json: bool) -> int:
    """Prints all sessions, the one last written to first."""
    async with make_store(config, read_only=True) as store:
        found = await store.sessions()
    if as_json:
        print_json([_document(each) for each in found])
        return 0
    print_sessions(found)
    return 0


def print_sessions(found: list[SessionInfo]) -> None:
    """Prints sessions as a table."""
    if not found:
        print("There is no session yet.")
        return
    rows = [_row(each) for each in found]
    if sys.stdout.isatty():
        from roles_runtime.apps.screen import print_table

        print_table(HEADINGS, rows)
        return
    for row in (HEADINGS, *rows):
        print("\t".join(row))


async def show_session(config: Config, session_id: str, *, as_json: bool, svg: Path | None = None) -> int:
    """Prints all rounds of a session.

    Args:
        config: Where the store is.
        session_id: Which one.
        as_json: As one JSON object.
        svg: Draw the last round into this file instead.

    Raises:
        SessionNotFoundError: there is no such session.
    """
    costs, middle = Costs(), Middle(MAX_ROWS)

    def take(entry: Entry) -> None:
        costs.take(entry)
        middle.take(entry.event)

    async with make_store(config, read_only=True) as store:
        restored = await read_session(store, session_id, take)
    if not restored.seq:
        raise SessionNotFoundError(session_id)
    conversation = restored.conversation
    if svg is not None:
        _draw(conversation, middle.moment, svg)
    elif as_json:
        rounds = _round_documents(conversation, costs)
        print_json({"session_id": session_id, "rounds": rounds, "usage": cost_document(costs.of_all())})
    else:
        print("\n".join(conversation_lines(conversation, costs, config.settings.telemetry.jaeger_url)))
    return 0


def conversation_lines(conversation: Conversation, costs: Costs, jaeger_url: str) -> Iterator[str]:
    """All rounds, readable, each with what it cost and its trace if it has one (by round), and the sum at the end."""
    for number, each in enumerate(conversation.rounds, 1):
        if number > 1:
            yield ""
        yield f"--- round {number}: {each.state.value} ---"
        if traced := trace_id(each.traceparent):
            yield trace_line(jaeger_url, traced)
        yield from round_lines(each)
        spent = cost_line(costs.of_round(each.id))
        if spent:
            yield f"Cost: {spent}."
    total = cost_line(costs.of_all())
    if total and len(conversation.rounds) > 1:
        yield ""
        yield f"Cost of all rounds: {total}."


def _round_documents(conversation: Conversation, costs: Costs) -> list[Json]:
    return [
        {
            **round_document(each),
            "usage": cost_document(costs.of_round(each.id)),
            "trace_id": trace_id(each.traceparent) or None,
        }
        for each in conversation.rounds
    ]


def _draw(conversation: Conversation, board: Moment | None, path: Path) -> None:
    from roles_runtime.apps.screen import picture

    if not conversation.rounds:
        raise RolesError(f"{path}: the session has no round to draw.")
    write_svg(path, picture(conversation.rounds[-1], board=board))


def _row(info: SessionInfo) -> tuple[str, ...]:
    when = datetime.fromtimestamp(info.updated_at // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return (one_line(info.session_id), when, str(info.entries), one_line(info.title, 80), one_line(info.owner))


def _document(info: SessionInfo) -> Json:
    return {
        "session_id": info.session_id,
        "entries": info.entries,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
        "title": info.title,
        "owner": info.owner,
    }
