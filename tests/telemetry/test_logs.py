from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from opentelemetry.sdk.trace import TracerProvider

from roles_runtime.posts.post import Post
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.turn import Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.telemetry.logs import Level, LogTurns, setup_logs


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


class Talkative(Echo):
    async def reply(self, turn: Turn) -> Post:
        structlog.get_logger("test").warning("working", text=turn.post.message)
        return await super().reply(turn)


@pytest.mark.anyio
async def test_what_is_logged_in_a_turn_says_whose_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logs()

    async with Runtime(Team(Talkative(), middleware=[LogTurns()]), kernels=None) as runtime:
        one, two = await runtime.session("one"), await runtime.session("two")
        first = await one.ask("a")
        second = await two.ask("b")
    structlog.get_logger("test").warning("after")

    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in err.splitlines()]
    assert out == ""
    assert [(line.get("session"), line.get("round"), line.get("role")) for line in lines] == [
        ("one", first.id, "Echo"),
        ("two", second.id, "Echo"),
        (None, None, None),
    ]


@pytest.mark.parametrize(("level", "told"), [("warning", 2), ("debug", 4), ("error", 1)])
def test_what_is_below_the_level_is_dropped(level: Level, told: int, capsys: pytest.CaptureFixture[str]) -> None:
    setup_logs(level)
    log = structlog.get_logger("test")

    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)("it happened")

    assert len(capsys.readouterr().err.splitlines()) == told


@pytest.mark.parametrize("pretty", [True, False])
def test_all_text_is_cleaned_tracebacks_too(pretty: bool, capsys: pytest.CaptureFixture[str]) -> None:
    setup_logs(pretty=pretty, clean=lambda text: text.replace("\x07", ""))

    try:
        raise RuntimeError("ring\x07ring")
    except RuntimeError:
        structlog.get_logger("test").exception("bell\x07", value="bell\x07")

    err = capsys.readouterr().err
    assert "ringring" in err
    assert "\x07" not in err
    assert "\\u0007" not in err


def test_a_person_reads_no_values_of_variables(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logs(pretty=True)
    secret = "sesame " * 3

    try:
        raise RuntimeError("it broke")
    except RuntimeError:
        structlog.get_logger("test").exception("oh")

    assert secret not in capsys.readouterr().err


def test_what_is_logged_in_a_span_says_which(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logs()
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("test")

    with tracer.start_as_current_span("turn") as span:
        structlog.get_logger("test").warning("inside")
        logging.getLogger("roles_runtime.test").warning("inside too")
    structlog.get_logger("test").warning("outside")

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    context = span.get_span_context()
    ids = (f"{context.trace_id:032x}", f"{context.span_id:016x}")
    assert [(line.get("trace_id"), line.get("span_id")) for line in lines] == [ids, ids, (None, None)]


def test_what_is_logged_is_handed_to_an_exporter_once_it_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    got: list[str] = []
    setup_logs(clean=lambda text: text.replace("\x07", ""), export=lambda event: got.append(event["event"]))

    structlog.get_logger("test").warning("one\x07")
    logging.getLogger("roles_runtime.test").warning("two\x07")
    structlog.get_logger("test").debug("below the level")
    # What the exporters themselves log would come round for ever.
    logging.getLogger("opentelemetry.exporter").warning("three")

    assert got == ["one", "two"]
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == ["one", "two", "three"]


def test_what_an_exporter_logs_again_and_again_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logs()

    for number in range(3):
        logging.getLogger("opentelemetry.exporter").error("batch %s failed", number)
        logging.getLogger("opentelemetry.exporter").warning("and is sent again")

    told = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert told == ["batch 0 failed", "and is sent again"]


def test_a_key_in_a_log_is_masked_wherever_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    got: list[str] = []
    setup_logs(export=lambda event: got.append(f"{event['event']} {event.get('exception')} {event.get('header')}"))
    key = "sk-planted-0123456789abcdef"

    structlog.get_logger("test").warning(f"refused: {key}", header=f"Bearer {key}")
    logging.getLogger("roles_runtime.test").warning("refused: %s", key)
    try:
        raise RuntimeError(f"no such key: {key}")
    except RuntimeError:
        structlog.get_logger("test").exception("oh")

    told = capsys.readouterr().err
    assert key not in told
    assert key not in "".join(got)
    assert len(got) == 3
