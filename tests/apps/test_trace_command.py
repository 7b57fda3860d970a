"""``trace`` prints what happened in each round as a tree; ``show`` names the trace."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.house import House, Terminal
from roles_runtime.apps.trace import Pen, tree_lines
from roles_runtime.apps.trace_words import span_words
from roles_runtime.posts.attachment import Attachment
from roles_runtime.posts.event import Entry, PostSent, RoundOpened
from roles_runtime.posts.post import USER, Post
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.telemetry.tree import fold, split
from telemetry.journals import JOURNALS

TABLE = Path(__file__).parents[2] / "examples" / "data" / "orders.csv"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
SECOND_NS = 1_000_000_000

SCRIPT = """
Planner:
  - I think CodeInterpreter should do it.
  - response:
      plan_reasoning: One table.
      init_plan: 1. Sum
      plan: 1. Sum
      current_plan_step: 1. Sum
      stop: InProcess
      send_to: CodeInterpreter
      message: Sum the sales by region.
  - response:
      plan_reasoning: There they are.
      init_plan: 1. Sum
      plan: 1. Sum
      current_plan_step: 1. Sum
      stop: Completed
      send_to: User
      message: East has sold most.
CodeInterpreter:
  - response:
      thought: Group and sum.
      reply_type: python
      reply_content: "import pandas as pd\\ndf = pd.read_csv('orders.csv')\\ndf.groupby('regon')['sales'].sum()"
  - response:
      thought: The column is region.
      reply_type: python
      reply_content: df.groupby('region')['sales'].sum()
