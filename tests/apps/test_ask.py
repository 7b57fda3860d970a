from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from apps.house import House, command
from roles_runtime.apps.text import clean

SLEEPER = '[[role]]\ntype = "sleeper"\n'
RAISER = '[[role]]\ntype = "raiser"\n'
WILD = '[[role]]\ntype = "wild"\n'


class TestOneQuestion:
    def test_is_answered_in_plain_lines_where_stdout_is_no_terminal(self, house: House) -> None:
        done = house.run("ask", "hello", "--team", house.team())

        assert done.returncode == 0
        assert re.fullmatch(r"Go on with: --session [\w-]+\n", done.stderr)
        assert done.stdout == "User -> Echo: hello\nEcho -> User: hello\n"

    def test_goes_on_with_a_session_of_an_earlier_process(self, house: House) -> None:
        team = house.team()
        first = json.loads(house.run("ask", "one", "--team", team, "--json").stdout)

        second = json.loads(house.run("ask", "two", "--team", team, "--json", "--session", first["session_id"]).stdout)

        assert second["session_id"] == first["session_id"]
        assert [each["round"] for each in house.rounds(first["session_id"])] == [first["round"], second["round"]]

    def test_takes_files(self, house: House) -> None:
        (house.folder / "a.txt").write_text("a", encoding="utf-8")
        (house.folder / "b.txt").write_text("b", encoding="utf-8")
        (house.folder / "link.txt").symlink_to("b.txt")

        done = house.here("ask", "what?", "--team", house.team(), "--file", "a.txt", "--file", "link.txt", "--json")

        answer = json.loads(done.stdout)
        assert answer["reply"] == "files added: a.txt, link.txt.\nwhat?"
        kept = house.data / "sessions" / answer["session_id"] / "files" / "link.txt"
        assert kept.read_text(encoding="utf-8") == "b"
        assert not kept.is_symlink()

    def test_keeps_all_it_writes_for_this_user_alone(self, house: House) -> None:
        house.run("ask", "hello", "--team", house.team())

        assert house.data.stat().st_mode & 0o777 == 0o700
        assert (house.data / "roles.db").stat().st_mode & 0o777 == 0o600


class TestJson:
    def test_is_one_object_and_nothing_else(self, house: House) -> None:
        done = house.run("ask", "hello", "--team", house.team(), "--json")

        answer = json.loads(done.stdout)
        assert list(answer) == ["session_id", "round", "reason", "detail", "reply", "artifacts", "tasks"]
        assert list(answer["round"]) == ["id", "user_query", "state", "post_list"]
        assert (answer["reason"], answer["reply"], answer["artifacts"]) == (None, "hello", [])
        assert done.stdout.count("\n") == 1
        assert done.stderr == ""

    def test_is_whole_for_a_failed_round_too_and_stderr_says_why(self, house: House) -> None:
        done = house.run("ask", "hello", "--team", house.team(RAISER), "--json")

        answer = json.loads(done.stdout)
        assert done.returncode == 1
        assert (answer["reason"], answer["reply"], answer["round"]["state"]) == ("role_error", "", "failed")
        assert done.stderr == "The round failed (role_error): Role Raiser: RuntimeError: no luck today\n"

    def test_stays_pure_whatever_is_logged(self, house: House) -> None:
        done = house.run("ask", "hello", "--team", house.team(RAISER), "--json", "--verbose")

        json.loads(done.stdout)
        logged = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        assert any(line["level"] == "info" and line["role"] == "Raiser" for line in logged)

    def test_holds_nothing_that_a_terminal_obeys(self, house: House) -> None:
        done = house.here("ask", "hello \x1b[31m\u202e", "--team", house.team(WILD), "--json")

        assert clean(done.stdout) == done.stdout
        assert json.loads(done.stdout)["reply"].startswith("\x1b]0;owned\x07")


