"""What the tests of telemetry share: providers whose spans and metrics stay in memory, and a tree of the spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from roles_runtime.telemetry.providers import Providers
from roles_runtime.telemetry.telemetry import Telemetry


class Seeing:
    """Telemetry that is seen.

    Attributes:
        telemetry: For a runtime.
    """

    def __init__(self, **options: Any) -> None:
        self._spans = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        meters = MeterProvider([self._reader], shutdown_on_exit=False)
        self.telemetry = Telemetry(Providers(tracers, meters), **options)

    @property
    def spans(self) -> list[ReadableSpan]:
        """All that have ended, by their beginning."""
        return sorted(self._spans.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, name: str) -> list[ReadableSpan]:
        """Those of that name."""
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        """The only one of that name."""
        (span,) = self.named(name)
        return span

    def tree(self) -> list[str]:
        """Each span below its parent, in order of time, two blanks a level, with the error where there is one."""
        return list(self._below(None, ""))

    def _below(self, parent: int | None, indent: str) -> Iterator[str]:
        for span in self.spans:
            if (span.parent.span_id if span.parent else None) == parent:
                error = attributes(span).get("error.type")
                yield f"{indent}{span.name}{f' !{error}' if error else ''}"
                yield from self._below(span.get_span_context().span_id, indent + "  ")

    def metrics(self) -> dict[str, list[dict[str, Any]]]:
        """The points of each metric, each with its attributes and its value or count."""
        found: dict[str, list[dict[str, Any]]] = {}
        data = self._reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    points = [
                        {**(each.attributes or {}), "=": getattr(each, "value", None) or getattr(each, "count", 0)}
                        for each in metric.data.data_points
                    ]
                    found[metric.name] = points
        return found


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    """A span's attributes."""
    return span.attributes or {}
