"""Every example runs, offline, and says what its first line promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAYS = {
    "own_role": "GOOD MORNING!",
    "side_by_side": "This is question 2 of right.",
    "several_posts": "Optimist: it will work; Sceptic: show me",
    "scripted_model": "Planner -> User: Leaves let go; so may we.",
    "files_in_plot_out": "image/png",
    "own_model": "Polly wants a cracker",
    "own_provider": "Polly wants a cracker",
    "tools": "Clerk keeps: buy tea; 42",
}


def test_every_example_is_known_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_it_runs_and_says_what_it_promises(name: str, tmp_path: Path) -> None:
    path = EXAMPLES / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 100
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}

    ran = subprocess.run(
        [sys.executable, "-W", "error", path],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        env=environment,
        cwd=tmp_path,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert SAYS[name] in ran.stdout
    assert ran.stderr == ""
