from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog

from roles_runtime.posts.post import Post
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.turn import Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.telemetry.logs import LogTurns, setup_logs


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
def test_what_is_below_the_level_is_dropped(level: str, told: int, capsys: pytest.CaptureFixture[str]) -> None:
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
