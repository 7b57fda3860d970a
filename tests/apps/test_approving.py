"""What a role asks is asked at the terminal; elsewhere the answer is no."""

from __future__ import annotations

from apps.house import House, Terminal

CAREFUL = '[[role]]\ntype = "careful"\n'


def test_without_a_terminal_it_is_no(house: House) -> None:
    done = house.run("ask", "Go.", "--team", house.team(CAREFUL), stdin="y\ny\n")
    assert done.stdout == "User -> Careful: Go.\nCareful -> User: first False, second False\n"
    assert "asks" not in done.stderr


def test_at_a_terminal_each_question_is_answered_by_itself(house: House, terminals: list[Terminal]) -> None:
    terminal = Terminal(house, "ask", "Go.", "--team", house.team(CAREFUL))
    terminals.append(terminal)

    before = terminal.wait_for("delete it? [y/N] ")
    assert "Careful asks: May I" in before
    assert "\x1b[2J" not in before
    terminal.type("yes\r")
    terminal.wait_for("Careful asks: And the rest? [y/N] ")
    terminal.type("\r")
    terminal.wait_for("first True, second False")

    assert terminal.end() == 0


def test_the_chat_asks_too_and_goes_on(house: House, terminals: list[Terminal]) -> None:
    prompt = "\x1b[?2004h"
    terminal = Terminal(house, "--team", house.team(CAREFUL))
    terminals.append(terminal)

    terminal.wait_for(prompt)
    terminal.type("Go.\r")
    terminal.wait_for("delete it? [y/N] ")
    terminal.type("n\r")
    terminal.wait_for("And the rest? [y/N] ")
    terminal.type("Y\r")
    terminal.wait_for("first False, second True")
    terminal.wait_for(prompt)
    terminal.type("\x04")

    assert terminal.end() == 0


def test_ctrl_c_at_a_question_cancels_the_round_and_keeps_the_chat(house: House, terminals: list[Terminal]) -> None:
    prompt = "\x1b[?2004h"
    terminal = Terminal(house, "--team", house.team(CAREFUL), "--session", "mine")
    terminals.append(terminal)

    terminal.wait_for(prompt)
    terminal.type("Go.\r")
    terminal.wait_for("delete it? [y/N] ")
    terminal.type("\x03")
    terminal.wait_for("The round failed (cancelled)")
    terminal.wait_for(prompt)
    terminal.type("\x04")

    assert terminal.end() == 0
    assert [each["reason"] for each in house.rounds("mine")] == ["cancelled"]


def test_what_was_typed_before_the_question_is_no_answer_to_it(house: House, terminals: list[Terminal]) -> None:
    terminal = Terminal(house, "ask", "Go.", "--team", house.team(CAREFUL))
    terminals.append(terminal)

    terminal.wait_for("delete it? [y/N] ")
    terminal.type("y\ry\r")
    terminal.wait_for("And the rest? [y/N] ")
    terminal.type("\r")
    terminal.wait_for("first True, second False")

    assert terminal.end() == 0
