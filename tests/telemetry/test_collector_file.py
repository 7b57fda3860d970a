"""The shape of otel-collector.yaml alone: that a collector takes it and does what it says, no test here shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FILE = Path(__file__).parents[2] / "otel-collector.yaml"
PARTS = ("receivers", "processors", "exporters")
CONTEXTS = {"resource", "span", "spanevent", "log"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return read


def groups(document: dict[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    for name, settings in document["processors"].items():
        for signal in ("trace_statements", "log_statements"):
            for group in settings.get(signal, ()):
                yield name, group["context"], group["statements"]


def test_shape_every_part_of_a_pipeline_is_defined_and_every_definition_is_used(document: dict[str, Any]) -> None:
    service = document["service"]
    for part in PARTS:
        used = {name for pipeline in service["pipelines"].values() for name in pipeline.get(part, ())}
        assert used == set(document[part])
    assert set(service["extensions"]) == set(document["extensions"])
    assert set(service["pipelines"]) == {"traces", "metrics", "logs"}


def test_shape_the_memory_limiter_is_first(document: dict[str, Any]) -> None:
    assert {pipeline["processors"][0] for pipeline in document["service"]["pipelines"].values()} == {"memory_limiter"}


def test_shape_what_is_redacted_is_redacted_before_it_is_cut(document: dict[str, Any]) -> None:
    # A secret that is cut in two matches no pattern.
    for signal in ("traces", "logs"):
        processors = document["service"]["pipelines"][signal]["processors"]
        assert processors.index("transform/redact") < processors.index("transform/limits")


def test_shape_every_address_is_loopback_unless_the_environment_says_more() -> None:
    text = re.sub(r"(^|\s)#.*", "", FILE.read_text(encoding="utf-8"))
    addresses = re.findall(r"^\s*(?:endpoint|host):\s*(\S+)", text, re.MULTILINE)

    assert len(addresses) == 6
    for address in addresses:
        assert re.search(r"(:-|^)127\.0\.0\.1", address.strip('"')), address


def test_shape_a_group_of_statements_has_one_context_and_speaks_of_no_other(document: dict[str, Any]) -> None:
    for name, context, statements in groups(document):
        spoken = {found for line in statements for found in re.findall(r"\b(resource|span|spanevent|log)\.", line)}
        assert spoken == {context}, name


def test_shape_the_same_is_redacted_in_spans_events_and_logs(document: dict[str, Any]) -> None:
    redacted = {
        context: [line.replace(f"{context}.attributes", "…") for line in lines if f"{context}.attributes" in line]
        for name, context, lines in groups(document)
        if name == "transform/redact" and context != "resource"
    }

    assert set(redacted) == CONTEXTS - {"resource"}
    assert redacted["span"] == redacted["spanevent"] == redacted["log"]


def test_shape_spans_are_sent_to_jaeger_in_messages_that_it_takes(document: dict[str, Any]) -> None:
    batch = document["exporters"]["otlp_grpc/jaeger"]["sending_queue"]["batch"]

    assert batch["sizer"] == "bytes"
    assert batch["min_size"] < batch["max_size"] < 4 << 20
    assert document["receivers"]["otlp"]["protocols"]["grpc"]["max_recv_msg_size_mib"] > 4


@pytest.mark.parametrize(
    ("key", "deleted"),
    [
        ("http.request.header.authorization", True),
        ("password", True),
        ("openai.api_key", True),
        ("roles.access_token", True),
        ("gen_ai.usage.input_tokens", False),
        ("roles.session.id", False),
        ("in.message", False),
    ],
)
def test_shape_keys_that_name_a_secret_match_and_others_do_not(
    key: str, deleted: bool, document: dict[str, Any]
) -> None:
    patterns = [
        re.search(r'delete_matching_keys\(\w+\.attributes, "(.*)"\)', line)
        for _, _, lines in groups(document)
        for line in lines
        if line.startswith("delete_matching_keys")
    ]

    assert patterns
    for pattern in patterns:
        assert pattern is not None
        # A collector reads $$ as $.
        assert bool(re.search(pattern[1].replace("$$", "$"), key)) is deleted


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Bearer abcdefgh12345678", "Bearer [redacted]"),
        ("key sk-proj-0123456789abcdefXYZ!", "key [redacted]!"),
        ("postgres://me:hunter2@db/x", "postgres://[redacted]@db/x"),
        ('{"password": "hunter2!"}', '{"password": "[redacted]"}'),
        ("ghp_0123456789abcdefghijklmnop", "[redacted]"),
        ("42 rows in orders.csv", "42 rows in orders.csv"),
        ("计划：先看表", "计划：先看表"),
    ],
)
def test_shape_values_that_look_like_a_secret_are_masked(text: str, masked: str, document: dict[str, Any]) -> None:
    lines = next(lines for name, context, lines in groups(document) if (name, context) == ("transform/redact", "span"))
    for line in lines:
        found = re.search(r'replace_all_patterns\(span\.attributes, "value", "(.*)", "(.*)"\)', line)
        if found:
            # OTTL's strings escape as Go's do; ${1} is Python's \1.
            pattern, put = (each.replace('\\"', '"').replace("\\\\", "\\") for each in found.groups())
            text = re.sub(pattern, put.replace("$${1}", r"\1"), text)

    assert text == masked
