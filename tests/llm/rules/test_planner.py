from __future__ import annotations

import msgspec
import pytest

from llm.rules.desk import by_user, by_worker, orders, own, planned
from roles_runtime.llm.message import TextMessage
from roles_runtime.llm.providers.rules.instruction import Instruction
from roles_runtime.posts.shared import ColumnProfile, FileProfile

RESULT = (
    "The following code was written:\n```python\n…\n```\nThe execution was successful.\nThe result is:\n"
    "region\nEast     3479.1432\nWest     1927.5000\nName: sales, dtype: float64\n"
    "The following files were made:\n- type: image/png; uri: total_sales_by_region.png; size: 21,000 bytes"
)


def cars() -> FileProfile:
    columns = (ColumnProfile("Name", "text", 0, 300), ColumnProfile("Horsepower", "number", 0, 90))
    return FileProfile("cars.csv", 1, "csv", "pd.read_csv('cars.csv')", 400, columns)


def test_a_question_is_handed_to_the_worker_with_the_users_own_words() -> None:
    answer = planned(by_user("Total sales by region, and plot them"))
    assert (answer["send_to"], answer["stop"]) == ("CodeInterpreter", "InProcess")
    assert Instruction.from_text(answer["message"]) == Instruction("orders.csv", "Total sales by region, and plot them")
    assert answer["current_plan_step"] in answer["plan"]
    assert "<narrow depend on 1>" in answer["init_plan"]


def test_a_result_becomes_a_sentence_with_the_figures_and_the_file() -> None:
    answer = planned(by_user("Total sales by region, and plot them"), own(), by_worker(RESULT))
    assert (answer["send_to"], answer["stop"]) == ("User", "Completed")
    assert answer["message"].startswith("Total sales by region:")
    assert "3479.14" in answer["message"]
    assert "dtype" not in answer["message"]
    assert "total_sales_by_region.png" in answer["message"]


@pytest.mark.parametrize(
    ("question", "value", "said"),
    [
        ("average unit price", "np.float64(9.87654)", "Average unit_price: 9.88"),
        ("How many orders?", "200", "Number of rows: 200"),
        ("平均单价", "9.87654", "unit_price的平均值：9.88。"),
        ("correlation between quantity and sales", "0.00123456", "The correlation of quantity and sales: 0.00123"),
        ("average sales of Tea", "nan", "There is no answer to this in the data: nothing fits."),
    ],
)
def test_a_number_is_said_in_the_users_language_and_rounded_without_losing_it(
    question: str, value: str, said: str
) -> None:
    told = by_worker(f"The following code was written:\n…\nThe execution was successful.\nThe result is:\n{value}")
    assert planned(by_user(question), own(), told)["message"] == said


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("…\nThe execution failed.\nThe error is:\nTraceback …\nKeyError: 'sales'", "KeyError: 'sales'"),
        ("Failed to generate code.", "Failed to generate code."),
        ("", "no reason was given"),
    ],
)
def test_a_workers_failure_is_one_clear_line(told: str, reason: str) -> None:
    answer = planned(by_user("total sales"), own(), by_worker(told))
    assert (answer["send_to"], answer["stop"]) == ("User", "TaskFailure")
    assert answer["message"] == f"It could not be worked out: {reason}"


def test_what_is_not_understood_is_named_with_what_can_be_asked_and_how_to_have_an_llm() -> None:
    answer = planned(by_user("total profit by region"))
    assert (answer["send_to"], answer["stop"]) == ("User", "Clarification")
    for part in ("“profit”", "order_id, date, region", "no LLM", "--model provider:name", "anthropic, deepseek"):
        assert part in answer["message"]


def test_it_refuses_in_chinese_what_is_asked_in_chinese() -> None:
    answer = planned(by_user("各地区销售额占比"))
    assert "“占比”" in answer["message"]
    assert "不是大语言模型" in answer["message"]


@pytest.mark.parametrize("question", ["Who are you?", "help", "你是谁？", "Are you an LLM?"])
def test_it_says_that_it_is_no_llm(question: str) -> None:
    answer = planned(by_user(question), files=())
    assert answer["stop"] == "Completed"
    assert "no LLM" in answer["message"] or "不是大语言模型" in answer["message"]


def test_without_a_file_it_says_how_to_give_one() -> None:
    answer = planned(by_user("total sales"), files=())
    assert answer["stop"] == "AdditionalInformation"
    assert "--file" in answer["message"]
    assert "/load" in answer["message"]


def test_a_file_that_is_no_table_is_named_with_its_problem() -> None:
    binary = FileProfile("a.bin", 3, problem="it is binary, not text")
    assert "a.bin (it is binary, not text)" in planned(by_user("total sales"), files=(binary,))["message"]


def test_of_several_files_the_one_whose_columns_are_named_is_taken() -> None:
    files = (orders().file, cars())
    assert "cars.csv" in planned(by_user("average horsepower"), files=files)["message"].partition("\n")[0]
    assert "orders.csv" in planned(by_user("total sales by region"), files=files)["message"].partition("\n")[0]


def test_of_several_files_that_fit_it_asks_which_and_the_named_or_new_one_decides() -> None:
    files = (orders().file, cars())
    assert planned(by_user("how many rows are there"), files=files)["message"].startswith(
        "Which file do you mean: orders.csv, cars.csv?"
    )
    named = planned(by_user("how many rows are in cars.csv"), files=files)
    added = planned(by_user("files added: cars.csv.\nhow many rows are there"), files=files)
    for answer in (named, added):
        assert "cars.csv" in answer["message"].partition("\n")[0]


def test_without_anybody_who_runs_code_it_says_so() -> None:
    from llm.rules.desk import request
    from roles_runtime.llm.providers.rules.model import reply_to

    asked = request(by_user("total sales"), files=(orders().file,), schema={"title": "Planner"})
    reply = reply_to(asked)
    assert isinstance(reply, str)
    response = msgspec.json.decode(reply, type=dict[str, dict[str, str]])["response"]
    assert (response["send_to"], response["stop"]) == ("User", "TaskFailure")


def test_a_refused_answer_is_not_given_again() -> None:
    correction = TextMessage(content="send_to is missing.", creator="Planner")
    answer = planned(by_user("total sales"), own(), correction)
    assert (answer["send_to"], answer["stop"]) == ("User", "TaskFailure")


def test_no_key_of_an_answer_is_empty() -> None:
    for said in ([by_user("total sales")], [by_user("nonsense")], [by_user("total sales"), own(), by_worker(RESULT)]):
        assert all(planned(*said).values())
