"""From the OTEL_* variables to providers of OpenTelemetry's SDK. Imported only where tracing is on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter, LogRecordExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, MetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SpanExporter

from roles_runtime.errors import ConfigError
from roles_runtime.telemetry import environment
from roles_runtime.telemetry.environment import Signal
from roles_runtime.telemetry.providers import Providers
from roles_runtime.telemetry.spans import CountedSpans

Made = TypeVar("Made")
Shutdown: TypeAlias = Callable[[], object]

EXPORT_TIMEOUT_S = 2.0
"""Of one batch, in seconds. The SDK's flush waits for it, whatever it was told, and its own is 10."""

MAX_ATTRIBUTE_CHARS = 32768
"""The SDK's backstop, which it has none of: it may cut JSON in the middle, so that content is shortened before."""

BATCH = 64
"""Spans that go at once. With contents 512 of them, the SDK's own, can be more than a collector takes (16 MiB)."""

ROOM = 2048
"""Spans that may wait for the collector."""

DELAY_MS = 1000
"""How long a span waits for others, in milliseconds: whoever follows the link to a round finds it there."""


def of_the_application() -> Providers | None:
    """The providers that the process has; None where it has set none of spans."""
    tracer_provider = trace.get_tracer_provider()
    if _is_stand_in(tracer_provider):
        return None
    logger_provider = _logs.get_logger_provider()
    return Providers(
        tracer_provider,
        metrics.get_meter_provider(),
        None if _is_stand_in(logger_provider) else logger_provider,
    )


def build(service_name: str, *, export_logs: bool) -> Providers:
    """New providers. See `make_providers`.

    Raises:
        ConfigError: a variable is wrong.
    """
    if environment.is_disabled():
        # The SDK's providers know that variable too, and make nothing.
        return Providers(TracerProvider(shutdown_on_exit=False), MeterProvider(shutdown_on_exit=False))
    shutdowns: list[Shutdown] = []
    try:
        resource = _resource(service_name)
        tracer_provider, spans = _tracing(resource, shutdowns)
        meter_provider = _metering(resource, shutdowns)
        logger_provider = _logging(resource, shutdowns, "otlp" if export_logs else "none")
    except Exception as error:
        for shutdown in shutdowns:
            shutdown()
        if isinstance(error, ConfigError):
            raise
        # The SDK and its exporters were given nothing but what the environment says, and raise what they like.
        raise ConfigError("environment", "OTEL_*", f"OpenTelemetry refuses what they say: {error}.") from error
    return Providers(tracer_provider, meter_provider, logger_provider, spans=spans, shutdowns=shutdowns)


def _resource(service_name: str) -> Resource:
    found = Resource.create()
    if str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        found = found.merge(Resource({SERVICE_NAME: service_name}))
    return found


def _tracing(resource: Resource, shutdowns: list[Shutdown]) -> tuple[TracerProvider, list[CountedSpans]]:
    longest = None if environment.is_set("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT") else MAX_ATTRIBUTE_CHARS
    provider = TracerProvider(
        resource=resource, shutdown_on_exit=False, span_limits=SpanLimits(max_attribute_length=longest)
    )
    shutdowns.append(provider.shutdown)
    room = environment.count("OTEL_BSP_MAX_QUEUE_SIZE", ROOM)
    batch = environment.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", min(BATCH, room))
    delay_ms = environment.count("OTEL_BSP_SCHEDULE_DELAY", DELAY_MS)
    made = []
    for make in _makers("TRACES", _otlp_spans, lambda: ConsoleSpanExporter(out=sys.stderr)):
        made.append(CountedSpans(make, room=room, batch=batch, delay_ms=delay_ms))
        provider.add_span_processor(made[-1])
    return provider, made


def _metering(resource: Resource, shutdowns: list[Shutdown]) -> metrics.MeterProvider:
    of_others = metrics.get_meter_provider()
    if not _is_stand_in(of_others):
        return of_others
    readers: list[PeriodicExportingMetricReader] = []
    for make in _makers("METRICS", _otlp_metrics, lambda: ConsoleMetricExporter(out=sys.stderr)):
        readers.append(PeriodicExportingMetricReader(make()))
    provider = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    shutdowns.append(provider.shutdown)
    return provider


def _logging(resource: Resource, shutdowns: list[Shutdown], default: str) -> LoggerProvider | None:
    makers = _makers("LOGS", _otlp_logs, lambda: ConsoleLogRecordExporter(out=sys.stderr), default)
    if not makers:
        return None
    provider = LoggerProvider(resource, shutdown_on_exit=False)
    shutdowns.append(provider.shutdown)
    for make in makers:
        provider.add_log_record_processor(BatchLogRecordProcessor(make()))
    return provider


def _makers(
    signal: Signal, otlp: Callable[[], Made], console: Callable[[], Made], default: str = "otlp"
) -> Sequence[Callable[[], Made]]:
    """What makes the exporters of a signal. The console is stderr: what is printed on stdout is the answer."""
    return [otlp if name == "otlp" else console for name in environment.exporters(signal, default)]


def _otlp_spans() -> SpanExporter:
    timeout_s = _looked_at("TRACES")
    if not environment.speaks_grpc("TRACES"):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(timeout=timeout_s)
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as OverGrpc
    except ImportError as error:
        raise _no_grpc() from error
    return OverGrpc(timeout=timeout_s)


def _otlp_metrics() -> MetricExporter:
    timeout_s = _looked_at("METRICS")
    if not environment.speaks_grpc("METRICS"):
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

        return OTLPMetricExporter(timeout=timeout_s)
    try:
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as OverGrpc
    except ImportError as error:
        raise _no_grpc() from error
    return OverGrpc(timeout=timeout_s)


def _otlp_logs() -> LogRecordExporter:
    timeout_s = _looked_at("LOGS")
    if not environment.speaks_grpc("LOGS"):
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

        return OTLPLogExporter(timeout=timeout_s)
    try:
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as OverGrpc
    except ImportError as error:
        raise _no_grpc() from error
    return OverGrpc(timeout=timeout_s)


def _looked_at(signal: Signal) -> float | None:
    """The timeout of an exporter, whose endpoint is a URL."""
    environment.endpoint(signal)
    return environment.timeout_s(signal, EXPORT_TIMEOUT_S)


def _no_grpc() -> ConfigError:
    return ConfigError(
        "environment",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "it says grpc, which is not installed; install roles-runtime[otlp-grpc], or say http/protobuf.",
    )


def _is_stand_in(provider: object) -> bool:
    # ProxyTracerProvider and its two kin, which the API gives out until somebody sets a provider.
    return type(provider).__name__.removeprefix("_").startswith("Proxy")
