from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from apps.house import House, Terminal
from roles_runtime.posts.conversation import Conversation

PROMPT = "\x1b[?2004h"
"""What is sent when a line can be typed."""

SLEEPER = '[[role]]\ntype = "sleeper"\n'


class TestWithoutATerminal:
    def test_lines_of_stdin_are_questions_and_commands(self, house: House) -> None:
        (house.folder / "a file.txt").write_text("a", encoding="utf-8")
        lines = [
            "one",
            "",
            "/LOAD a file.txt",
            "two",
            "/save kept.yaml",
            "/info",
            "/nope",
            "/clear",
            "/help",
            "/bye",
            "x",
        ]

        done = house.run("--team", house.team(), stdin="\n".join(lines))

        assert done.returncode == 0
        assert done.stdout.startswith(
            "User -> Echo: one\nEcho -> User: one\n"
            "a file.txt goes with the next question.\n"
            "User -> Echo: files added: a file.txt.\n  two\n"
        )
        assert "Saved in kept.yaml.\n" in done.stdout
        assert "  rounds    2\n" in done.stdout
        assert "/sessions" in done.stdout
        assert "x" not in done.stdout.splitlines()
        assert done.stderr == "There is no command /nope; /help lists them.\n"
        queries = [each.user_query for each in Conversation.from_yaml(house.folder / "kept.yaml").rounds]
        assert queries == ["one", "files added: a file.txt.\ntwo"]

    def test_a_last_line_without_its_end_counts_and_no_input_is_the_end(self, house: House) -> None:
        assert house.run("--team", house.team(), stdin="only").stdout == "User -> Echo: only\nEcho -> User: only\n"
        assert house.run("--team", house.team(), stdin="").returncode == 0
        assert house.run("--team", house.team(), stdin="\n\n").returncode == 0

    def test_a_mistake_is_told_and_the_chat_goes_on(self, house: House) -> None:
        (house.folder / "folder").mkdir()
        os.mkfifo(house.folder / "pipe")
        lines = ["/load", "/load missing", "/load folder", "/load pipe", "/save nowhere/x.yaml", "/load \0", "hello"]

        done = house.run("--team", house.team(), stdin="\n".join(lines))

        assert done.returncode == 0
        assert done.stdout.endswith("Echo -> User: hello\n")
        assert done.stderr.splitlines()[:5] == [
            "Say which file: /load FILE",
            "Error: missing: it can not be read: No such file or directory.",
            "Error: folder: it is no regular file.",
            "Error: pipe: it is no regular file.",
            "Error: nowhere/x.yaml: it can not be written: No such file or directory.",
        ]

    def test_a_name_that_the_locale_does_not_have_is_told_and_the_chat_goes_on(self, house: House) -> None:
        ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

        done = house.run("--team", house.team(), stdin="/save é.yaml\nhello", **ascii_only)

        assert done.returncode == 0
        assert done.stdout.endswith("Echo -> User: hello\n")
        assert "the locale has no such name" in done.stderr

    def test_a_file_that_went_away_is_told_and_the_chat_goes_on(self, house: House) -> None:
        process = house.start("--team", house.team())
        assert process.stdin is not None
        assert process.stdout is not None
        (house.folder / "a.txt").write_text("a", encoding="utf-8")
        process.stdin.write("/load a.txt\n")
        process.stdin.flush()
        assert process.stdout.readline() == "a.txt goes with the next question.\n"
        (house.folder / "a.txt").unlink()

        out, err = process.communicate("gone\nstill here\n", timeout=60)

        assert out == "User -> Echo: still here\nEcho -> User: still here\n"
        assert err.startswith("Error: a.txt: ")

    def test_goes_on_with_a_session(self, house: House) -> None:
        team = house.team()
        house.run("--team", team, "--session", "mine", stdin="one\n")

        house.run("--team", team, "--session", "mine", stdin="two\n")

        assert [each["reply"] for each in house.rounds("mine")] == ["one", "two"]

    def test_sigterm_ends_it_while_it_waits_for_a_line(self, house: House) -> None:
        process = house.start("--team", house.team())
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("hello\n")
        process.stdin.flush()
        process.stdout.readline()
        assert process.stdout.readline() == "Echo -> User: hello\n"

        process.send_signal(signal.SIGTERM)

        assert process.wait(60) == 143
        process.communicate()
        assert json.loads(house.here("sessions", "--json").stdout)[0]["owner"] == ""


class TestAtATerminal:
    def test_ctrl_c_cancels_the_round_and_keeps_the_session_and_ctrl_d_leaves(
        self, house: House, terminals: list[Terminal]
    ) -> None:
        terminal = Terminal(house, "--team", house.team(SLEEPER), "--session", "mine")
        terminals.append(terminal)

        terminal.wait_for(PROMPT)
        terminal.type("first\r")
        terminal.wait_for("sleeping")
        terminal.type("\x03")
        terminal.wait_for("The round failed (cancelled)")
        terminal.wait_for(PROMPT)
        terminal.type("second\r")
        terminal.wait_for("sleeping")
        terminal.type("\x03")
        terminal.wait_for("The round failed (cancelled)")
        terminal.wait_for(PROMPT)
        terminal.type("\x04")

        assert terminal.end() == 0
        assert [each["reason"] for each in house.rounds("mine")] == ["cancelled", "cancelled"]

    def test_ctrl_c_at_the_prompt_only_drops_the_line(self, house: House, terminals: list[Terminal]) -> None:
        terminal = Terminal(house, "--team", house.team())
        terminals.append(terminal)

        terminal.wait_for(PROMPT)
        terminal.type("never mind\x03")
        terminal.wait_for(PROMPT)
        terminal.type("/exit\r")

        assert terminal.end() == 0
        assert house.here("sessions").stdout == "There is no session yet.\n"

    def test_what_was_typed_is_kept_for_this_user_alone(self, house: House, terminals: list[Terminal]) -> None:
        terminal = Terminal(house, "--team", house.team())
        terminals.append(terminal)

        terminal.wait_for(PROMPT)
        terminal.type("remember me\r")
        terminal.wait_for("Echo")
        terminal.wait_for(PROMPT)
        terminal.type("\x04")

        assert terminal.end() == 0
        history = house.data / "history"
        assert "+remember me" in history.read_text(encoding="utf-8")
        assert history.stat().st_mode & 0o777 == 0o600

    def test_sigterm_at_the_prompt_gives_the_terminal_back(self, house: House, terminals: list[Terminal]) -> None:
        terminal = Terminal(house, "--team", house.team())
        terminals.append(terminal)

        terminal.wait_for(PROMPT)
        terminal.signal(signal.SIGTERM)

        assert terminal.end() == 143
        assert terminal.echoes


def test_the_history_that_can_not_be_kept_is_told(house: House, terminals: list[Terminal]) -> None:
    (house.data / "history").mkdir(parents=True)
    terminal = Terminal(house, "--team", house.team())
    terminals.append(terminal)

    assert terminal.end() == 2
    assert "the history can not be kept" in terminal.text
    assert Path(house.data).is_dir()
