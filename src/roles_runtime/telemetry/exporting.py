"""Where telemetry goes. OpenTelemetry's SDK is imported by `make_providers`, not with this module."""

from __future__ import annotations

from roles_runtime.telemetry.providers import SERVICE_NAME, Providers


def make_providers(*, service_name: str = SERVICE_NAME, export_logs: bool = False) -> Providers:
    """The providers that the process has already, else new ones, as the OTEL_* variables say.

    A TracerProvider that the application set is used, with whatever else it set, and stays open at `Providers.close`.
    New ones are not made global, so that each caller has its own; they send OTLP over HTTP to localhost unless told
    otherwise. Nobody waits for a collector: spans go in batches, by a thread, and are lost where nothing takes them.

    Args:
        service_name: What a viewer calls us, where neither OTEL_SERVICE_NAME nor OTEL_RESOURCE_ATTRIBUTES says it.
        export_logs: Exports logs where OTEL_LOGS_EXPORTER says nothing of them.

    Raises:
        ConfigError: a variable is wrong, an endpoint is no URL, or gRPC is wanted and not installed.
    """
    from roles_runtime.telemetry.pipelines import build, of_the_application

    return of_the_application() or build(service_name, export_logs=export_logs)
