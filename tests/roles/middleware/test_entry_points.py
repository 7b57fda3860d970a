"""Each middleware of the house is named in pyproject.toml, and can be made by a team file that says no options."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

NAMED: dict[str, str] = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]["entry-points"]["roles_runtime.middleware"]


def test_all_are_named() -> None:
    assert {"approval", "compaction", "result_reduction", "usage_limits"} <= set(NAMED)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_each_can_be_made_without_options(name: str) -> None:
    maker = EntryPoint(name, NAMED[name], "roles_runtime.middleware").load()
    assert callable(maker())
