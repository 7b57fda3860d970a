"""Spans on the wire: receivers made by others, collectors that fail, and processes that end."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
import structlog
from anyio import to_thread
from opentelemetry import trace
from opentelemetry.trace import Link, SpanKind, Status, StatusCode
from oteltap import OtelTapHttpProtobufReceiver, OtelTapHttpProtobufReceiverSettings

from roles_runtime.errors import ConfigError
from roles_runtime.roles.echo import Echo
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.telemetry import environment
from roles_runtime.telemetry.exporting import make_providers
from roles_runtime.telemetry.log_export import LogExport
from roles_runtime.telemetry.logs import setup_logs
from roles_runtime.telemetry.providers import Providers
from roles_runtime.telemetry.telemetry import Telemetry
from telemetry.receivers import PATIENCE_S, collecting, collecting_over_grpc, free_port, run_script, told

Make = Callable[..., Providers]


def spans(providers: Providers, *names: str) -> None:
    """Ends a span of each name."""
    tracer = providers.tracer_provider.get_tracer("test")
    for name in names:
        tracer.start_span(name).end()


@asynccontextmanager
async def tapping() -> AsyncIterator[tuple[OtelTapHttpProtobufReceiver, str]]:
    """A receiver made by others, on loopback."""
    port = free_port()
    settings = OtelTapHttpProtobufReceiverSettings(http_port=port, listen_on_all_interfaces=False)
    async with OtelTapHttpProtobufReceiver(settings) as tap:
        yield tap, f"http://127.0.0.1:{port}"


@pytest.mark.anyio
class TestToAReceiverMadeByOthers:
    async def test_spans_arrive_over_http_whole(self, providers_to: Make) -> None:
        async with tapping() as (tap, url):
            providers = providers_to(url)
            tracer = providers.tracer_provider.get_tracer("test")
            arriving = asyncio.ensure_future(tap.await_trace(lambda span: span.name == "send Érik", PATIENCE_S))
            await asyncio.sleep(0)
            with tracer.start_as_current_span("root") as root:
                linked = Link(root.get_span_context(), {"roles.link": "before"})
                span = tracer.start_span("send Érik", kind=SpanKind.PRODUCER, links=[linked])
                span.set_attribute("in.attachments", '[{"id":"a","content":"计划 🗺"}]')
                span.set_attribute("roles.post.self_send", True)
                span.set_attribute("roles.attachment.types", ["plan", "thought"])
                span.add_event("roles.task.changed", {"id": "1"})
                span.set_status(Status(StatusCode.ERROR, "it broke"))
                span.end()
            await to_thread.run_sync(providers.close)
            got = await arriving

        attributes = {each.key: each.value for each in got.attributes}
        assert attributes["in.attachments"].string_value == '[{"id":"a","content":"计划 🗺"}]'
        assert attributes["roles.post.self_send"].bool_value is True
        assert [each.string_value for each in attributes["roles.attachment.types"].array_value.values] == [
            "plan",
            "thought",
        ]
        assert got.kind == got.SPAN_KIND_PRODUCER
        assert [event.name for event in got.events] == ["roles.task.changed"]
        assert (got.status.code, got.status.message) == (got.status.STATUS_CODE_ERROR, "it broke")
        parent = root.get_span_context()
        assert got.parent_span_id == got.links[0].span_id == parent.span_id.to_bytes(8, "big")
        assert got.trace_id == parent.trace_id.to_bytes(16, "big")
        assert providers.dropped_spans == 0

    async def test_the_root_of_a_round_is_found_by_its_trace_id(self, providers_to: Make) -> None:
        async with tapping() as (tap, url):
            telemetry = Telemetry(providers_to(url))
            arriving = asyncio.ensure_future(
                tap.await_trace(lambda span: span.name.startswith("invoke_workflow"), PATIENCE_S)
            )
            await asyncio.sleep(0)
            async with Runtime(Team(Echo()), kernels=None, telemetry=telemetry) as runtime:
                record = await (await runtime.session()).ask("hello")
            await to_thread.run_sync(telemetry.close)
            got = await arriving

        assert got.trace_id.hex() == telemetry.trace_id(record.id)
        assert telemetry.trace_id("round-of-nobody") == ""

    async def test_metrics_arrive_at_the_end_at_the_latest(self, providers_to: Make) -> None:
        async with tapping() as (tap, url):
            providers = providers_to(url, OTEL_METRICS_EXPORTER="otlp")
            arriving = asyncio.ensure_future(tap.await_metric(lambda metric: metric.name == "roles.turns", PATIENCE_S))
            await asyncio.sleep(0)
            providers.meter_provider.get_meter("test").create_counter("roles.turns").add(3)
            await to_thread.run_sync(providers.close)
            got = await arriving

        assert [point.as_int for point in got.sum.data_points] == [3]

    async def test_logs_arrive_with_the_ids_of_their_span(
        self, providers_to: Make, capsys: pytest.CaptureFixture[str]
    ) -> None:
        async with tapping() as (tap, url):
            providers = providers_to(url, export_logs=True)
            assert providers.logger_provider is not None
            setup_logs(clean=lambda text: text.replace("\x07", ""), export=LogExport(providers.logger_provider))
            arriving = asyncio.ensure_future(tap.await_log(lambda _: True, PATIENCE_S))
            await asyncio.sleep(0)
            tracer = providers.tracer_provider.get_tracer("test")
            with tracer.start_as_current_span("turn") as span:
                structlog.get_logger("test").warning("it rings\x07", role="Echo", calls=2, why=None)
            await to_thread.run_sync(providers.close)
            got = await arriving
        structlog.reset_defaults()

        context = span.get_span_context()
        assert (got.trace_id, got.span_id) == (context.trace_id.to_bytes(16, "big"), context.span_id.to_bytes(8, "big"))
        assert (got.body.string_value, got.severity_text) == ("it rings", "warning")
        assert {each.key for each in got.attributes} == {"role", "calls", "why"}
        assert f'"trace_id": "{context.trace_id:032x}"' in capsys.readouterr().err


class TestOverGrpc:
    def test_spans_arrive_with_the_headers_that_were_asked_for(self, providers_to: Make) -> None:
        with collecting_over_grpc() as collector:
            providers = providers_to(
                collector.url, OTEL_EXPORTER_OTLP_PROTOCOL="grpc", OTEL_EXPORTER_OTLP_HEADERS="x-team=blue"
            )
            spans(providers, "one", "two")
            providers.close()

        assert collector.names == ["one", "two"]
        assert collector.headers["x-team"] == "blue"
        assert providers.dropped_spans == 0

    def test_the_protocol_may_be_said_of_traces_alone_and_the_target_needs_no_scheme(self, providers_to: Make) -> None:
        with collecting_over_grpc() as collector:
            providers = providers_to(
                collector.url.removeprefix("http://"),
                OTEL_EXPORTER_OTLP_TRACES_PROTOCOL="grpc",
                OTEL_EXPORTER_OTLP_INSECURE="true",
            )
            spans(providers, "one")
            providers.close()

        assert collector.names == ["one"]

    def test_a_missing_extra_is_named(self, providers_to: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.grpc.trace_exporter", None)

        with pytest.raises(ConfigError, match=r"install roles-runtime\[otlp-grpc\]"):
            providers_to("http://127.0.0.1:4317", OTEL_EXPORTER_OTLP_PROTOCOL="grpc")

    def test_nobody_there_loses_the_spans_and_counts_them(self, providers_to: Make) -> None:
        providers = providers_to(f"http://127.0.0.1:{free_port()}", OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
        spans(providers, "one", "two")
        providers.close(0.2)

        assert providers.dropped_spans == 2


class TestABadCollector:
    @pytest.mark.anyio
    @pytest.mark.parametrize(
        ("status", "how"),
        [(413, "answer"), (429, "answer"), (500, "answer"), (200, "hang"), (200, "close"), (200, "refuse")],
    )
    async def test_loses_only_spans_and_they_are_counted(self, status: int, how: str, providers_to: Make) -> None:
        with anyio.fail_after(PATIENCE_S), told() as lines, collecting(status=status, how=how) as collector:
            url = f"http://127.0.0.1:{free_port()}" if how == "refuse" else collector.url
            providers = providers_to(url, OTEL_METRICS_EXPORTER="otlp")
            telemetry = Telemetry(providers)
            async with Runtime(Team(Echo()), kernels=None, telemetry=telemetry) as runtime:
                record = await (await runtime.session()).ask("hello")
            spans(providers, *(["more"] * 300))
            await to_thread.run_sync(providers.close, 0.3)

        assert record.reply is not None
        assert record.reply.message == "hello"
        assert providers.dropped_spans > 300
        assert lines[-1] == f"spans were lost on their way to the collector {providers.dropped_spans}"
        assert len(lines) <= 2

    def test_that_is_slow_has_a_bounded_queue_and_what_found_no_room_is_counted(self, providers_to: Make) -> None:
        with told() as lines, collecting() as collector:
            collector.gate.clear()
            providers = providers_to(collector.url, OTEL_BSP_MAX_QUEUE_SIZE="5", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="1")
            spans(providers, "under way")
            assert collector.came.wait(PATIENCE_S)

            spans(providers, *(f"{number}" for number in range(20)))
            dropped = providers.dropped_spans
            collector.gate.set()
            providers.close(PATIENCE_S)

        assert dropped == providers.dropped_spans == 15
        assert collector.names == ["under way", "0", "1", "2", "3", "4"]
        assert lines == [
            "spans are being lost; how many is told at the end",
            "spans were lost on their way to the collector 15",
        ]

    def test_that_takes_all_is_not_told_of(self, providers_to: Make) -> None:
        with told() as lines, collecting() as collector:
            providers = providers_to(collector.url)
            spans(providers, *(["one"] * 200))
            providers.close(PATIENCE_S)
            providers.close()

        assert (len(collector.names), providers.dropped_spans, lines) == (200, 0, [])


class TestClosing:
    def test_counts_what_ends_after_it(self, providers_to: Make) -> None:
        with collecting() as collector:
            providers = providers_to(collector.url)
            providers.close(PATIENCE_S)
            spans(providers, "late")

        assert providers.dropped_spans == 1

    def test_raises_nothing_and_closes_the_rest(self, providers_to: Make) -> None:
        closed: list[str] = []

        def broken() -> None:
            raise RuntimeError("no")

        providers = Providers(
            trace.NoOpTracerProvider(),
            providers_to("http://127.0.0.1:4318").meter_provider,
            shutdowns=[broken, lambda: closed.append("second")],
        )
        with told() as lines:
            providers.close(PATIENCE_S)
            providers.close(PATIENCE_S)

        assert (closed, lines) == (["second"], ["telemetry could not be shut down"])

    def test_leaves_other_providers_of_the_process_alone(self, providers_to: Make) -> None:
        with collecting() as collector:
            one, two = providers_to(collector.url), providers_to(collector.url)
            spans(one, "of the first")
            one.close(PATIENCE_S)
            spans(two, "of the second")
            two.close(PATIENCE_S)

        assert collector.names == ["of the first", "of the second"]

    def test_an_event_loop_that_ends_early_takes_nothing_along(self, providers_to: Make) -> None:
        async def leave(name: str) -> None:
            async def never() -> None:
                with providers.tracer_provider.get_tracer("test").start_as_current_span(name):
                    await asyncio.sleep(3600)

            task = asyncio.create_task(never())
            await asyncio.sleep(0)
            assert not task.done()

        with collecting() as collector:
            providers = providers_to(collector.url)
            asyncio.run(leave("first"))
            asyncio.run(leave("second"))
            providers.close(PATIENCE_S)

        assert collector.names == ["first", "second"]


MAKE = """
import os, signal, sys
from roles_runtime.telemetry.exporting import make_providers
providers = make_providers()
tracer = providers.tracer_provider.get_tracer("test")
"""


class TestAProcess:
    def test_sends_what_is_left_when_it_ends(self) -> None:
        with collecting() as collector:
            done = run_script(MAKE + "tracer.start_span('last').end()", {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})

        assert (done.returncode, done.stderr) == (0, "")
        assert collector.names == ["last"]

    def test_ends_though_its_collector_hangs(self) -> None:
        with collecting(how="hang") as collector:
            done = run_script(MAKE + "tracer.start_span('last').end()", {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})

        assert done.returncode == 0
        assert "spans were lost on their way to the collector" in done.stderr

    def test_that_forks_exports_from_both(self) -> None:
        text = MAKE + (
            "tracer.start_span('before').end()\n"
            "providers.tracer_provider.force_flush()\n"
            "tracer.start_span('waiting').end()\n"
            "child = os.fork()\n"
            "tracer.start_span('after, in the child' if not child else 'after').end()\n"
            "providers.close()\n"
            "if not child: os._exit(providers.dropped_spans)\n"
            "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or providers.dropped_spans)\n"
        )
        with collecting() as collector:
            done = run_script(text, {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})

        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(collector.names) == ["after", "after, in the child", "before", "waiting"]

    def test_that_forks_when_all_is_closed_ends_in_peace(self) -> None:
        text = MAKE + (
            "providers.close()\n"
            "child = os.fork()\n"
            "providers.close()\n"
            "if child: sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        with collecting() as collector:
            done = run_script(text, {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})

        assert (done.returncode, done.stderr) == (0, "")

    def test_that_forks_over_grpc_does_not_hang(self) -> None:
        text = MAKE + (
            "tracer.start_span('before').end()\n"
            "providers.tracer_provider.force_flush()\n"
            "child = os.fork()\n"
            "tracer.start_span('child' if not child else 'after').end()\n"
            "providers.close()\n"
            "if not child: os._exit(0)\n"
            "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        with collecting_over_grpc() as collector:
            variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
            done = run_script(text, {**variables, "OTEL_METRICS_EXPORTER": "none"})

        assert done.returncode == 0
        assert {"before", "after"} <= set(collector.names)

    def test_whose_application_has_a_provider_keeps_it(self) -> None:
        text = """
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept = InMemorySpanExporter()
theirs, meters = TracerProvider(), MeterProvider()
theirs.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(theirs)
metrics.set_meter_provider(meters)
from roles_runtime.telemetry.exporting import make_providers
providers = make_providers(service_name="ours")
assert providers.tracer_provider is theirs and providers.meter_provider is meters
assert providers.logger_provider is None
providers.close()
providers.tracer_provider.get_tracer("test").start_span("after").end()
assert [span.name for span in kept.get_finished_spans()] == ["after"]
assert trace.get_tracer_provider() is theirs
"""
        done = run_script(text, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})

        assert (done.returncode, done.stderr) == (0, "")

    def test_gets_no_global_provider_of_ours(self) -> None:
        text = MAKE + "from opentelemetry import trace; print(type(trace.get_tracer_provider()).__name__)"

        assert run_script(text, {"OTEL_TRACES_EXPORTER": "none"}).stdout == "ProxyTracerProvider\n"

    def test_that_traces_nothing_imports_nothing_of_opentelemetry(self) -> None:
        text = """
