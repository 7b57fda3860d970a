"""What all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# A slow machine is no fault: no generated case has a time limit.
settings.register_profile("house", deadline=None)
settings.load_profile("house")

NOT_RUN = pytest.StashKey[dict[str, int]]()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "external(variable): needs what an environment variable names")
    config.addinivalue_line("markers", "slow: takes long; left out by -m 'not slow'")
    config.stash[NOT_RUN] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes out what needs something of others that is not there; the end of the run says so."""
    missing: dict[str, list[pytest.Item]] = {}
    for item in items:
        marker = item.get_closest_marker("external")
        if marker is not None and not os.environ.get(marker.args[0]):
            missing.setdefault(marker.args[0], []).append(item)
    taken_out = [item for found in missing.values() for item in found]
    config.hook.pytest_deselected(items=taken_out)
    items[:] = [item for item in items if item not in taken_out]
    config.stash[NOT_RUN] = {variable: len(found) for variable, found in missing.items()}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for variable, count in config.stash[NOT_RUN].items():
        terminalreporter.write_line(f"NOT RUN: {count} tests that need {variable}, which is not set.")
