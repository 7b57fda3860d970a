"""What the rules put on the team's board, before they answer."""

from __future__ import annotations

from typing import Any

import msgspec

from llm.rules.desk import PLANNER_SCHEMA, by_user, by_worker, orders, own, request
from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.message import AssistantTextMessage, Message, TextMessage, ToolMessage
from roles_runtime.llm.providers.rules.model import reply_to
from roles_runtime.llm.request import LLMRequest, ToolSpec

TOOLS = tuple(ToolSpec(name, "", {"type": "object"}) for name in ("TaskCreate", "TaskGet", "TaskUpdate", "TaskList"))
SUCCESS = by_worker("The following code was written:\n…\nThe execution was successful.\nThe result is:\n200")
FAILURE = by_worker("…\nThe execution failed.\nThe error is:\nKeyError: 'sales'")


def asked(*said: Message) -> LLMRequest:
    bare = request(*said, files=(orders().file,), schema=PLANNER_SCHEMA)
    return msgspec.structs.replace(bare, tools=TOOLS)


def reminder(*lines: str) -> TextMessage:
    return TextMessage(content="\n".join(("<reminder>", "The board has open ones.", *lines, "</reminder>")))


def called(*said: Message) -> list[tuple[str, dict[str, Any]]]:
    """The calls that the rules answer with."""
    reply = reply_to(asked(*said))
    assert not isinstance(reply, str), reply
    assert all(call.call_id == "" for call in reply)
    return [(call.name, msgspec.json.decode(call.arguments)) for call in reply]


def answered(*said: Message) -> dict[str, str]:
    """The answer in words."""
    reply = reply_to(asked(*said))
    assert isinstance(reply, str)
    return msgspec.json.decode(reply, type=dict[str, dict[str, str]])["response"]


def took_place(*results: str, failed: bool = False) -> list[Message]:
    """Calls and what came of them."""
    calls = tuple(ToolCall(call_id=f"c-{result}", name="x", arguments="{}") for result in results)
    returns = tuple(
        ToolReturn(call_id=call.call_id, name="x", result=result, is_error=failed)
        for call, result in zip(calls, results, strict=True)
    )
    return [AssistantTextMessage(tool_calls=calls), ToolMessage(tool_reses=returns)]


MADE = took_place('{"result":"Task #7 created successfully: a"}', '{"result":"Task #8 created successfully: b"}')


def test_a_question_becomes_two_tasks_then_one_waits_for_the_other_then_it_is_handed_out() -> None:
    question = by_user("Total sales by region, and plot them")
    (first, work), (second, tell) = called(question)
    assert (first, second) == ("TaskCreate", "TaskCreate")
    assert work == {
        "subject": "Work out the answer from orders.csv by code and draw it",
        "description": "",
        "activeForm": "Working out the answer from orders.csv by code and draw it",
    }
    assert tell["subject"] == "Tell the user the result"
    assert called(question, *MADE) == [
        ("TaskUpdate", {"taskId": "8", "addBlockedBy": ["7"]}),
        ("TaskUpdate", {"taskId": "7", "status": "in_progress", "owner": "CodeInterpreter"}),
    ]
    assert answered(question, *MADE, *took_place("ok", "ok"))["send_to"] == "CodeInterpreter"


def test_in_chinese_the_tasks_are_in_chinese() -> None:
    (_, work), (_, tell) = called(by_user("各地区的总销售额"))
    assert work["subject"] == "用代码从 orders.csv 算出答案"
    assert tell["activeForm"] == "正在把结果告诉用户"


def test_with_the_result_all_is_completed_before_the_user_is_told() -> None:
    said = (
        by_user("How many orders?"),
        own(),
        SUCCESS,
        reminder(
            "#7 [in_progress] Work out the answer from orders.csv by code [owner: CodeInterpreter]",
            "#8 [pending] Tell the user the result [blocked by #7]",
            "#9 [pending] Somebody else's",
        ),
    )
    assert called(*said) == [
        ("TaskUpdate", {"taskId": "7", "status": "completed"}),
        ("TaskUpdate", {"taskId": "8", "status": "in_progress"}),
        ("TaskUpdate", {"taskId": "8", "status": "completed"}),
    ]
    answer = answered(*said, *took_place("ok", "ok", "ok"))
    assert (answer["send_to"], answer["message"]) == ("User", "Number of rows: 200")


def test_what_failed_leaves_no_task_behind() -> None:
    left = reminder("#7 [in_progress] Work out the answer from orders.csv by code", "#9 [pending] Somebody else's")
    assert called(by_user("How many orders?"), own(), FAILURE, left) == [
        ("TaskUpdate", {"taskId": "7", "status": "deleted"})
    ]


def test_what_an_earlier_round_left_open_is_taken_off_first() -> None:
    left = reminder("#7 [in_progress] 用代码从 orders.csv 算出答案")
    assert [name for name, _ in called(by_user("How many orders?"), left)] == ["TaskUpdate", "TaskCreate", "TaskCreate"]
    assert called(by_user("Who are you?"), left) == [("TaskUpdate", {"taskId": "7", "status": "deleted"})]


def test_a_board_that_fails_keeps_nobody_from_an_answer() -> None:
    question = by_user("How many orders?")
    assert answered(question, *took_place("no disk", "no disk", failed=True))["send_to"] == "CodeInterpreter"


def test_without_the_tools_nothing_is_called() -> None:
    bare = request(by_user("How many orders?"), files=(orders().file,), schema=PLANNER_SCHEMA)
    assert isinstance(reply_to(bare), str)


def test_a_reminder_is_no_question_and_a_users_own_is() -> None:
    assert answered(by_user("blub"), reminder("#9 [pending] total sales"))["message"].startswith("I did not understand")
    named = answered(by_user("<reminder>\nblub"))
    assert "blub" in named["message"]