"""


def without_times(lines: list[str]) -> list[str]:
    return [re.sub(r"^ *(\+[^├└│]*s)? +(?=[├└│])", "", line) for line in lines]


def test_a_round_reads_as_a_story(house: House) -> None:
    script = house.folder / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    asked = house.here("ask", "Who?", "--file", str(TABLE), "--session", "s", "--model", f"scripted:{script}")
    assert asked.exit_code == 0
    done = house.here("trace", "s")
    assert (done.exit_code, done.stderr) == (0, "")
    head, sums, columns, root, *lines = done.stdout.splitlines()
    assert re.fullmatch(r"--- round 1: finished in [\d.]+ m?s ---", head)
    assert sums == "5 model calls, 2 cells (1 failed), 2 self-corrections."
    assert columns.split() == ["start", "took"]
    assert re.fullmatch(r" +\+0\.000 s +[\d.]+ m?s invoke_workflow Planner", root)
    model = f"chat scripted:{script} answers"
    plan = "attached: plan_reasoning, init_plan, plan, current_plan_step, stop, shared_memory_entry"
    told = [line for line in without_times(lines) if "The answer can not be used" not in line]
    assert told == [
        "├─ execute_code: a first look at orders.csv",
        "├─ User -> Planner: files added: orders.csv. Who?",
        "│     attached: shared_memory_entry",
        "├─ Planner answers User [self_correction]",
        f"│  ├─ {model}",
        "│        attached: invalid_response, revise_message",
        "├─ Planner answers itself",
        f"│  ├─ {model}",
        "│  └─ -> CodeInterpreter: Sum the sales by region.",
        f"│        {plan}",
        "├─ CodeInterpreter answers Planner [self_correction]",
        f"│  ├─ {model}",
        "│  ├─ execute_code: 3 lines [error: KeyError: 'regon']",
        "│  └─ -> itself, to correct: The code failed: KeyError: 'regon' "
        "Find out why, and write the whole code again; what ran before is still there.",
        "│        attached: thought, reply_type, reply_content, verification, execution_status, execution_result,"
        " revise_message",
        "├─ CodeInterpreter answers itself",
        f"│  ├─ {model}",
        "│  ├─ execute_code: 1 line",
        "│  └─ -> Planner: The execution was successful. The result is: region East 3479.14 North 3374.46"
        " South 2754.35 West 1927.50 Name: sales, dtype: float64",
        "│        attached: thought, reply_type, reply_content, verification, execution_status, execution_result",
        "├─ Planner answers CodeInterpreter",
        f"│  ├─ {model}",
        "│  └─ -> User: East has sold most.",
        f"│        {plan}",
        "└─ finished",
    ]
    content = house.here("trace", "s", "--content").stdout
    assert "[code]\n" in content
    assert "----> 3 df.groupby('regon')['sales'].sum()" in content
    assert "regon')['sales']" not in done.stdout


@pytest.fixture
def twice(house: House) -> House:
    """A house where two questions were asked in one session."""
    for question in ("first", "second"):
        assert house.here("ask", question, "--session", "s", "--team", house.team()).exit_code == 0
    return house


def test_one_round_can_be_chosen_and_json_tells_the_same(twice: House) -> None:
    both, second = twice.here("trace", "s").stdout, twice.here("trace", "s", "--round", "2").stdout
    assert "User -> Echo: first" in both
    assert both.endswith(second)
    assert "first" not in second
    told = json.loads(twice.here("trace", "s", "--json").stdout)
    assert told["session_id"] == "s"
    assert [(each["number"], each["outcome"], each["details"]["question"]) for each in told["rounds"]] == [
        (1, "finished", "first"),
        (2, "finished", "second"),
    ]
    assert [each["name"] for each in told["rounds"][0]["children"]] == ["send Echo", "process Echo"]
    (only,) = json.loads(twice.here("trace", "s", "--json", "--round", "2").stdout)["rounds"]
    assert only == told["rounds"][1]


def test_what_is_not_there_is_said(twice: House) -> None:
    missing = twice.here("trace", "nowhere")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "There is no session 'nowhere'" in missing.stderr
    for number in ("0", "3"):
        refused = twice.here("trace", "s", "--round", number)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert f"Session 's' has no round {number}; its rounds are 1 to 2." in refused.stderr


def test_a_terminal_shows_bars_and_no_line_is_wider(twice: House, terminals: list[Terminal]) -> None:
    terminal = Terminal(twice, "trace", "s")
    terminals.append(terminal)
    assert terminal.end() == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", terminal.text).split("\r\n")
    assert any("━" in line and "Echo answers User" in line for line in lines)
    assert max(map(len, lines)) <= 100
    assert lines[-2].strip() == "└─ finished"


def test_a_pipe_that_knows_ascii_alone_gets_that(twice: House) -> None:
    done = twice.run("trace", "s", "--round", "1", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "|- Echo answers User" in done.stdout
    assert done.stdout.splitlines()[-1].strip() == "`- finished"
    assert done.stdout.isascii()


async def traced(path: Path) -> None:
    url = f"sqlite:///{path}"
    path.parent.mkdir(parents=True, exist_ok=True)
    attached = [Attachment.create("plan", "p")] * 2
    async with SqliteStore.from_url(url) as store:
        await store.claim("s")
        post = Post.create("hey \x1b[2J\u202eyou", USER, "Planner", attached)
        opened = [
            Entry(1, "r", 1, RoundOpened("r", "hey"), TRACEPARENT),
            Entry(2, "p", 2, PostSent("r", post), TRACEPARENT),
            Entry(3, "q", 3, RoundOpened("q", "hey")),
        ]
        await store.append("s", opened)


def test_the_trace_is_named_where_there_is_one(house: House) -> None:
    asyncio.run(traced(house.data / "roles.db"))
    shown, told = house.here("show", "s").stdout, house.here("trace", "s").stdout
    link = f"Trace {TRACE}: http://127.0.0.1:16686/trace/{TRACE}"
    assert shown.splitlines()[:2] == ["--- round 1: created ---", link]
    assert shown.count("Trace ") == told.count("trace: ") == 1
    assert [each["trace_id"] for each in house.rounds("s")] == [TRACE, None]
    first = told.split("\n\n")[0].splitlines()
    assert first[:2] == ["--- round 1: not over ---", f"trace: {TRACE}"]
    assert [line.split("─ ")[-1].strip() for line in first[4:]] == [
        "User -> Planner: hey you",
        "│     attached: plan x2",
        "Planner had not answered User",
        "not over: it still runs, or its process has ended",
    ]


@given(JOURNALS, st.sampled_from([Pen(), Pen(110, 10), Pen(120, 16, True)]), st.booleans())
def test_whatever_a_journal_holds_is_drawn_clean_and_within_its_width(
    entries: list[Entry], pen: Pen, with_content: bool
) -> None:
    for number, each in enumerate(split(entries), 1):
        for line in tree_lines(number, fold(each, with_content=with_content), pen):
            drawn = f"{line.times}{line.bar}{line.guide}{line.text}"
            assert len(drawn) <= pen.width
            assert not re.search("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", drawn)
            assert not pen.ascii_only or line.guide.isascii()


@pytest.mark.parametrize(
    ("span_ns", "said"),
    [
        (0, "0.0 ms"),
        (9_949_999, "9.9 ms"),
        (9_950_000, "10 ms"),
        (999_499_999, "999 ms"),
        (999_500_000, "1.00 s"),
        (59_990 * 1_000_000, "59.99 s"),
        (59_999 * 1_000_000, "1 min 00 s"),
        (60 * SECOND_NS, "1 min 00 s"),
        (3599 * SECOND_NS, "59 min 59 s"),
        (3660 * SECOND_NS, "1 h 01 min"),
        (90_000 * SECOND_NS, "1 d 01 h"),
    ],
)
def test_spans_of_time_are_told_shortly(span_ns: int, said: str) -> None:
    assert span_words(span_ns) == said
