"""Spans that are made, batched and forgotten: what being seen costs, without what a collector does."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult


class Nowhere(SpanExporter):
    """Takes spans, and forgets them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def tracers() -> TracerProvider:
    """A provider whose spans go nowhere, in batches, and all of them."""
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=1_000_000))
    return made