class TestBadUsage:
    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("ask",), "Missing argument"),
            (("ask", "x", "--nonsense"), "No such option"),
            (("nonsense",), "No such command"),
            (("ask", "  "), "Error: The question is empty; ask something."),
            (("ask", "x", "--store", "mongo://x"), "Error: command line: --store: there is no store named 'mongo'; "),
            (("ask", "x", "--store", "sqlite:x"), "Error: command line: --store: 'sqlite:x' names no SQLite store"),
            (("ask", "x", "--session", "../x"), "Error: '../x' can not be a session's id"),
            (("ask", "x", "--team", "missing.toml"), "Error: missing.toml: file: it can not be read"),
            (("show", "nobody"), "Error: There is no session 'nobody' in this store"),
            (("--model", "x", "sessions"), "write --model after sessions"),
        ],
    )
    def test_has_exit_status_2_one_line_and_no_traceback(self, house: House, words: tuple[str, ...], told: str) -> None:
        if words[0] == "ask" and "--team" not in words:
            words = (*words, "--team", house.team())

        done = house.here(*words)

        assert done.exit_code == 2
        assert told in " ".join(done.stderr.replace("│", " ").split())
        assert done.stdout == ""

    def test_never_shows_a_traceback(self, house: House) -> None:
        done = house.run("ask", "x", "--team", house.team("[limits]\ngrace = 1"))

        assert done.returncode == 2
        assert done.stderr == (
            f"Error: {house.folder}/team.toml: limits.grace: there is no such key; did you mean 'grace_s'?\n"
        )

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("missing.csv", "missing.csv"),
            ("../nowhere/x.csv", "../nowhere/x.csv"),
            ("folder", "folder"),
            ("pipe", "pipe"),
            ("dangling", "dangling"),
            ("/dev/zero", "/dev/zero"),
            ("bad\x1b[31mname", "badname"),
        ],
    )
    def test_of_a_file_names_it_and_writes_no_round(self, house: House, name: str, told: str) -> None:
        (house.folder / "folder").mkdir()
        os.mkfifo(house.folder / "pipe")
        (house.folder / "dangling").symlink_to("missing.csv")

        done = house.here("ask", "x", "--team", house.team(), "--file", name)

        assert done.exit_code == 2
        assert done.stderr.startswith(f"Error: {told}: ")
        assert done.stderr.count("\n") == 1
        assert house.here("sessions").stdout == "There is no session yet.\n"

    def test_of_a_file_ends_kernels_too(self, house: House) -> None:
        done = house.here("ask", "x", "--file", "missing.csv")

        assert done.exit_code == 2
        assert done.stderr.splitlines()[-1].startswith("Error: missing.csv: ")

    def test_of_a_store_names_it(self, house: House) -> None:
        (house.folder / "bad.db").write_bytes(b"no database at all, but long enough to be taken for one" * 100)

        done = house.here("ask", "x", "--team", house.team(), "--store", "sqlite:///bad.db")

        assert done.exit_code == 2
        assert "bad.db" in done.stderr

    def test_of_a_data_folder_names_it(self, house: House) -> None:
        (house.folder / "file").write_text("", encoding="utf-8")

        done = house.here("ask", "x", "--team", house.team(), "--data-dir", "file/data")

        assert done.exit_code == 2
        assert done.stderr.startswith("Error: file/data: the data folder can not be made: ")


class TestTextOfOthers:
    def test_is_shown_without_what_a_terminal_obeys(self, house: House) -> None:
        done = house.here("ask", "hello", "--team", house.team(WILD))

        assert done.stdout.splitlines()[-1] == "Wild -> User: safe [red]markup[/red] evil :smile:"

    def test_of_a_file_name_is_cleaned(self, house: House) -> None:
        (house.folder / "a\x1b[31mb.txt").write_text("a", encoding="utf-8")

        done = house.here("ask", "x", "--team", house.team(), "--file", "a\x1b[31mb.txt")

        assert done.exit_code == 0
        assert "\x1b" not in done.stdout


class TestOutput:
    def test_that_nobody_reads_any_more_ends_quietly(self, house: House) -> None:
        reader, writer = os.pipe()
        os.close(reader)

        done = _run_into(writer, house, "ask", "hello", "--team", house.team(), "--session", "mine")

        assert (done.returncode, done.stderr) == (141, "")
        assert [each["reply"] for each in house.rounds("mine")] == ["hello"]

    @pytest.mark.parametrize("command", ["show", "trace", "tasks", "sessions"])
    def test_that_nobody_reads_any_more_ends_reading_quietly_too(self, house: House, command: str) -> None:
        house.here("ask", "hello", "--team", house.team(), "--session", "mine")
        reader, writer = os.pipe()
        os.close(reader)

        done = _run_into(writer, house, command, *(["mine"] if command != "sessions" else []))

        assert (done.returncode, done.stderr) == (141, "")

    @pytest.mark.parametrize("options", [(), ("--json",)])
    def test_that_can_not_be_written_is_told_and_the_round_stands(self, house: House, options: tuple[str, ...]) -> None:
        full = os.open("/dev/full", os.O_WRONLY)

        done = _run_into(full, house, "ask", "hello", "--team", house.team(), "--session", "mine", *options)

        assert (done.returncode, done.stderr) == (2, "Error: [Errno 28] No space left on device\n")
        assert [each["reply"] for each in house.rounds("mine")] == ["hello"]

    def test_of_the_help_that_can_not_be_written_is_told_without_a_traceback(self, house: House) -> None:
        full = os.open("/dev/full", os.O_WRONLY)

        done = _run_into(full, house, "--help")

        assert (done.returncode, done.stderr) == (2, "Error: [Errno 28] No space left on device\n")

    def test_is_json_in_every_encoding(self, house: House) -> None:
        done = house.run("ask", "中文 é", "--team", house.team(), "--json", PYTHONIOENCODING="ascii")

        assert json.loads(done.stdout)["reply"] == "中文 é"

    def test_shows_what_a_terminal_can_not_by_its_code(self, house: House) -> None:
        done = house.run("ask", "é", "--team", house.team(), PYTHONIOENCODING="ascii")

        assert done.stdout.splitlines()[-1] == "Echo -> User: \\xe9"

    def test_of_bytes_that_are_no_text_is_text(self, house: House) -> None:
        (house.folder / "bad\udcff.txt").write_text("a", encoding="utf-8")

        done = house.run("ask", "bad \udcff", "--file", "bad\udcff.txt", "--team", house.team(), "--json")

        assert done.returncode == 0
        assert json.loads(done.stdout)["reply"].endswith("\nbad \N{REPLACEMENT CHARACTER}")


