"""A thousand sessions side by side over SQLite: all are answered, memory stays, every one restores elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SESSIONS, ROUNDS = 1_000, 5
CROWD = Path(__file__).with_name("crowd.py")


def crowd(*arguments: object) -> dict[str, object]:
    ran = subprocess.run(
        [sys.executable, "-W", "error", CROWD, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, object] = json.loads(ran.stdout)
    return found


def test_a_thousand_sessions_run_side_by_side_keep_their_size_and_restore_in_a_new_process(tmp_path: Path) -> None:
    store = tmp_path / "crowd.db"

    ran = crowd("run", store, SESSIONS, ROUNDS)

    answers = ran["answers"]
    assert isinstance(answers, dict)
    assert len(answers) == SESSIONS
    for session_id, replies in answers.items():
        assert [reply.splitlines()[-1] for reply in replies[1:]] == [
            f"answer to question {number} of {session_id}" for number in range(2, ROUNDS + 1)
        ]
        assert replies[0].endswith(f"question 1 of {session_id}")
    resident = ran["resident"]
    assert isinstance(resident, list)
    assert resident[4] < 1.10 * resident[1], [size >> 20 for size in resident]

    restored = crowd("restore", store, SESSIONS)

    assert restored.keys() == answers.keys()
    for session_id, rounds in restored.items():
        assert isinstance(rounds, list)
        assert [each[1:4] for each in rounds] == [
            ["finished", f"question {number} of {session_id}", 4] for number in range(1, ROUNDS + 1)
        ]
        assert [each[4] for each in rounds] == answers[session_id]
