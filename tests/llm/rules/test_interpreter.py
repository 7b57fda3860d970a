from __future__ import annotations

from llm.rules.desk import interpreted, orders, own, query_of, task
from roles_runtime.llm.message import TextMessage
from roles_runtime.llm.providers.rules.codegen import write_code
from roles_runtime.llm.providers.rules.instruction import Instruction

TASK = task(Instruction("orders.csv", "total sales by region").to_text())


def revised(text: str) -> TextMessage:
    return TextMessage(content=text, creator="CodeInterpreter")


def code_for(question: str) -> str:
    query = query_of(question)
    assert query is not None
    return write_code(query, orders())


def test_a_task_becomes_the_code_that_answers_it() -> None:
    answer = interpreted(TASK)
    assert answer["reply_type"] == "python"
    assert answer["reply_content"] == code_for("total sales by region")


def test_a_follow_up_is_worked_out_from_the_questions_it_leans_on() -> None:
    instruction = Instruction("orders.csv", "Plot them by month", ("total sales by region",))
    answer = interpreted(task(instruction.to_text()))
    assert answer["reply_content"] == code_for("plot total sales by month")


def test_any_other_leader_may_ask_in_plain_words() -> None:
    assert interpreted(task("How many orders are there?"))["reply_content"] == code_for("how many orders are there")


def test_a_task_of_several_paragraphs_is_not_half_understood() -> None:
    assert interpreted(task("How many orders are there?\n\nBut leave out those of East."))["reply_type"] == "text"


def test_what_it_does_not_understand_it_says_in_words() -> None:
    answer = interpreted(task("Train a model on the orders"))
    assert answer["reply_type"] == "text"
    assert "“Train”" in answer["reply_content"]


def test_without_files_it_says_so() -> None:
    assert "--file" in interpreted(TASK, files=())["reply_content"]


def test_code_that_failed_is_never_written_again() -> None:
    answer = interpreted(TASK, own(), revised("The code failed: KeyError: 'sales'\nFind out why."))
    assert answer["reply_type"] == "text"
    assert "KeyError: 'sales'" in answer["reply_content"]


def test_a_lost_kernel_gets_the_same_code_once() -> None:
    lost = "The kernel is gone. Write the whole code again, with every import and every earlier step that it needs."
    assert interpreted(TASK, own(), revised(lost))["reply_type"] == "python"
    assert interpreted(TASK, own(), revised(lost), own(), revised(lost))["reply_type"] == "text"


def test_a_later_task_is_a_fresh_one() -> None:
    later = task(Instruction("orders.csv", "median quantity").to_text())
    assert interpreted(TASK, own(), revised("failed"), own(), later)["reply_content"] == code_for("median quantity")
