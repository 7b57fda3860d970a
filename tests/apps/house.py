"""A command line to test: in this process, in another one, and at a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

import roles_runtime
from roles_runtime.apps.cli import app

PATIENCE_S = 60.0
"""Longer than anything here takes on a slow machine; nothing waits for it to pass."""

ECHO = '[[role]]\ntype = "echo"\n'

# What another package would bring: roles by entry point, found where PYTHONPATH leads.
PLUGIN = '''
import asyncio
from pathlib import Path
from roles_runtime.errors import ConfigError
from roles_runtime.roles.role import Role

class Sleeper(Role):
    """Sleeps until it is cancelled."""
    name = "Sleeper"
    async def reply(self, turn):
        turn.draft.status("sleeping")
        await asyncio.sleep(3600)

class Stubborn(Role):
    """Does not heed its cancellation."""
    name = "Stubborn"
    async def reply(self, turn):
        turn.draft.status("being stubborn")
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass

class Raiser(Role):
    """Raises."""
    name = "Raiser"
    async def reply(self, turn):
        raise RuntimeError("no \\x1b[31mluck\\x1b[0m\\u202e today")

class Wild(Role):
    """Answers what a terminal would obey."""
    name = "Wild"
    async def reply(self, turn):
        return turn.answer("\\x1b]0;owned\\x07\\x1b[2Jsafe [red]markup[/red] \\u202eevil\\x9b31m :smile:")

class Careful(Role):
    """Asks before it answers."""
    name = "Careful"
    async def reply(self, turn):
        turn.draft.status("being careful")
        first = await turn.approve("May I \\x1b[2Jdelete it?")
        second = await turn.approve("And the rest?")
        return turn.answer(f"first {first}, second {second}")

class Number:
    """No role at all."""

class Needy(Role):
    """Needs a word, and takes a number."""
    def __init__(self, word: str, *, size: int = 3) -> None:
        self.name, self.word, self.size = "Needy", word, size
    async def reply(self, turn):
        return turn.answer(self.word * self.size)

class Counting:
    """Middleware with options."""
    def __init__(self, first: int = 0, *names: str, limit: float | None = None, folder: str | Path | None = None,
                 home: Path | None = None, other: Number | None = None) -> None:
        if limit == 13:
            raise ConfigError("Counting", "limit", "it is 13.")
        self.said = (first, names, limit, folder, home)
    async def __call__(self, turn, respond):
        return await respond(turn)

def counting(first: int) -> Counting:
    """Makes a middleware."""
    return Counting(first)

async def plain(turn, respond):
    """A middleware itself."""
    return await respond(turn)

made = Counting(7)

class Shouting:
    """Middleware: makes answers loud."""
    async def __call__(self, turn, respond):
        answer = await respond(turn)
        answer.message = answer.message.upper()
        return answer
'''
ENTRY_POINTS = """
[roles_runtime.roles]
sleeper = house_guests:Sleeper
stubborn = house_guests:Stubborn
raiser = house_guests:Raiser
wild = house_guests:Wild
careful = house_guests:Careful
number = house_guests:Number
needy = house_guests:Needy
broken = house_guests:Missing

[roles_runtime.middleware]
shouting = house_guests:Shouting
counting = house_guests:Counting
counting_from = house_guests:counting
plain = house_guests:plain
made = house_guests:made
number = house_guests:Number
"""


class House:
    """A folder with its own data folder, store and guests, and ways to start the command line in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.environment = {
            # What is printed into a pipe waits, as it does at a user's.
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("ROLES_", "OTEL_")) and name != "PYTHONUNBUFFERED"
            },
            "ROLES_DATA_DIR": str(self.data),
            # The other process runs the same source as this one.
            "PYTHONPATH": os.pathsep.join((str(folder / "guests"), str(Path(roles_runtime.__file__).parents[1]))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TERM": "xterm-256color",
            "COLUMNS": "100",
            # This terminal does not say where its cursor is.
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }

    def team(self, text: str = ECHO, name: str = "team.toml") -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def here(self, *words: str, stdin: str = "") -> Result:
        """Runs it in this process."""
        return CliRunner().invoke(app, list(words), input=stdin, catch_exceptions=False)

    def run(
        self, *words: str, stdin: str = "", first: Callable[[], None] | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs it in a process of its own, to its end; that process calls ``first`` before it begins."""
        return subprocess.run(
            command(*words),
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            cwd=self.folder,
            env={**self.environment, **environment},
            check=False,
            preexec_fn=first,
        )

    def wait_for_session(self) -> str:
        """Waits until a first question was asked in some process; returns the session's id."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found = json.loads(self.here("sessions", "--json").stdout)
            if found and found[0]["entries"] > 1:
                return str(found[0]["session_id"])
        raise AssertionError("nobody asked anything")

    def wait_until_ended(self, session_id: str) -> None:
        """Waits until the last round of a session is over."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self.rounds(session_id)[-1]["reason"] is not None:
                return
        raise AssertionError("the round does not end")

    def rounds(self, session_id: str) -> list[dict[str, Any]]:
        """What ``show --json`` tells of a session."""
        rounds: list[dict[str, Any]] = json.loads(self.here("show", session_id, "--json").stdout)["rounds"]
        return rounds

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Starts it in a process of its own, with pipes."""
        return subprocess.Popen(
            command(*words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            env=self.environment,
            preexec_fn=_heed_signals,
        )


class Terminal:
    """The command line in a process of its own, at a terminal of its own."""

    def __init__(self, house: House, *words: str) -> None:
        self.screen = b""
        self._seen = 0
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self._process = subprocess.Popen(
            command(*words),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=house.folder,
            env=house.environment,
            preexec_fn=lambda: (os.login_tty(theirs), _heed_signals()),
        )
        os.close(theirs)

    def wait_for(self, text: str) -> str:
        """Reads until the text comes, after what the last call of this waited for; returns what came before it."""
        start, deadline = self._seen, time.monotonic() + PATIENCE_S
        while (found := self.screen.find(text.encode(), start)) < 0:
            assert self._read(deadline), f"{text!r} never came:\n{self.text}"
        self._seen = found + len(text.encode())
        return self.screen[start:found].decode("utf-8", "replace")

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        """Reads to the end; returns the exit status."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            pass
        return self._process.wait(PATIENCE_S)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    @property
    def echoes(self) -> bool:
        """Whether what is typed is shown again, as a shell's user expects."""
        flags: int = termios.tcgetattr(self._ours)[3]
        return bool(flags & termios.ECHO)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(PATIENCE_S)
        os.close(self._ours)

    @property
    def text(self) -> str:
        return self.screen.decode("utf-8", "replace")

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # the other side is closed
            return False
        self.screen += data
        return bool(data)


def _heed_signals() -> None:
    # Whoever started the tests may ignore some, and children inherit that.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "roles_runtime", *words]
