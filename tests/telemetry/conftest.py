from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from roles_runtime.telemetry.exporting import make_providers
from roles_runtime.telemetry.providers import Providers


@pytest.fixture
def clear_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def providers_to(clear_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Providers]]:
    """Makes providers that send to a URL, as these variables say; they are closed in the end."""
    made: list[Providers] = []

    def make(url: str, *, export_logs: bool = False, **variables: str) -> Providers:
        given = {"OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": url, **variables}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        made.append(make_providers(export_logs=export_logs))
        return made[-1]

    yield make
    for each in made:
        each.close()
