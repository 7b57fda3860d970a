"""``ask``: one question, one round, one exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roles_runtime.apps.approving import answering
from roles_runtime.apps.assemble import make_runtime
from roles_runtime.apps.interrupts import INTERRUPT, TERMINATE, Patience, SignalError, exit_status
from roles_runtime.apps.notices import Notices, tell
from roles_runtime.apps.plain import PlainView, print_json
from roles_runtime.apps.shown import NoView, View, failure_line, round_document
from roles_runtime.apps.tasks import task_documents
from roles_runtime.apps.tracing import tracing
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.event import Event
from roles_runtime.runtime.session import Session

if TYPE_CHECKING:
    from roles_runtime.apps.config import Config

FINISHED, FAILED = 0, 1


async def ask_once(
    config: Config,
    question: str,
    files: Sequence[Path],
    *,
    session_id: str | None,
    as_json: bool,
    unsafe_no_sandbox: bool,
) -> int:
    """Asks, shows the round, and returns the exit status.

    Raises:
        RolesError: the question could not be asked at all.
    """
    async with (
        tracing(config) as traced,
        make_runtime(config, telemetry=traced.telemetry, unsafe_no_sandbox=unsafe_no_sandbox) as runtime,
    ):
        session = await runtime.session(session_id)
        notices = Notices(session, traced)
        if not as_json:
            notices.tell_models()
        patience = Patience(session)
        view = NoView() if as_json else best_view()
        try:
            record = await ask_and_show(
                session, question, files, view, notices, patience, signals=(*INTERRUPT, *TERMINATE)
            )
        except SignalError as interrupted:
            return exit_status(interrupted.number)
        if as_json:
            board = await session.tasks.list()
            print_json({"session_id": session.id, **round_document(record), "tasks": task_documents(board.tasks)})
            if failure := failure_line(record):
                tell(failure)
        elif session_id is None and config.store != "local:":
            tell(f"Go on with: --session {session.id}", style="2")
    if patience.number:
        return exit_status(patience.number)
    return FINISHED if record.state is RoundState.finished else FAILED


async def ask_and_show(
    session: Session,
    question: str,
    files: Sequence[Path],
    view: View,
    notices: Notices,
    patience: Patience,
    *,
    signals: Sequence[int],
) -> Round:
    """Asks, and shows the round as it goes.

    Raises:
        RolesError: the question could not be asked.
        SignalError: a signal came before the round began.
        OSError: what is shown could not be written; the round went on to its end, and stands in the store.
    """
    lost: list[OSError] = []

    with view:
        async with answering(session, view) as answer:

            def take(event: Event) -> None:
                notices.take(event)
                answer(event)
                try:
                    if not lost:
                        view.take(event)
                except OSError as error:
                    lost.append(error)

            async def asked() -> Round:
                if session.dormant:
                    # Another process may have gone on with it since.
                    await session.wake()
                view.begin((await session.tasks.list()).tasks)
                return await session.ask(question, files=files, on_event=take)

            record = await patience.ask(asked, signals)
        if lost:
            raise lost[0]
        view.end(record)
    notices.tell_trace(record.id)
    return record


def best_view() -> View:
    """The live screen on a terminal, plain lines elsewhere."""
    if not sys.stdout.isatty():
        return PlainView(sys.stdout)
    # Nobody but a terminal needs rich, which takes a moment to import.
    from roles_runtime.apps.screen import ScreenView, terminal

    return ScreenView(terminal())
