from __future__ import annotations

import io

import pytest
from rich.console import Console

from apps.house import House, Terminal
from roles_runtime.apps.screen import Growth, picture, render_post
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import ArtifactRef, Round, RoundState
from roles_runtime.posts.post import Post

PLAN = "1. Load the file\n2. Plot it <sequentially depends on 1>\n3. Tell the user"


def shown(post: Post, *, colours: bool = False) -> str:
    console = Console(
        file=io.StringIO(), width=100, force_terminal=colours, color_system="standard" if colours else None
    )
    console.print(render_post(post))
    out = console.file
    assert isinstance(out, io.StringIO)
    return out.getvalue()


def planned(step: str) -> Post:
    return Post.create(
        "Plot it.",
        "Planner",
        "CodeInterpreter",
        [Attachment.create(AttachmentType.plan, PLAN), Attachment.create(AttachmentType.current_plan_step, step)],
    )


def coded(*extra: Attachment) -> Post:
    return Post.create(
        "The following code was written: ...",
        "CodeInterpreter",
        "Planner",
        [
            Attachment.create(AttachmentType.thought, "One line does it."),
            Attachment.create(AttachmentType.reply_type, "python"),
            Attachment.create(AttachmentType.reply_content, "import pandas as pd\n1 + 1"),
            *extra,
        ],
    )


@pytest.mark.parametrize("step", ["2. Plot it", "Plot it", "2. Draw something else", "2"])
def test_a_plan_is_shown_with_its_current_step_marked(step: str) -> None:
    lines = shown(planned(step)).splitlines()

    assert lines[0] == "Planner → CodeInterpreter"
    assert [line.rstrip() for line in lines[1:5]] == [
        "    1. Load the file",
        "  ▶ 2. Plot it <sequentially depends on 1>",
        "    3. Tell the user",
        "  Plot it.",
    ]


def test_code_is_highlighted_and_shown_with_what_came_of_it_and_not_twice() -> None:
    text = shown(
        coded(
            Attachment.create(AttachmentType.execution_status, "SUCCESS"),
            Attachment.create(AttachmentType.execution_result, "The result is: 2"),
        ),
        colours=True,
    )

    assert "\x1b[94mimport\x1b[0m" in text
    assert "The result is: 2" in text
    assert "The following code was written" not in text


def test_code_that_failed_says_so() -> None:
    text = shown(
        coded(
            Attachment.create(AttachmentType.execution_status, "FAILURE"),
            Attachment.create(AttachmentType.execution_result, "ZeroDivisionError"),
            Attachment.create(AttachmentType.revise_message, "Write it again."),
        )
    )

    assert "─ failure ─" in text
    assert "─ corrects itself ─" in text


def test_no_text_is_taken_for_markup_or_obeyed() -> None:
    post = Post.create("[red]no[/red] :smile: \x1b[31m\u202e<svg onload=x>", "Rol\x1b[2Je", "User")

    assert shown(post).split() == ["Role", "→", "User", "[red]no[/red]", ":smile:", "<svg", "onload=x>"]


def test_what_grows_is_shown_by_its_last_lines() -> None:
    growth = Growth("message")
    for number in range(10_000):
        growth.add(f"line {number}\x1b[31m\n")

    console = Console(file=io.StringIO(), width=100)
    console.print(growth.render())
    out = console.file
    assert isinstance(out, io.StringIO)
    assert out.getvalue().split("\n")[:10] == [f"line {number}" for number in range(9990, 10_000)]


def test_a_round_can_be_drawn() -> None:
    record = Round.create("Plot it.", state=RoundState.finished)
    record.post_list = [Post.create("Plot it.", "User", "Planner"), planned("2."), coded()]
    record.artifacts = [ArtifactRef("/data/<b>.png", "image/png", "plot.png")]

    svg = picture(record, title="<a round>")

    assert svg.startswith("<svg ")
    assert "&lt;a&#160;round&gt;" in svg
    assert "plot.png:" in svg
    assert "<b>" not in svg


class TestAtATerminal:
    def test_a_round_is_shown_as_it_goes(self, house: House, terminals: list[Terminal]) -> None:
        terminal = Terminal(house, "ask", "hello", "--team", house.team('[[role]]\ntype = "wild"\n'))
        terminals.append(terminal)

        assert terminal.end() == 0
        assert "Wild" in terminal.text
        assert "safe [red]markup[/red] evil :smile:" in terminal.text
        assert "owned" not in terminal.text
        assert terminal.text.count("\x1b[?25l") == terminal.text.count("\x1b[?25h") == 1

    def test_ctrl_c_cancels_the_round_and_the_exit_status_says_so(
        self, house: House, terminals: list[Terminal]
    ) -> None:
        team = house.team('[[role]]\ntype = "sleeper"\n')
        terminal = Terminal(house, "ask", "hello", "--team", team, "--session", "mine")
        terminals.append(terminal)

        terminal.wait_for("Sleeper: sleeping")
        terminal.type("\x03")

        assert terminal.end() == 130
        assert "The round failed (cancelled)" in terminal.text
        assert terminal.text.rstrip().endswith("The round was cancelled.\x1b[0m")
        assert [each["reason"] for each in house.rounds("mine")] == ["cancelled"]

    def test_a_second_ctrl_c_gives_the_terminal_back_at_once(self, house: House, terminals: list[Terminal]) -> None:
        team = house.team('[[role]]\ntype = "stubborn"\n[limits]\ngrace_s = 3600\n')
        terminal = Terminal(house, "ask", "hello", "--team", team)
        terminals.append(terminal)

        terminal.wait_for("being stubborn")
        terminal.type("\x03")
        house.wait_until_ended(house.wait_for_session())
        terminal.type("\x03")

        assert terminal.end() == 130
        assert terminal.text.endswith("\x1b[?25h")
