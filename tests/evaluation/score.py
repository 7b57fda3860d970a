"""Scores the rules model: real files, real profiles, the real roles, and its code run in a scratch folder.

``python -m evaluation.score tuning`` (in ``tests/``) prints the table, and for the tuning set what went wrong.
The code that runs here in-process is the rules model's own, made from constants of our files.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot as plt

from evaluation.check import matches
from evaluation.tables import write_table
from roles.stage import Stage
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.profile import profile_code, read_profiles
from roles_runtime.llm.providers.rules import RulesModel
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.ids import create_id
from roles_runtime.posts.post import USER, Post
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles.code_interpreter import CodeInterpreter
from roles_runtime.roles.planner import Planner

SetName = Literal["tuning", "held_out"]
Verdict = Literal["right", "refused", "wrong"]

WRONG_AT_MOST: Final = 0.01
RIGHT_IN_SCOPE_AT_LEAST: Final = 0.85
REFUSED_OUT_OF_SCOPE_AT_LEAST: Final = 0.97

_HERE = Path(__file__).parent
_NOTHING = object()


class Notebook:
    """A kernel that runs cells here, in one folder, and keeps the last value and what was drawn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.value: object = _NOTHING
        self.drawn: dict[str, str] | None = None
        self._names: dict[str, Any] = {}

    async def execute(self, code: str, *, timeout_s: float = 120.0, traceparent: str = "") -> Execution:
        """Runs a cell; its last expression is its value."""
        self.value, self.drawn = _NOTHING, None
        printed = io.StringIO()
        identity = "exec-" + create_id()[-12:]
        try:
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed), self._watching_plots():
                self._run(code)
        except Exception as error:  # whatever the cell raises is its result
            return Execution(identity, code, error=f"{type(error).__name__}: {error}", outcome="error")
        output = "" if self.value is _NOTHING else repr(self.value)
        return Execution(identity, code, is_success=True, output=output, stdout=(printed.getvalue(),))

    async def aclose(self) -> None:
        """Nothing is open."""

    def _run(self, code: str) -> None:
        tree = ast.parse(code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), self._names)
        if isinstance(last, ast.Expr):
            self.value = eval(compile(ast.Expression(last.value), "cell", "eval"), self._names)

    @contextlib.contextmanager
    def _watching_plots(self) -> Iterator[None]:
        close = plt.close

        def look(figure: Any = None) -> None:
            if figure is not None:
                self.drawn = _drawn(figure.axes[0])
            close(figure)

        plt.close = look
        try:
            yield
        finally:
            plt.close = close
            close("all")


def _drawn(axes: Any) -> dict[str, str]:
    """What stands in a picture, by what matplotlib made of it."""
    if axes.collections:
        kind = "scatter"
    elif axes.lines:
        kind = "line"
    else:
        bars = axes.patches
        touching = len(bars) > 1 and abs(bars[0].get_x() + bars[0].get_width() - bars[1].get_x()) < 1e-9
        kind = "histogram" if touching else "bar"
    return {"plot": kind, "x": axes.get_xlabel(), "y": axes.get_ylabel()}


class Case(NamedTuple):
    """One question with what came of it."""

    question: Mapping[str, Any]
    verdict: Verdict
    result: str


class Score(NamedTuple):
    """All cases of a set."""

    name: SetName
    cases: tuple[Case, ...]

    def share(self, verdict: Verdict, scope: str | None = None) -> float:
        """How many of the questions of a scope, or of all, had that verdict."""
        chosen = [case for case in self.cases if scope in (None, case.question["scope"])]
        return sum(case.verdict == verdict for case in chosen) / len(chosen)

    def table(self) -> str:
        """The figures, a line for each scope."""
        lines = [f"{self.name:<10} {'right':>6} {'refused':>8} {'wrong':>6}"]
        for scope in ("in", "out"):
            counts = Counter(case.verdict for case in self.cases if case.question["scope"] == scope)
            lines.append(f"{scope:<10} {counts['right']:>6} {counts['refused']:>8} {counts['wrong']:>6}")
        return "\n".join(lines)

    def mistakes(self) -> str:
        """What was not right, a line each; of the tuning set only."""
        if self.name != "tuning":
            return ""
        return "\n".join(
            f"{case.verdict}: {case.question['id']} [{case.question['table']}] {case.question['question']}"
            f" -> {case.result[:300]!r}"
            for case in self.cases
            if case.verdict != "right"
        )


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="evaluation-")


@cache
def _profile_json(table: str) -> str:
    """The profile of a table, by the cell that profiles files in a kernel."""
    folder = Path(_scratch().name)
    path = write_table(table, folder)
    execution = asyncio.run(Notebook(folder).execute(profile_code([path.name])))
    return read_profiles(execution).to_json()


async def _ask(table_profile: str, question: str, notebook: Notebook) -> Post:
    """One round of a Planner and a CodeInterpreter with the rules model; the Planner's last Post."""
    model = RulesModel()
    planner, worker = Planner(model=model), CodeInterpreter(model=model)
    leading, working = Stage(planner, worker), Stage(worker, planner, leader="Planner", kernel=notebook)
    leading.opens(question)
    working.opens(question)
    asked = Post.create(question, USER, planner.name)
    asked.add_attachment(_shared(table_profile))
    answer = await leading.plays(asked)
    if answer.send_to == USER:
        return answer
    task = Post.create(answer.message, planner.name, worker.name)
    task.add_attachment(_shared(table_profile))
    done = await working.plays(task)
    while done.send_to == worker.name:
        done = await working.plays(done)
    return await leading.plays(Post.create(done.message, worker.name, planner.name))


def _shared(profile: str) -> Attachment:
    entry = SharedMemoryEntry.create("file_profile", "conversation", profile)
    return Attachment.create(AttachmentType.shared_memory_entry, "", extra=entry)


def judge(question: Mapping[str, Any]) -> Case:
    """Asks one question and compares what came of it."""
    notebook = Notebook(Path(_scratch().name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fonts without Chinese glyphs
        final = asyncio.run(_ask(_profile_json(question["table"]), question["question"], notebook))
    expect = question["expect"]
    if notebook.value is _NOTHING:
        failed = "TaskFailure" in [each.content for each in final.get_attachment(AttachmentType.stop)]
        refused: Verdict = "right" if expect["kind"] == "refuse" else "refused"
        return Case(question, "wrong" if failed else refused, final.message)
    result = _told_axes(notebook.drawn) if expect["kind"] == "plot" and notebook.drawn else notebook.value
    return Case(question, "right" if matches(expect, result) else "wrong", repr(notebook.value))


def _told_axes(drawn: Mapping[str, str]) -> dict[str, str]:
    """The kind; and the axes of points, which are named by their columns."""
    return dict(drawn) if drawn["plot"] == "scatter" else {"plot": drawn["plot"]}


def score(name: SetName) -> Score:
    """Asks all questions of a set."""
    mpl.use("Agg")
    questions = json.loads((_HERE / f"{name}.json").read_text(encoding="utf-8"))
    with pd.option_context("display.max_rows", 60):
        return Score(name, tuple(judge(question) for question in questions))


def main() -> None:
    """Prints the score of the set that the command line names."""
    scored = score("held_out" if sys.argv[1:] == ["held_out"] else "tuning")
    print(scored.table())
    print(scored.mistakes())


if __name__ == "__main__":
    main()
