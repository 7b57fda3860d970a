"""PlanTasks: gives the model of a role the four task tools before each turn, and reminds it of what is open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from roles_runtime.errors import ConfigError, InvalidResponseError, ModelError, TaskError
from roles_runtime.posts.post import Post
from roles_runtime.roles.middleware.plan_agreement import (
    MAX_TOLD,
    answers_user,
    carries_plan,
    draw_plan,
    held_back,
    told_lines,
    unfinished,
)
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.tools.tasks.backend import Backend
from roles_runtime.tools.tasks.board import NONE_OPEN, Listing, OpenTasks, TaskBoard
from roles_runtime.tools.tasks.languages import known, words
from roles_runtime.tools.tasks.local_files import LocalFiles
from roles_runtime.tools.tasks.tools import NAMES, task_tools
from roles_runtime.tools.tasks.words import Language
from roles_runtime.tools.time_limit import TimeLimit

UNKNOWN = Listing((), {}, ())

LISTED_S = 10.0
"""How long a turn waits for a board before it goes on without."""


class PlanTasks:
    """Puts TaskCreate, TaskGet, TaskUpdate and TaskList among the tools of every turn that has a model.

    While tasks are open, the prompt ends with one short reminder of them. A plan that a Post carries is drawn from the
    board, and a leader that answers User while tasks are in progress is reminded of them, once a round.

    Attributes:
        gives: The names of the tools that it gives.
    """

    gives = NAMES

    def __init__(
        self,
        backend: Backend | None = None,
        base_dir: str | Path | None = None,
        *,
        strict: bool = False,
        language: Language | None = None,
    ) -> None:
        """Makes one. Without a backend and a folder the board is the session's own, in its journal.

        Args:
            backend: Where the files of the board are. All sessions of the team share that board.
            base_dir: The folder in it; alone, it is one on the disk. `LocalFiles` is one folder, and needs no other.
            strict: Whether moves backwards, and completing what is blocked, are refused.
            language: What the model is told of the tools in: ``en`` or ``zh``; the team's where left out.

        Raises:
            ValueError: there is no such language.
            ConfigError: the folder is empty, or another than that of the `LocalFiles`.
        """
        self._strict, self._language = strict, None if language is None else known(language)
        self._board = _board_of(backend, base_dir)

    async def __call__(self, turn: Turn, respond: Respond) -> Answer:
        """Gives the tools, and the reminder.

        Raises:
            ToolDefinitionError: a tool of one of the names is there already.
        """
        if turn.model is None:
            return await respond(turn)
        board = self._board or turn.tasks
        language = self._language or turn.language
        # A session's own board writes its changes down itself.
        record = None if self._board is None else turn.record
        turn = turn.with_tools(*task_tools(board, turn.leader, language, strict=self._strict, record=record))
        text = await _reminder(board, language)
        try:
            answer = await respond(turn.with_reminder(text) if text else turn)
        except (ModelError, InvalidResponseError):
            # The user was answered before: a reminder asks for a better answer, and costs none.
            earlier = await held_back(turn, language)
            if earlier is None:
                raise
            answer = earlier
        if not isinstance(answer, Post) or not (carries_plan(answer) or answers_user(turn, answer)):
            return answer
        if not (await _open_tasks(board)).tasks:
            return answer
        listing = await _listed(board)
        draw_plan(answer, listing, turn.language)
        return unfinished(turn, answer, listing, language) or answer


def _board_of(backend: Backend | None, base_dir: str | Path | None) -> TaskBoard | None:
    if base_dir is not None and not str(base_dir):
        raise ConfigError("PlanTasks", "base_dir", "it is empty; name a folder, or leave it out.")
    given: object = backend
    if not (given is None or isinstance(given, Backend)):
        problem = f"{type(given).__name__} is no Backend; derive it from roles_runtime.tools.tasks.backend.Backend."
        raise ConfigError("PlanTasks", "backend", problem)
    if backend is None and base_dir is not None:
        backend = LocalFiles(base_dir)
    if isinstance(backend, LocalFiles):
        # It says where it is once and for all, wherever the process goes later.
        if base_dir is not None and os.path.abspath(base_dir) != backend.base_dir:
            problem = f"it is {str(base_dir)!r}, and the files are those of {backend.base_dir}; leave it out."
            raise ConfigError("PlanTasks", "base_dir", problem)
        return TaskBoard(backend, backend.base_dir)
    return None if backend is None else TaskBoard(backend, str(base_dir or "tasks"))


async def _open_tasks(board: TaskBoard) -> OpenTasks:
    with TimeLimit(LISTED_S), suppress(TaskError):
        return await board.open_tasks(MAX_TOLD)
    return NONE_OPEN


async def _reminder(board: TaskBoard, language: Language) -> str:
    left = await _open_tasks(board)
    if not left.tasks:
        return ""
    return reminder(await _listed(board) if left.more else Listing(left.tasks, left.blockers, ()), language)


async def _listed(board: TaskBoard) -> Listing:
    """The board, or nothing where it can not be had: the model is told of it when it calls a tool, and needs none."""
    with TimeLimit(LISTED_S), suppress(TaskError):
        return await board.list()
    return UNKNOWN


def reminder(listing: Listing, language: Language) -> str:
    """The open tasks, in a few lines; empty where there are none."""
    left = [task for task in listing.tasks if task.is_open]
    if not left:
        return ""
    return "\n".join((words(language).reminder, *told_lines(left, listing, language)))
