"""The sample configuration works as it stands, and so does the command line with nothing configured."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from apps.house import House, Terminal
from roles_runtime.apps.config import read_config
from roles_runtime.runtime.limits import Limits

ROOT = Path(__file__).parents[2]
QUESTION = ("Total sales by region, and plot them", "--file", str(ROOT / "examples" / "data" / "orders.csv"))


def test_the_sample_says_only_what_there_is() -> None:
    settings = read_config(ROOT / "examples" / "team.toml").settings

    assert [role.type for role in settings.role] == ["planner", "code_interpreter", "model_role"]
    assert msgspec.structs.replace(Limits(), cell_timeout_s=60.0, max_internal_chat_round_num=12) == Limits(
        **settings.limits.model_dump(exclude_none=True)  # type: ignore[attr-defined]
    )


@pytest.mark.parametrize("options", [(), ("--team", "examples/team.toml")], ids=["default", "sample"])
def test_a_question_about_a_file_is_answered_and_drawn(
    house: House, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)

    done = house.here("ask", *QUESTION, *options, "--json")

    answer = json.loads(done.stdout)
    assert done.exit_code == 0
    assert answer["round"]["state"] == "finished"
    assert "3479.14" in done.stdout
    pictures = [Path(each["path"]) for each in answer["artifacts"] if each["mime"] == "image/png"]
    assert pictures
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_a_terminal_shows_it_live(house: House, terminals: list[Terminal]) -> None:
    terminal = Terminal(house, "ask", *QUESTION)
    terminals.append(terminal)

    assert terminal.end() == 0
    for shown in ("Planner", "CodeInterpreter", "▶", " code ", " result ", "3479.14", ".png: ", "executing code"):
        assert shown in terminal.text
    assert "is no LLM" in terminal.text
    assert "handler raised" not in terminal.text
