"""Random cancels, handler errors, role crashes and kernel kills leave nothing behind; `soak.py` runs for longer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SOAK = Path(__file__).with_name("soak.py")


def test_no_task_process_file_or_socket_is_left_after_a_rough_time(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()

    ran = subprocess.run(
        [sys.executable, SOAK, tmp_path, "12", "7"],
        capture_output=True,
        encoding="utf-8",
        timeout=200,
        env={**os.environ, "TMPDIR": str(temporary)},
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    done = found["done"]
    assert done.get("finished:None", 0) > 0
    assert sum(count for what, count in done.items() if what.startswith("failed")) > 0
    assert found["tasks"] == []
    before, after = found["before"], found["after"]
    assert after["processes"] == 0
    assert after["descriptors"] == before["descriptors"]
    assert after["temporary"] == before["temporary"]
    assert after["threads"] == before["threads"]
