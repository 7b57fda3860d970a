"""The scripted rounds of `examples/`: what a user sees of them on the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
CHANGE = re.compile(r"^\[task #(\d) (in_progress|completed): ([^(\]]+)\((\w+)\)", re.MULTILINE)


def run(data: Path, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "roles_runtime", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, "ROLES_DATA_DIR": str(data)},
        cwd=REPOSITORY,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_five_tasks_that_wait_for_each_other_are_worked_off_before_ones_eyes(tmp_path: Path) -> None:
    told = run(tmp_path, "ask", "How do sales compare?", "--session", "s", "--team", "examples/five_tasks.toml")
    steps = [(number, state, owner) for number, state, _, owner in CHANGE.findall(told)]
    begun = [f"{number} {owner}" for number, state, owner in steps if state == "in_progress"]
    assert [*dict.fromkeys(begun)] == ["1 Analyst", "2 Analyst", "3 Analyst", "4 Analyst", "5 Writer"]
    for number in range(2, 6):
        before = steps.index((str(number - 1), "completed", "Analyst"))
        after = next(at for at, (task, state, _) in enumerate(steps) if (task, state) == (str(number), "in_progress"))
        assert before < after, "what waits begins last"
    assert "[all tasks are completed: 5]" in told
    assert "    5. Write the report <narrow depend on 3, 4>" in told
    assert told.rstrip().splitlines()[-2:] == ["  [plan]", "  > All is done."]

    assert run(tmp_path, "tasks", "s").strip() == "There is no task."
    done = json.loads(run(tmp_path, "tasks", "s", "--done", "--json"))["tasks"]
    assert [(task["id"], task["status"], task["owner"]) for task in done] == [
        *((str(number), "completed", "Analyst") for number in range(1, 5)),
        ("5", "completed", "Writer"),
    ]
    assert done[4]["blockedBy"] == ["3", "4"]
    assert "t4 --> t5" in run(tmp_path, "tasks", "s", "--done", "--graph")


def test_a_round_that_goes_wrong_twice_and_corrects_itself_reads_like_a_story(tmp_path: Path) -> None:
    script = "scripted:examples/corrections.yaml"
    told = run(
        tmp_path, "ask", "Sales by region?", "--session", "s", "--file", "examples/data/orders.csv", "--model", script
    )
    assert "East sells most" in told
    tree = run(tmp_path, "trace", "s")
    assert "5 model calls, 2 cells (1 failed), 2 self-corrections." in tree
    hops = [line.split("─ ")[1].split("[")[0].strip() for line in tree.splitlines() if " answers " in line]
    assert hops == [
        "Planner answers User",
        "Planner answers itself",
        "CodeInterpreter answers Planner",
        "CodeInterpreter answers itself",
        "Planner answers CodeInterpreter",
    ]
    assert "[error: KeyError" in tree
    picture = tmp_path / "trace.svg"
    run(tmp_path, "trace", "s", "--svg", str(picture))
    assert "<svg" in picture.read_text(encoding="utf-8")
