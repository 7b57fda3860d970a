"""Collectors to test with: real servers that take OTLP, and servers that do not."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

import roles_runtime

PATIENCE_S = 60.0
"""Longer than anything here takes on a slow machine; nothing waits for it to pass."""


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Collector:
    """What a server was sent, from whichever thread.

    Attributes:
        url: Where it is.
        headers: Of the last request, names in lower case.
        came: Set with each request.
        gate: While it is not set, requests get no answer.
    """

    def __init__(self, url: str = "") -> None:
        self.url = url
        self.headers: dict[str, str] = {}
        self.came = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self._requests: list[ExportTraceServiceRequest] = []

    def take(self, request: ExportTraceServiceRequest, headers: dict[str, str]) -> None:
        self._requests.append(request)
        self.headers = headers
        self.came.set()
        self.gate.wait(PATIENCE_S)

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in tuple(self._requests)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def wait_for(self, count: int) -> None:
        """Waits until that many spans came."""
        deadline = time.monotonic() + PATIENCE_S
        while len(self.spans) < count and time.monotonic() < deadline:
            time.sleep(0.02)

    @property
    def batches(self) -> list[int]:
        """How many spans each request held."""
        return [
            sum(len(scope.spans) for resource in request.resource_spans for scope in resource.scope_spans)
            for request in self._requests
        ]

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.spans]

    @property
    def resource(self) -> dict[str, str]:
        """Of the last request."""
        found = self._requests[-1].resource_spans[0].resource.attributes
        return {each.key: each.value.string_value for each in found}


@contextmanager
def collecting(*, status: int = 200, how: str = "answer") -> Iterator[Collector]:
    """Serves OTLP over HTTP on a free port.

    Args:
        status: What it answers; only requests answered with 200 are kept.
        how: ``answer``; ``hang`` until the block ends; ``close`` the connection without an answer.
    """
    collector = Collector()
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if how == "hang":
                collector.came.set()
                over.wait(PATIENCE_S)
            if how != "answer":
                self.close_connection = True
                return
            if status == 200 and self.path == "/v1/traces":
                headers = {name.lower(): value for name, value in self.headers.items()}
                collector.take(ExportTraceServiceRequest.FromString(body), headers)
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None: ...

    with Server(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield collector
        finally:
            over.set()
            collector.gate.set()
            server.shutdown()
            thread.join(PATIENCE_S)


@contextmanager
def collecting_over_grpc() -> Iterator[Collector]:
    """Serves OTLP over gRPC on a free port."""
    collector = Collector()

    class Service(TraceServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:  # noqa: N802
            collector.take(request, dict(context.invocation_metadata()))
            return ExportTraceServiceResponse()

    # As large as in otel-collector.yaml; what is larger is dropped as a whole.
    server = grpc.server(futures.ThreadPoolExecutor(2), options=[("grpc.max_receive_message_length", 16 << 20)])
    add_TraceServiceServicer_to_server(Service(), server)
    collector.url = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield collector
    finally:
        server.stop(None).wait(PATIENCE_S)


@contextmanager
def told() -> Iterator[list[str]]:
    """What telemetry logs meanwhile, whatever else was made of logging before."""
    lines: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(f"{record.getMessage()} {getattr(record, 'count', '')}".strip())

    logger, handler = logging.getLogger("roles_runtime.telemetry"), Keeping(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


def run_script(text: str, environment: dict[str, str], words: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Runs Python in a process of its own, to its end; it sees no OTEL_* variable but those given."""
    return subprocess.run(
        [sys.executable, "-c", text, *words],
        env={"PYTHONPATH": str(Path(roles_runtime.__file__).parents[1]), "PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
