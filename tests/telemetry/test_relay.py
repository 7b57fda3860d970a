"""A relay made by others, between a team and a collector: it reads what we send, and writes it anew.

ROTEL_AGENT names its program, which the package rotel (0.0.1a15) brings; it is installed in a place of its own.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from anyio import to_thread

from roles_runtime.roles.echo import Echo
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.telemetry.providers import Providers
from roles_runtime.telemetry.telemetry import Telemetry
from telemetry.receivers import PATIENCE_S, collecting_over_grpc, free_port

pytestmark = pytest.mark.external("ROTEL_AGENT")


@contextmanager
def relaying(url: str, folder: Path) -> Iterator[tuple[int, int]]:
    """The program that ROTEL_AGENT names, on loopback; gives its ports for HTTP and gRPC."""
    http, over_grpc = free_port(), free_port()
    options = {
        "otlp-http-endpoint": f"127.0.0.1:{http}",
        "otlp-grpc-endpoint": f"127.0.0.1:{over_grpc}",
        "otlp-exporter-endpoint": url,
        "otlp-exporter-protocol": "grpc",
        "batch-timeout": "50ms",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    with (folder / "relay.log").open("wb") as log:
        process = subprocess.Popen(
            [os.environ["ROTEL_AGENT"], "start", "--exporter", "otlp", *words], stdout=log, stderr=log, cwd=folder
        )
    try:
        for port in (http, over_grpc):
            _wait_for(port, process)
        yield http, over_grpc
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as asking:
            if not asking.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.02)
    raise AssertionError("the relay does not listen")


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
async def test_every_span_of_a_round_passes_a_relay_with_its_attributes(
    protocol: str, providers_to: Callable[..., Providers], tmp_path: Path
) -> None:
    with collecting_over_grpc() as collector, relaying(collector.url, tmp_path) as (http, over_grpc):
        port = over_grpc if protocol == "grpc" else http
        providers = providers_to(f"http://127.0.0.1:{port}", OTEL_EXPORTER_OTLP_PROTOCOL=protocol)
        telemetry = Telemetry(providers)
        async with Runtime(Team(Echo()), kernels=None, telemetry=telemetry) as runtime:
            session = await runtime.session("s-42")
            record = await session.ask("计划 🗺")
        tracer = providers.tracer_provider.get_tracer("test")
        for number in range(200):
            tracer.start_span("attached", attributes={"in.attachments": "计划 " * 5000, "number": number}).end()
        await to_thread.run_sync(telemetry.close, PATIENCE_S)
        await to_thread.run_sync(collector.wait_for, 201)

    found = {
        span.name: {each.key: each.value for each in span.attributes}
        for span in collector.spans
        if span.name != "attached"
    }
    root = next(attributes for name, attributes in found.items() if name.startswith("invoke_workflow"))
    attached = [span for span in collector.spans if span.name == "attached"]
    assert providers.dropped_spans == 0
    assert root["roles.session.id"].string_value == "s-42"
    assert telemetry.trace_id(record.id) in {span.trace_id.hex() for span in collector.spans}
    assert len(attached) == 200
    assert {attribute.value.string_value for span in attached for attribute in span.attributes[:1]} == {"计划 " * 5000}
