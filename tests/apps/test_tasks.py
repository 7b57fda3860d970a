"""``tasks`` tells the board of a session, as lines, as JSON, as a graph."""

from __future__ import annotations

import json

from apps.house import House
from roles_runtime.apps.tasks import board_lines, graph_lines, tasks_of
from roles_runtime.posts.event import TaskChanged
from roles_runtime.runtime.task_store import KeptTasks
from roles_runtime.tools.tasks.task import Task


def kept(*tasks: Task) -> KeptTasks:
    found = KeptTasks()
    for task in tasks:
        found.take(TaskChanged("r", task.id, "", task.status, task.owner, task.encode()))
    return found


FIRST = Task(id="1", subject='say "<b>"\x1b[31m', description="d", status="completed", blocks=("2",))
SECOND = Task(id="2", subject="two\nlines", description="d", blocked_by=("1", "10"), owner="Bob")
TENTH = Task(id="10", subject="ten", description="d", blocks=("2",))


def test_tasks_stand_by_number_with_what_they_wait_for() -> None:
    lines = list(board_lines(tasks_of(kept(TENTH, SECOND, FIRST), done=False)))
    assert [line.split()[0] for line in lines] == ["#1", "#2", "#10"]
    assert lines[1] == "#2 [pending] two lines [owner: Bob] [blocked by #10]"
    assert "\x1b" not in lines[0]


def test_an_empty_board_says_so() -> None:
    assert list(board_lines({})) == ["There is no task."]


def test_a_graph_has_a_node_a_task_and_an_arrow_an_edge() -> None:
    lines = list(graph_lines(tasks_of(kept(FIRST, SECOND, TENTH), done=False)))
    assert lines[0] == "graph LR"
    assert lines[2] == '    t2["#35;2 two lines"]:::pending'
    assert "    t1 --> t2" in lines
    assert "<b>" not in lines[1]
    assert lines[1].count('"') == 2


def test_what_was_completed_and_taken_off_is_told_where_wished_for() -> None:
    found = kept(FIRST, TENTH)
    found.take(TaskChanged("r", "1", "completed", "deleted"))
    assert list(tasks_of(found, done=False)) == ["10"]
    assert list(tasks_of(found, done=True)) == ["1", "10"]


def test_the_command_tells_a_session_without_tasks_and_one_that_is_not_there(house: House) -> None:
    asked = json.loads(house.here("ask", "hello", "--team", house.team(), "--json").stdout)
    done = house.here("tasks", asked["session_id"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "There is no task.\n"
    told = json.loads(house.here("tasks", asked["session_id"], "--json").stdout)
    assert told == {"session_id": asked["session_id"], "tasks": []}
    assert house.here("tasks", asked["session_id"], "--graph", "--done").stdout.startswith("graph LR\n")
    missing = house.here("tasks", "nowhere")
    assert missing.exit_code == 2
    assert "nowhere" in missing.stderr