import asyncio, sys
import roles_runtime
from roles_runtime import Echo, Planner, Runtime, Team
import roles_runtime.apps.asking, roles_runtime.apps.chat, roles_runtime.apps.doctor, roles_runtime.apps.tracing
async def run():
    async with Runtime(Team(Echo()), kernels=None) as runtime:
        print((await (await runtime.session()).ask("hello")).reply.message)
asyncio.run(run())
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
        done = run_script(text, {})

        assert done.stdout == "hello\n[]\n", done.stderr


class TestTheEnvironment:
    @pytest.mark.parametrize(
        ("name", "value", "told"),
        [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense", "no URL"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://", "no URL"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://127.0.0.1:4318", "no URL"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:port", "no URL"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:99999", "no URL"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a b:4318", "no URL"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318", "no URL"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://[::1", "no URL"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "say http/protobuf or grpc"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "a number above 0"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "nan", "a number above 0"),
            ("OTEL_TRACES_EXPORTER", "jaeger", "known are none, otlp, console"),
            ("OTEL_METRICS_EXPORTER", "otpl", "known are none, otlp, console"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "-1", "a whole number above 0"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4096", "max_export_batch_size must be less than"),
            ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "many", "must be a non-negative integer"),
        ],
    )
    def test_that_is_wrong_is_told_when_providers_are_made(
        self, name: str, value: str, told: str, clear_environment: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(name, value)

        with pytest.raises(ConfigError, match=told) as caught:
            make_providers()

        assert caught.value.where == "environment"

    def test_that_is_wrong_is_told_without_the_password_in_it(self, providers_to: Make) -> None:
        with pytest.raises(ConfigError, match="no URL") as caught:
            providers_to("http://me:sesame@collector:port")

        assert "sesame" not in str(caught.value)

    def test_an_endpoint_that_nothing_is_sent_to_may_be_anything(self, providers_to: Make) -> None:
        spans(providers_to("nonsense", OTEL_TRACES_EXPORTER="none"), "one")

    def test_switches_the_sdk_off(self, providers_to: Make) -> None:
        with collecting() as collector:
            providers = providers_to(collector.url, OTEL_SDK_DISABLED="true")
            spans(providers, "one")
            providers.close(PATIENCE_S)

        assert (collector.names, providers.dropped_spans) == ([], 0)

    @pytest.mark.parametrize(
        ("variables", "name"),
        [
            ({}, "roles_runtime"),
            ({"OTEL_SERVICE_NAME": "orders"}, "orders"),
            ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=orders"}, "orders"),
        ],
    )
    def test_says_the_name_of_the_service(self, variables: dict[str, str], name: str, providers_to: Make) -> None:
        with collecting() as collector:
            providers = providers_to(collector.url, **variables)
            spans(providers, "one")
            providers.close(PATIENCE_S)

        assert collector.resource["service.name"] == name

    @pytest.mark.parametrize(
        ("variables", "length"),
        [
            ({}, 32768),
            ({"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "100"}, 100),
            ({"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "50000"}, 40000),
        ],
    )
    def test_bounds_attributes_where_it_says_nothing_too(
        self, variables: dict[str, str], length: int, providers_to: Make
    ) -> None:
        with collecting() as collector:
            providers = providers_to(collector.url, **variables)
            span = providers.tracer_provider.get_tracer("test").start_span("one", attributes={"long": "x" * 40000})
            span.end()
            providers.close(PATIENCE_S)

        assert len(collector.spans[0].attributes[0].value.string_value) == length

    def test_no_batch_is_larger_than_64_spans(self, providers_to: Make) -> None:
        with collecting() as collector:
            providers = providers_to(collector.url)
            spans(providers, *(["one"] * 200))
            providers.close(PATIENCE_S)

        assert max(collector.batches) == 64

    def test_the_console_is_stderr(self) -> None:
        text = MAKE + "tracer.start_span('seen').end(); print('the answer')"
        done = run_script(text, {"OTEL_TRACES_EXPORTER": "console,none", "OTEL_METRICS_EXPORTER": "none"})

        assert done.stdout == "the answer\n"
        assert '"name": "seen"' in done.stderr

    def test_is_asked_for_the_place_that_the_sdk_sends_to(
        self, clear_environment: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert not environment.names_an_endpoint()
        assert environment.endpoint("TRACES") == "http://localhost:4318/v1/traces"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector/")
        assert environment.names_an_endpoint()
        assert environment.endpoint("LOGS") == "https://collector/v1/logs"
        assert environment.address("TRACES") == ("collector", 443)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://[::1]:9999/spans")
        assert environment.endpoint("TRACES") == "http://[::1]:9999/spans"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4317")
        assert environment.address("TRACES") == ("collector", 4317)
        assert os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] == "https://collector/"
