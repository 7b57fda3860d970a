from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator

import pytest

from apps.house import ECHO, House, Terminal
from roles_runtime.apps.jaeger import trace_line
from telemetry.receivers import PATIENCE_S, Collector, collecting, collecting_over_grpc, run_script

SLEEPER = '[[role]]\ntype = "sleeper"\n'
LINE = r"Trace ([0-9a-f]{32}): http://127\.0\.0\.1:16686/trace/\1\n"


@pytest.fixture(autouse=True)
def _no_variables(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
        house.environment.pop(name)


@pytest.fixture
def collector(house: House) -> Iterator[Collector]:
    """Takes the spans of the house, which is told of it as the user would be who has it elsewhere."""
    with collecting() as collector:
        house.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
        yield collector


def trace_ids(collector: Collector) -> set[str]:
    return {span.trace_id.hex() for span in collector.spans}


def roots(collector: Collector) -> list[str]:
    return [span.name for span in collector.spans if span.name.startswith("invoke_workflow")]


class TestARoundIsTraced:
    @pytest.mark.parametrize("options", [(), ("--json",)])
    def test_and_stderr_says_where_it_is_found(
        self, options: tuple[str, ...], house: House, collector: Collector
    ) -> None:
        done = house.run("ask", "hello", "--team", house.team(), *options)

        told = re.search(LINE, done.stderr)
        assert done.returncode == 0
        assert told is not None, done.stderr
        assert trace_ids(collector) == {told[1]}
        assert "Trace" not in done.stdout

    def test_when_the_option_says_it_and_a_collector_that_is_down_costs_only_spans(self, house: House) -> None:
        variables = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"}
        off = house.team(ECHO + "[telemetry]\ntrace = false\n", "off.toml")

        done = house.run("ask", "hello", "--team", off, "--json", "--trace", OTEL_METRICS_EXPORTER="none", **variables)

        assert json.loads(done.stdout)["reply"] == "hello"
        assert re.search(LINE, done.stderr)
        assert '"event": "spans were lost on their way to the collector"' in done.stderr

    def test_when_the_file_says_it_which_may_name_another_jaeger(self, house: House) -> None:
        team = house.team(ECHO + '[telemetry]\ntrace = true\njaeger_url = "https://jaeger.example/ui/"\n')

        done = house.run("ask", "hello", "--team", team, OTEL_TRACES_EXPORTER="none", OTEL_METRICS_EXPORTER="none")

        assert re.search(r"Trace (\w+): https://jaeger\.example/ui/trace/\1\n", done.stderr)

    def test_over_grpc_too(self, house: House) -> None:
        with collecting_over_grpc() as collector:
            done = house.run(
                "ask",
                "hello",
                "--team",
                house.team(),
                "--trace",
                OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
                OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
                OTEL_METRICS_EXPORTER="none",
            )

        told = re.search(LINE, done.stderr)
        assert told is not None, done.stderr
        assert trace_ids(collector) == {told[1]}

    def test_in_a_chat_each_as_a_trace_of_its_own(self, house: House, collector: Collector) -> None:
        done = house.run("--team", house.team(), "--trace", stdin="one\ntwo\n")

        told = re.findall(LINE, done.stderr)
        assert done.returncode == 0
        assert len(set(told)) == 2
        assert trace_ids(collector) == set(told)


class TestNothingIsTraced:
    @pytest.mark.parametrize(
        ("team", "options", "variables"),
        [
            (ECHO, (), {}),
            (ECHO + "[telemetry]\ntrace = false\n", (), {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}),
            (ECHO, ("--trace",), {"OTEL_SDK_DISABLED": "true"}),
        ],
    )
    def test_where_nobody_wants_it(
        self, team: str, options: tuple[str, ...], variables: dict[str, str], house: House
    ) -> None:
        done = house.run("ask", "hello", "--team", house.team(team), "--json", *options, **variables)

        assert (done.returncode, done.stderr) == (0, "")


class TestTheEnd:
    @pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
    def test_by_a_signal_sends_the_spans_first(
        self, number: signal.Signals, status: int, house: House, collector: Collector
    ) -> None:
        process = house.start("ask", "hello", "--team", house.team(SLEEPER), "--trace")
        house.wait_for_session()
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)

        assert process.returncode == status
        assert re.search(LINE, err)
        assert len(roots(collector)) == 1

    def test_of_a_chat_at_its_prompt_sends_them_too(
        self, house: House, collector: Collector, terminals: list[Terminal]
    ) -> None:
        terminal = Terminal(house, "--team", house.team(), "--trace")
        terminals.append(terminal)
        terminal.wait_for("say /help.")
        terminal.type("hello\r")
        terminal.wait_for("16686/trace/")
        terminal.signal(signal.SIGTERM)

        assert terminal.end() == 143
        assert len(roots(collector)) == 1

    def test_by_a_signal_that_nothing_else_listens_to_sends_them_too(self, house: House, collector: Collector) -> None:
        text = """
import anyio, os, signal
from roles_runtime.apps.config import read_config
from roles_runtime.apps.tracing import tracing
async def run():
    async with tracing(read_config(trace=True)) as traced:
        traced.telemetry.providers.tracer_provider.get_tracer("test").start_span("last").end()
        os.kill(os.getpid(), signal.SIGTERM)
        await anyio.sleep(60)
anyio.run(run)
"""
        done = run_script(text, {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})

        assert done.returncode == 143, done.stderr
        assert collector.names == ["last"]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "nonsense"}, "OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' is no URL"),
        ({"OTEL_TRACES_EXPORTER": "jaeger"}, "OTEL_TRACES_EXPORTER: there is no exporter 'jaeger'"),
    ],
)
def test_what_can_not_be_traced_to_is_an_error_before_anything_is_asked(
    variables: dict[str, str], told: str, house: House
) -> None:
    done = house.run("ask", "hello", "--team", house.team(), "--trace", **variables)

    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""


def test_a_line_leads_to_the_trace() -> None:
    assert trace_line("http://jaeger:16686/", "ab" * 16) == f"Trace {'ab' * 16}: http://jaeger:16686/trace/{'ab' * 16}"
