"""The board folded from its events: what is seen of it, what lines tell of it, and its middle."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.boards import Story, task
from roles_runtime.apps.asking import ask_and_show
from roles_runtime.apps.board import Board, Middle
from roles_runtime.apps.interrupts import Patience
from roles_runtime.apps.notices import Notices
from roles_runtime.apps.plain import PlainView
from roles_runtime.apps.shown import NoView
from roles_runtime.apps.text import clean
from roles_runtime.posts.event import Event, PostSent, RoundOpened, TaskChanged
from roles_runtime.posts.post import Post
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.session import Session
from roles_runtime.runtime.team import Team
from roles_runtime.stores.sqlite import SqliteStore
from roles_runtime.tools.tasks.graph import Sketch
from roles_runtime.tools.tasks.task import Task


def told(*events: TaskChanged, before: Board | None = None) -> list[str]:
    out = io.StringIO()
    with PlainView(out) as view:
        for event in events:
            view.take(event)
    return out.getvalue().splitlines()


def test_a_row_says_what_is_done_now_whose_it_is_and_what_it_waits_for() -> None:
    board = Board(
        [
            task(1, "Load\nit", "completed"),
            task(2, "Count", "in_progress", active_form="Counting \x1b[31mrows", owner="Bob\n", blocked_by=("1",)),
            task(3, "Plot", blocked_by=("1", "2", "9")),
        ]
    )
    rows = board.glance().first(9)
    assert [(row.state, row.text, row.owner, row.blockers) for row in rows] == [
        ("completed", "Load it", "", ""),
        ("in_progress", "Counting rows", "Bob", ""),
        ("pending", "Plot", "", "blocked by #2, #9"),
    ]


def test_of_many_tasks_those_have_rows_that_matter_now() -> None:
    board = Board(
        [
            *(task(number, status="completed") for number in range(1, 1001)),
            *(task(number) for number in range(1001, 2001)),
            task(2001, status="in_progress"),
        ]
    )
    glance = board.glance(6)
    assert [row.id for row in glance.first(6)] == ["999", "1000", "1001", "1002", "1003", "2001"]
    assert [row.id for row in glance.first(1)] == ["2001"]
    assert (glance.total, glance.done) == (2001, 1000)


def test_who_waits_for_many_names_a_few() -> None:
    many = tuple(str(number) for number in range(1, 10_001))
    row = Board([task(10_001, blocked_by=many)]).row("10001")
    assert row is not None
    assert row.blockers == "blocked by #1, #2, #3, #4, …"


def test_a_state_of_other_hands_is_something_left_to_do() -> None:
    board = Board([task(1, status="paused")])
    assert board.is_open
    assert [row.state for row in board.glance().rows] == ["pending"]


def test_lines_tell_each_change_that_can_be_seen_once_and_the_end_of_the_board() -> None:
    story = Story()
    first, second = task(1, "Count the rows", active_form="Counting the rows"), task(2, "Plot")
    lines = told(
        *story.put(first, second),
        *story.put(task(1, "Count the rows", active_form="Counting the rows", blocks=("2",))),
        *story.put(task(2, "Plot", blocked_by=("1",))),
        *story.put(task(2, "Plot", blocked_by=("1",), metadata={"a": 1})),
        *story.put(task(1, "Count the rows", "in_progress", active_form="Counting the rows", owner="Planner")),
        *story.put(task(1, "Count the rows", "completed", owner="Planner")),
        *story.put(task(3, "Too much")),
        *story.drop(3),
        *story.put(task(2, "Plot", "completed")),
        *story.drop(1, 2),
        *story.put(task(4, "Next")),
    )
    assert lines == [
        "[task #1 pending: Count the rows]",
        "[task #2 pending: Plot]",
        "[task #2 pending: Plot, blocked by #1]",
        "[task #1 in_progress: Counting the rows (Planner)]",
        "[task #1 completed: Count the rows (Planner)]",
        "[task #3 pending: Too much]",
        "[task #3 deleted]",
        "[task #2 completed: Plot]",
        "[all tasks are completed: 2]",
        "[task #4 pending: Next]",
    ]


def test_a_deleted_task_may_be_what_was_left() -> None:
    story = Story()
    lines = told(
        *story.put(task(1, status="completed"), task(2)), *story.drop(1), *story.put(task(3)), *story.drop(3, 2)
    )
    assert lines == [
        "[task #1 completed: task 1]",
        "[all tasks are completed: 1]",
        "[task #2 pending: task 2]",
        "[task #1 deleted]",
        "[task #3 pending: task 3]",
        "[task #3 deleted]",
        "[task #2 deleted]",
    ]


def test_a_view_that_was_told_of_the_board_before_knows_what_changed() -> None:
    out = io.StringIO()
    story = Story()
    list(story.put(task(1), task(2, blocked_by=("1",), blocks=())))
    with PlainView(out) as view:
        view.begin(story.tasks.values())
        for event in (*story.put(task(1, blocks=("2",))), *story.put(task(1, status="completed", blocks=("2",)))):
            view.take(event)
    assert out.getvalue() == "[task #1 completed: task 1]\n"


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_a_change_is_one_line_whatever_its_texts_hold(subject: str, owner: str) -> None:
    (line,) = told(*Story().put(task(1, subject, owner=owner)))
    assert line.startswith("[task #1 pending: ")
    assert clean(line) == line
    assert len(line) < 350


STATES = st.sampled_from(["pending", "in_progress", "completed", "deleted"])


@given(st.lists(st.tuples(st.integers(1, 6), STATES, st.sets(st.integers(1, 6)))))
def test_the_fold_is_the_board(changes: list[tuple[int, str, set[int]]]) -> None:
    story, board = Story(), Board()
    for number, state, waits in changes:
        was_finished = board.is_finished
        if state != "deleted":
            change = story.put(task(number, status=state, blocked_by=tuple(map(str, waits - {number}))))
        elif str(number) in story.tasks:
            change = story.drop(number)
        else:
            continue
        finished = [board.take(event) for event in change]
        tasks = story.tasks
        assert finished == [board.is_finished and not was_finished]
        assert board.is_finished == (bool(tasks) and not any(each.is_open for each in tasks.values()))
        glance = board.glance()
        assert sorted(row.id for row in glance.rows) == sorted(tasks)
        for row in glance.rows:
            seen = tasks[row.id]
            assert row.state == seen.status
            still = list(Sketch(tasks).open_blockers(seen)) if seen.is_open else []
            assert list(row.blocked_by) == still[:5]


class TestTheMiddle:
    def test_is_where_half_is_done_and_something_is_under_way(self) -> None:
        story = Story()
        middle = Middle(12)
        events: list[Event] = [
            RoundOpened("r", "?"),
            PostSent("r", Post.create("?", "User", "Planner")),
            *story.put(*(task(number) for number in (1, 2, 3, 4))),
            *story.put(task(1, status="in_progress"), task(1, status="completed")),
            PostSent("r", Post.create("!", "Planner", "Coder")),
            *story.put(task(2, status="in_progress"), task(2, status="completed"), task(3, status="in_progress")),
            *story.put(task(3, status="completed"), task(4, status="completed")),
            *story.drop(1, 2, 3, 4),
        ]
        for event in events:
            middle.take(event)
        moment = middle.moment
        assert moment is not None
        assert moment.posts == 2
        assert [row.state for row in moment.board.first(4)] == ["completed", "completed", "in_progress", "pending"]

    def test_is_that_of_the_last_round(self) -> None:
        middle = Middle(12)
        for event in (RoundOpened("r", "?"), *Story().put(task(1, status="in_progress")), RoundOpened("s", "?")):
            middle.take(event)
        assert middle.moment is None


class Maker(Role):
    """Makes a task of each question."""

    name = "Maker"

    async def reply(self, turn: Turn) -> Answer:
        await turn.tasks.create(turn.post.message, "d")
        return turn.answer("made")


class Beginnings(NoView):
    """Keeps what it was told before each round."""

    def __init__(self) -> None:
        self.boards: list[list[str]] = []

    def begin(self, tasks: Iterable[Task]) -> None:
        self.boards.append([each.subject for each in tasks])


@pytest.mark.anyio
async def test_a_round_begins_with_the_board_of_its_session_whoever_changed_it_last(tmp_path: Path) -> None:
    view = Beginnings()

    async def ask(session: Session, question: str) -> None:
        await ask_and_show(session, question, [], view, Notices(session), Patience(session), signals=())

    def opened() -> Runtime:
        store = SqliteStore.from_url(f"sqlite:///{tmp_path}/roles.db")
        return Runtime(Team(Maker()), store=store, data_dir=tmp_path)

    async with opened() as runtime:
        session = await runtime.session("s")
        await ask(session, "one")
        session.sleep()
        await session.ground.store.release("s")
        async with opened() as other:
            await ask(await other.session("s"), "two")
        await ask(session, "three")
    assert view.boards == [[], ["one"], ["one", "two"]]
