"""The board on the screen: below what grows, never wider or higher than the terminal, and gone when it is finished."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from wcwidth import wcwidth

from apps.boards import Story, task
from apps.glass import Glass
from apps.house import House, Terminal
from roles_runtime.apps.board import Board, Moment
from roles_runtime.apps.board_drawing import BoardDrawing, cells, fit
from roles_runtime.apps.screen import ScreenView, picture
from roles_runtime.apps.text import clean
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.event import Event, MessageGrew, PostSent
from roles_runtime.posts.post import Post
from roles_runtime.tools.tasks.task import Task

FOUR = [
    task(1, "Load the file", "completed", owner="Planner"),
    task(2, "Count the rows", "in_progress", active_form="Counting the rows", owner="Coder"),
    task(3, "Plot [red]them[/red] :smile:", blocked_by=("1", "2")),
    task(10, "Tell the user", blocked_by=("3",)),
]


def drawn(tasks: Iterable[Task], *, width: int = 60, most: int = 12) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(BoardDrawing(Board(tasks).glance(most), most=most))
    out = console.file
    assert isinstance(out, io.StringIO)
    return out.getvalue().splitlines()


def shown(*events: Event, before: Iterable[Task] = (), height: int = 24, end: bool = True) -> list[str]:
    """What stands on a terminal after these events, and after the end of the round; what turns is a star."""
    out = io.StringIO()
    console = Console(file=out, width=60, height=height, force_terminal=True, color_system=None)
    with ScreenView(console) as view:
        view.begin(before)
        for event in events:
            view.take(event)
        if end:
            view.end(Round.create("?", state=RoundState.finished))
        text = re.sub("[\u2800-\u28ff]", "*", out.getvalue())
    return "\n".join(line.rstrip() for line in Glass(text, width=60, height=height).lines).rstrip().split("\n")


def said(text: str) -> PostSent:
    return PostSent("r", Post.create(text, "Planner", "Coder"))


def test_a_task_is_a_line_with_its_mark_its_owner_and_its_open_blockers() -> None:
    assert drawn(FOUR) == [
        "  ✓ #1  Load the file  Planner",
        "  ▸ #2  Counting the rows  Coder",
        "  ☐ #3  Plot [red]them[/red] :smile:  blocked by #2",
        "  ☐ #10 Tell the user  blocked by #3",
    ]


def test_of_many_tasks_the_others_are_counted() -> None:
    lines = drawn([task(number, status="completed" if number < 5 else "pending") for number in range(1, 51)])
    assert len(lines) == 13
    assert lines[-1] == "  and 38 more (4 of 50 completed)"


def test_a_board_without_tasks_is_nothing() -> None:
    assert drawn([]) == []


def test_where_there_is_no_room_the_subject_gives_way_first() -> None:
    waits = task(7, "a very long subject " * 10, "in_progress", owner="Planner", blocked_by=("1",))
    assert drawn([waits], width=60) == ["  ▸ #7 a very long subject a very l…  Planner  blocked by #1"]


HARD = st.sampled_from("\u200d\ufe0f\u3164\u1160\u0301\u0e33\U0001f468\U0001f1e9中가\t\n\r\x1b[]31m\x9b\u202e\u2028ﷺ❤①")
ODD = st.text(HARD | st.characters(codec="utf-8")) | st.text(HARD).map(lambda text: (text * 10_000)[:10_000])


@given(ODD, ODD, st.integers(1, 120))
def test_a_task_is_one_line_and_fits_whatever_its_texts_hold(subject: str, owner: str, width: int) -> None:
    lines = drawn([task(1, subject, "in_progress", owner=owner, blocked_by=("9",))], width=width)
    assert len(lines) == 1
    assert clean(lines[0]) == lines[0]
    assert sum(max(wcwidth(char), 0) for char in lines[0]) <= width


@given(ODD, st.integers(0, 40))
def test_what_is_cut_fits(text: str, width: int) -> None:
    assert cells(fit(text, width)) <= width


class TestWhileARoundGoes:
    def test_the_board_stands_below_what_grows_and_leaves_with_the_round(self) -> None:
        growing = MessageGrew("r", "Planner", "I am thinking")
        # The one that is completed comes last: a board on which all is completed would be a finished one.
        events = (*Story().put(*reversed(FOUR)), growing, PostSent("r", Post.create("Hello.", "Coder", "Planner")))
        assert shown(*events, end=False)[3:] == [
            "  I am thinking",
            "* waiting",
            "  ✓ #1  Load the file  Planner",
            "  * #2  Counting the rows  Coder",
            "  ☐ #3  Plot [red]them[/red] :smile:  blocked by #2",
            "  ☐ #10 Tell the user  blocked by #3",
        ]
        assert shown(*events) == ["Coder → Planner", "  Hello."]

    def test_what_is_open_is_shown_from_the_start(self) -> None:
        lines = shown(said("Hello."), before=FOUR, end=False)
        assert "  ✓ #1  Load the file  Planner" in lines
        assert shown(said("Hello."), before=[task(1, status="completed")], end=False)[3:] == ["* waiting"]

    def test_a_finished_board_is_printed_once_and_leaves(self) -> None:
        story = Story()
        list(story.put(task(1, "Load"), task(2, "Plot", "completed", owner="Coder")))
        before = list(story.tasks.values())
        events = (*story.put(task(1, "Load", "completed")), *story.drop(1, 2), said("Done."))
        printed = ["  ✓ #1 Load", "  ✓ #2 Plot  Coder", ""]
        assert shown(*events, before=before) == [*printed, "Planner → Coder", "  Done."]
        again = (*events, *story.put(task(3, "More")), *story.put(task(3, "More", "completed")), *story.drop(3))
        assert shown(*again, before=before)[-1:] == ["  ✓ #3 More"]

    @pytest.mark.parametrize("height", [2, 3, 4, 5, 8, 13, 24, 40])
    def test_nothing_is_ever_left_behind_however_low_the_terminal(self, height: int) -> None:
        story = Story()
        events: list[Event] = []
        for number in range(1, 31):
            events += story.put(task(number, "\U0001f468\u200d\U0001f469\u200d\U0001f467" * number + "中" * 100))
            events.append(MessageGrew("r", "Planner", "a word and another\n" * 3))
            events.append(MessageGrew("r", f"Other{number % 3}", "x" * 500))
            events.append(PostSent("r", Post.create(f"Post {number}.", "Coder", "Planner")))
        lines = shown(*events, height=height)
        posts = [line for number in range(1, 31) for line in ("Coder → Planner", f"  Post {number}.", "")]
        assert lines == posts[:-1]


def test_a_picture_has_the_board_where_it_stood() -> None:
    record = Round.create("?", state=RoundState.finished)
    record.post_list = [Post.create(text, "User", "Planner") for text in ("first", "second")]
    svg = picture(record, board=Moment(1, Board(FOUR).glance()))
    places = [svg.index(words) for words in ("first", "Load&#160;the&#160;file", "Counting", "second")]
    assert places == sorted(places)
    assert "&#160;smile:" not in picture(record)


PLANNER = '''
class Tasker(Role):
    """Makes two tasks and waits; asked to finish, it completes them."""
    name = "Tasker"
    async def reply(self, turn):
        if "make" in turn.post.message:
            await turn.tasks.create("Count the rows", "d", active_form="Counting the \\x1b[31mrows")
            await turn.tasks.create("Plot [red]them[/red] \\U0001f4ca", "d")
            await turn.tasks.update("1", Change(status="in_progress", owner="Tasker", add_blocks=("2",)), Who("Tasker"))
        if "finish" in turn.post.message:
            for number in ("1", "2"):
                await turn.tasks.update(number, Change(status="completed"), Who("Tasker"))
            return turn.answer("All done.")
        await asyncio.sleep(3600)
'''


@pytest.fixture
def team(house: House) -> str:
    path = house.folder / "guests" / "house_guests.py"
    change = "from roles_runtime.tools.tasks.change import Change, Who\n"
    path.write_text(path.read_text("utf-8") + change + PLANNER, encoding="utf-8")
    points = next((house.folder / "guests").glob("*.dist-info/entry_points.txt"))
    lines = points.read_text("utf-8").replace(
        "[roles_runtime.roles]", "[roles_runtime.roles]\ntasker = house_guests:Tasker"
    )
    points.write_text(lines, encoding="utf-8")
    return house.team('[[role]]\ntype = "tasker"\n')


def test_a_session_shows_its_board_from_round_to_round(house: House, team: str, terminals: list[Terminal]) -> None:
    for question in ("make", "wait"):
        terminal = Terminal(house, "ask", question, "--team", team, "--session", "s")
        terminals.append(terminal)
        terminal.wait_for("Counting the rows")
        terminal.wait_for("blocked by #1")
        terminal.type("\x03")
        assert terminal.end() == 130

    printed = Terminal(house, "tasks", "s")
    terminals.append(printed)
    assert printed.end() == 0
    assert [line.rstrip() for line in Glass(printed.text, width=100, height=40).lines] == [
        "  ▸ #1 Counting the rows  Tasker",
        "  ☐ #2 Plot [red]them[/red] \U0001f4ca  blocked by #1",
        "",
    ]
    assert house.run("tasks", "s").stdout.splitlines() == [
        "#1 [in_progress] Count the rows [owner: Tasker]",
        "#2 [pending] Plot [red]them[/red] \U0001f4ca [blocked by #1]",
    ]

    chat = Terminal(house, "--team", team, "--session", "s")
    terminals.append(chat)
    chat.wait_for("\x1b[?2004h")
    chat.type("finish\r")
    chat.wait_for("Count the rows")
    chat.wait_for("All done.")
    chat.wait_for("\x1b[?2004h")
    chat.type("\x04")
    assert chat.end() == 0
    assert chat.text.count("Count the rows") == 1


def test_a_pipe_is_told_each_change(house: House, team: str) -> None:
    done = house.run("ask", "make and finish", "--team", team)
    assert done.stdout.splitlines() == [
        "User -> Tasker: make and finish",
        "[task #1 pending: Count the rows]",
        "[task #2 pending: Plot [red]them[/red] \U0001f4ca]",
        "[task #1 in_progress: Counting the rows (Tasker)]",
        "[task #2 pending: Plot [red]them[/red] \U0001f4ca, blocked by #1]",
        "[task #1 completed: Count the rows (Tasker)]",
        "[task #2 completed: Plot [red]them[/red] \U0001f4ca]",
        "[all tasks are completed: 2]",
        "Tasker -> User: All done.",
    ]
    svg = house.folder / "round.svg"
    session = house.here("sessions").stdout.splitlines()[1].split("\t")[0]
    assert house.here("show", session, "--svg", str(svg)).exit_code == 0
    assert "Counting&#160;the&#160;rows" in svg.read_text("utf-8")
