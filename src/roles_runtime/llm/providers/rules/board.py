"""The Planner's tasks: what the rules put on the team's board, where they are given the tools for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.marks import REMINDER_START
from roles_runtime.llm.message import Message
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.rules.lexicon import Language
from roles_runtime.llm.request import LLMRequest

_CREATE, _UPDATE = "TaskCreate", "TaskUpdate"
_CREATED = re.compile(r"Task #([0-9]+) created successfully")
_OPEN = re.compile(r"^#([0-9]+) \[(pending|in_progress)\] ([^\n]*)", re.MULTILINE)

_WORK = {
    "en": ("Work out the answer from {file} by code{drawn}", "Working out the answer from {file} by code{drawn}"),
    "zh": ("用代码从 {file} 算出答案{drawn}", "正在用代码从 {file} 算出答案{drawn}"),
}
_DRAWN = {"en": " and draw it", "zh": "并画图"}
_TELL = {
    "en": ("Tell the user the result", "Telling the user the result"),
    "zh": ("把结果告诉用户", "正在把结果告诉用户"),
}
_MINE = re.compile("Work out the answer from .* by code|Tell the user the result|用代码从 .* 算出答案|把结果告诉用户")

_Call: TypeAlias = tuple[str, JsonObject]


class Board(msgspec.Struct, frozen=True):
    """What a request tells of it.

    Attributes:
        there: Whether the tools for it are given.
        mine: The open tasks that the rules made, in order: number, and whether it is in progress.
        made: Numbers of the tasks that were made in this turn.
        calls: How many answers of this turn were calls.
        failed: Whether one of these calls failed. The board is of help, and no answer hangs on it.
    """

    there: bool = False
    mine: tuple[tuple[str, bool], ...] = ()
    made: tuple[str, ...] = ()
    calls: int = 0
    failed: bool = False


class Handed(msgspec.Struct, frozen=True):
    """A step that is handed out."""

    worker: str
    file: str
    drawn: bool
    language: Language


def board_of(request: LLMRequest) -> Board:
    """Reads the board in a request: who has the tools, what is open, what was done in this turn."""
    since = _since(request.messages)
    returns = [each for message in since for each in message.tool_reses]
    return Board(
        there={_CREATE, _UPDATE} <= {tool.name for tool in request.tools},
        mine=_mine(request.messages),
        made=tuple(found[1] for each in returns if (found := _CREATED.search(each.result))),
        calls=sum(bool(message.tool_calls) for message in since),
        failed=any(each.is_error for each in returns),
    )


def is_reminder(message: Message) -> bool:
    """Whether nobody wrote it."""
    return not message.creator and message.text.startswith(REMINDER_START)


def calls_to_begin(board: Board, step: Handed) -> tuple[ToolCall, ...]:
    """What is called before a step is handed out: first its tasks are made, then one waits for the other and begins."""
    if not board.there or board.failed:
        return ()
    if not board.calls:
        return _calls(*_without(board.mine), (_CREATE, _work(step)), (_CREATE, _task(*_TELL[step.language])))
    if board.calls == 1 and len(board.made) == 2:
        work, tell = board.made
        return _calls(
            (_UPDATE, {"taskId": tell, "addBlockedBy": [work]}),
            (_UPDATE, {"taskId": work, "status": "in_progress", "owner": step.worker}),
        )
    return ()


def calls_to_end(board: Board, *, success: bool) -> tuple[ToolCall, ...]:
    """What is called before the user is answered: what is open was done, or is of no more use."""
    if not board.there or board.calls or not board.mine:
        return ()
    if not success:
        return _calls(*_without(board.mine))
    moves: list[_Call] = []
    for number, is_begun in board.mine:
        moves += [] if is_begun else [(_UPDATE, _moved(number, "in_progress"))]
        moves.append((_UPDATE, _moved(number, "completed")))
    return _calls(*moves)


def _work(step: Handed) -> JsonObject:
    drawn = _DRAWN[step.language] if step.drawn else ""
    return _task(*(each.format(file=step.file, drawn=drawn) for each in _WORK[step.language]))


def _task(subject: str, active_form: str) -> JsonObject:
    return {"subject": subject, "description": "", "activeForm": active_form}


def _moved(number: str, status: str) -> JsonObject:
    return {"taskId": number, "status": status}


def _without(tasks: Iterable[tuple[str, bool]]) -> list[_Call]:
    return [(_UPDATE, _moved(number, "deleted")) for number, _ in tasks]


def _calls(*calls: _Call) -> tuple[ToolCall, ...]:
    # Whoever calls them gives them ids: the same request gets the same answer.
    return tuple(
        ToolCall(call_id="", name=name, arguments=msgspec.json.encode(arguments).decode()) for name, arguments in calls
    )


def _since(messages: Sequence[Message]) -> Sequence[Message]:
    """What this turn called and got back so far: what stands after the last that was told."""
    start = len(messages)
    while start and (messages[start - 1].tool_calls or messages[start - 1].role == "tool"):
        start -= 1
    return messages[start:]


def _mine(messages: Sequence[Message]) -> tuple[tuple[str, bool], ...]:
    reminder = next((each for each in reversed(messages) if each.role == "user" and is_reminder(each)), None)
    lines = _OPEN.findall(reminder.text) if reminder is not None else []
    return tuple((number, state == "in_progress") for number, state, line in lines if _MINE.match(line))