class TestSignals:
    @pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
    def test_cancel_the_round_write_it_down_and_say_so(self, house: House, number: int, status: int) -> None:
        process = house.start("ask", "hello", "--team", house.team(SLEEPER), "--json")
        session_id = house.wait_for_session()

        process.send_signal(number)
        out, err = process.communicate(timeout=60)

        assert process.returncode == status
        assert json.loads(out)["reason"] == "cancelled"
        assert err == "The round failed (cancelled): The round was cancelled.\n"
        assert [each["reason"] for each in house.rounds(session_id)] == ["cancelled"]

    @pytest.mark.parametrize("module", ["typer", "asyncio"])
    def test_ctrl_c_before_a_command_began_shows_no_traceback(self, house: House, module: str) -> None:
        (house.folder / "plant").mkdir()
        (house.folder / "plant" / f"{module}.py").write_text("raise KeyboardInterrupt", encoding="utf-8")

        done = house.run("ask", "hello", "--team", house.team(), PYTHONPATH=str(house.folder / "plant"))

        assert (done.returncode, done.stderr) == (130, "")

    def test_the_second_ends_the_process_at_once(self, house: House) -> None:
        team = house.team('[[role]]\ntype = "stubborn"\n[limits]\ngrace_s = 3600\n')
        process = house.start("ask", "hello", "--team", team)
        session_id = house.wait_for_session()

        process.send_signal(signal.SIGINT)
        house.wait_until_ended(session_id)
        process.send_signal(signal.SIGINT)

        process.communicate(timeout=60)
        assert process.returncode == 130


class TestReading:
    def test_works_while_another_process_owns_the_session(self, house: House) -> None:
        team = house.team(SLEEPER)
        process = house.start("ask", "hello", "--team", team)
        try:
            session_id = house.wait_for_session()

            listed = json.loads(house.here("sessions", "--json").stdout)
            busy = house.here("ask", "again", "--team", team, "--session", session_id)

            assert (listed[0]["title"], f"pid {process.pid} on" in listed[0]["owner"]) == ("hello", True)
            assert house.here("show", session_id).stdout.startswith("--- round 1: created ---\nUser -> Sleeper: hello")
            assert busy.exit_code == 2
            assert f"pid {process.pid} on" in busy.stderr
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)

    def test_shows_what_a_post_carries(self, house: House) -> None:
        answers = {"response": {"thought": "easy", "reply_type": "text", "reply_content": "It is 4."}}
        Path("answers.json").write_text(json.dumps([answers]), encoding="utf-8")
        team = house.team(
            'model = "scripted:answers.json"\n[[role]]\ntype = "code_interpreter"\n[kernel]\ntype = "none"\n'
        )
        asked = house.here("ask", "2 + 2?", "--team", team, "--json")
        session_id = json.loads(asked.stdout)["session_id"]

        shown = house.here("show", session_id).stdout

        assert "CodeInterpreter -> User: It is 4." in shown
        assert "  [thought]\n    easy\n" in shown

    def test_lists_sessions_in_columns(self, house: House) -> None:
        house.here("ask", "\x1b[31mred\tand\nmore", "--team", house.team())

        heading, row = house.here("sessions").stdout.splitlines()
        assert heading.split("\t")[0] == "session"
        assert row.split("\t")[3] == "red and more"

    def test_draws_the_last_round(self, house: House) -> None:
        asked = house.here("ask", "draw me", "--team", house.team(), "--json")

        done = house.here("show", json.loads(asked.stdout)["session_id"], "--svg", "round.svg")

        assert done.exit_code == 0
        assert Path("round.svg").read_text(encoding="utf-8").startswith("<svg ")


def test_help_is_told_without_what_only_a_chat_needs(house: House) -> None:
    done = house.run("--help", PYTHONPROFILEIMPORTTIME="1")

    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "Commands:" in done.stdout
    assert not imported & {"rich.console", "prompt_toolkit", "pydantic_settings", "structlog", "anyio", "apsw"}


def _run_into(stdout: int, house: House, *words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command(*words),
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            timeout=60,
            cwd=house.folder,
            env=house.environment,
            check=False,
        )
    finally:
        os.close(stdout)
