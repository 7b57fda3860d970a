"""The chat: one question after the other, in one session."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anyio
from anyio import to_thread

from roles_runtime.apps.asking import ask_and_show, best_view
from roles_runtime.apps.assemble import make_data_dir, make_runtime
from roles_runtime.apps.interrupts import INTERRUPT, TERMINATE, Patience, SignalError, exit_status, on_signals
from roles_runtime.apps.lines import ReadLine, is_terminal, no_lines, prompt_lines, stream_lines
from roles_runtime.apps.notices import Notices, tell
from roles_runtime.apps.reading import print_sessions
from roles_runtime.apps.text import one_line
from roles_runtime.apps.tracing import Tracing, tracing
from roles_runtime.errors import RolesError
from roles_runtime.runtime.session import Session

if TYPE_CHECKING:
    from roles_runtime.apps.config import Config

_Command: TypeAlias = Callable[[str], Awaitable[None]]

HELP = {
    "/help": "what can be said here",
    "/load FILE": "hand a file over with the next question",
    "/save [FILE]": "write the conversation as YAML",
    "/sessions": "list all sessions",
    "/info": "tell about this session",
    "/clear": "clear the screen",
    "/exit": "leave (also Ctrl-D); Ctrl-C cancels a running round",
}
_ALIASES = {"/bye": "/exit", "/quit": "/exit"}


async def chat(config: Config, *, session_id: str | None, unsafe_no_sandbox: bool) -> int:
    """Reads questions until the end of the input; returns the exit status.

    Raises:
        RolesError: the session could not be opened.
    """
    async with (
        tracing(config) as traced,
        make_runtime(config, telemetry=traced.telemetry, unsafe_no_sandbox=unsafe_no_sandbox) as runtime,
    ):
        session = await runtime.session(session_id)
        at_terminal = is_terminal()
        if at_terminal:
            read = prompt_lines(make_data_dir(config) / "history", [word.split()[0] for word in HELP])
        else:
            read = no_lines if sys.stdin is None else stream_lines(sys.stdin.fileno())
        talk = Chat(session, read, traced)
        talk.notices.tell_models()
        if at_terminal:
            print(f"Session {session.id}. Ask, or say /help.", flush=True)
        number = await talk.run(TERMINATE if at_terminal else (*INTERRUPT, *TERMINATE))
        if at_terminal and not number:
            print(f"Go on later with: --session {session.id}", flush=True)
    return exit_status(number) if number else 0


class Chat:
    """One conversation with a person.

    Attributes:
        session: Where it is kept.
        notices: What the user is told beside the round.
        files: What goes with the next question.
    """

    def __init__(self, session: Session, read: ReadLine, traced: Tracing | None = None) -> None:
        self.session = session
        self.notices = Notices(session, traced)
        self.files: list[Path] = []
        self._read = read
        self._over = False
        self._ended_by = 0
        self._scope = anyio.CancelScope()
        self._commands: dict[str, _Command] = {
            "/help": self._help,
            "/load": self._load,
            "/save": self._save,
            "/sessions": self._sessions,
            "/info": self._info,
            "/clear": self._clear,
            "/exit": self._exit,
        }

    async def run(self, ending: tuple[int, ...]) -> int:
        """Talks until the input ends.

        Args:
            ending: Signals that end the chat, after the running round was cancelled and written down.

        Returns:
            The signal that ended it, or 0.
        """
        with on_signals(self._end, ending), self._scope:
            while not self._over:
                line = await self._read()
                if line is None:
                    break
                await self.take(line.strip())
        return self._ended_by

    async def take(self, line: str) -> None:
        """Takes a command or a question."""
        if not line:
            return
        if not line.startswith("/"):
            await self._ask(line)
            return
        word, _, rest = line.partition(" ")
        name = word.lower()
        command = self._commands.get(_ALIASES.get(name, name))
        if command is None:
            tell(f"There is no command {one_line(word, 40)}; /help lists them.")
            return
        try:
            await command(rest.strip())
        except RolesError as error:
            tell(f"Error: {one_line(str(error), 2000)}")

    async def _ask(self, question: str) -> None:
        files, self.files = self.files, []
        patience = Patience(self.session)
        # Ctrl-C ends the round here; where it ends the chat as well, `run` listens to it already.
        signals = INTERRUPT if is_terminal() else ()
        try:
            await ask_and_show(self.session, question, files, best_view(), self.notices, patience, signals=signals)
        except SignalError:
            tell("Cancelled.")
        except RolesError as error:
            tell(f"Error: {one_line(str(error), 2000)}")
            return
        rounds = self.session.rounds
        if files and not (rounds and rounds[-1].post_list):
            # The round ended before the team was told of them: they go with the next question.
            self.files = [*files, *self.files]

    def _end(self, number: int) -> None:
        self._ended_by, self._over = number, True
        if self.session.running:
            self.session.ground.children.start(self.session.cancel())
        else:
            self._scope.cancel()

    async def _help(self, _: str) -> None:
        for words, meaning in HELP.items():
            print(f"  {words:<14}{meaning}", flush=True)

    async def _load(self, name: str) -> None:
        if not name:
            tell("Say which file: /load FILE")
            return
        path = _path(name)
        try:
            kind = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            tell(f"Error: {one_line(str(path))}: it can not be read: {getattr(error, 'strerror', error)}.")
            return
        if not stat.S_ISREG(kind):
            tell(f"Error: {one_line(str(path))}: it is no regular file.")
            return
        self.files.append(path)
        print(f"{one_line(str(path))} goes with the next question.", flush=True)

    async def _save(self, name: str) -> None:
        path = _path(name or f"{self.session.id}.yaml")
        try:
            await to_thread.run_sync(self.session.conversation.to_yaml, path)
        except OSError as error:
            tell(f"Error: {one_line(str(path))}: it can not be written: {error.strerror}.")
            return
        except UnicodeEncodeError:
            tell(f"Error: {one_line(str(path))}: the locale has no such name; say another, or set PYTHONUTF8=1.")
            return
        print(f"Saved in {one_line(str(path))}.", flush=True)

    async def _sessions(self, _: str) -> None:
        print_sessions(await self.session.ground.store.sessions())

    async def _info(self, _: str) -> None:
        session, ground = self.session, self.session.ground
        models = {seat.model.name for seat in ground.seats.values() if seat.model is not None}
        walls = {None: "not decided before the first code runs", True: "on", False: "OFF"}
        usage = session.usage
        facts = {
            "session": session.id,
            "team": f"{', '.join(ground.team.roles)}; {ground.team.leader.name} leads",
            "models": ", ".join(sorted(models)) or "none",
            "rounds": str(len(session.rounds)),
            "usage": f"{usage.calls} calls, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out",
            "sandbox": walls[session.sandbox] if ground.kernels is not None else "no code runs",
            "files": str(session.workspace.files),
        }
        troubled = {
            each.model: each for seat in ground.seats.values() for each in seat.circuits if each.state != "closed"
        }
        for state in troubled.values():
            facts[f"! {state.model}"] = (
                f"is left alone for another {state.left_s:.0f} s after {state.failures} failures: {state.problem}"
            )
        for name, value in facts.items():
            print(f"  {one_line(name):<10}{one_line(value)}", flush=True)

    async def _clear(self, _: str) -> None:
        if sys.stdout.isatty():
            print("\x1b[2J\x1b[H", end="", flush=True)

    async def _exit(self, _: str) -> None:
        self._over = True


def _path(name: str) -> Path:
    return Path(name.strip("'\"")).expanduser()
