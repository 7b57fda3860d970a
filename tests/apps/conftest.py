from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from apps.house import ENTRY_POINTS, PLUGIN, House, Terminal


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    guests = tmp_path / "guests"
    installed = guests / "house_guests-1.0.dist-info"
    installed.mkdir(parents=True)
    (guests / "house_guests.py").write_text(PLUGIN, encoding="utf-8")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: house-guests\nVersion: 1.0\n", encoding="utf-8")
    (installed / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    house = House(tmp_path)
    for name in [name for name in os.environ if name.startswith("ROLES_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ROLES_DATA_DIR", str(house.data))
    monkeypatch.syspath_prepend(str(guests))
    monkeypatch.chdir(tmp_path)
    yield house
    structlog.reset_defaults()
    sys.modules.pop("house_guests", None)


@pytest.fixture
def terminals(house: House) -> Iterator[list[Terminal]]:
    """Terminals that are closed in the end, whatever happens."""
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()
