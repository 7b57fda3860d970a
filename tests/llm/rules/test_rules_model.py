from __future__ import annotations

from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm.rules.desk import (
    INTERPRETER_SCHEMA,
    PLANNER_SCHEMA,
    UNDERSTOOD_WORDS,
    by_user,
    by_worker,
    interpreted,
    orders,
    own,
    planned,
    request,
    task,
)
from roles_runtime.errors import ModelError
from roles_runtime.llm.model import Finish, TextChunk
from roles_runtime.llm.providers.rules import RulesModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.llm.resolving import resolve_model
from roles_runtime.posts.draft import Draft
from roles_runtime.posts.translator import PostTranslator

pytestmark = pytest.mark.anyio

WORDS = st.lists(st.sampled_from(UNDERSTOOD_WORDS), max_size=12).map(" ".join)
TEXTS = st.one_of(st.text(), WORDS, st.tuples(WORDS, st.text(), WORDS).map(" ".join))


async def whole(asked: LLMRequest) -> tuple[str, Finish]:
    async with aclosing(RulesModel().stream(asked)) as stream:
        chunks = [chunk async for chunk in stream]
    last = chunks[-1]
    assert isinstance(last, Finish)
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk)), last


def test_it_is_found_by_its_name_and_declares_that_its_code_is_no_llms() -> None:
    for name in ("rules", "rules:", "rules:rules-v1"):
        model = resolve_model(name)
        assert (model.name, model.writes_code) == ("rules:rules-v1", False)


def test_there_is_no_other_version() -> None:
    with pytest.raises(ModelError, match="rules-v1"):
        RulesModel.from_name("gpt-5")


async def test_it_spends_no_tokens() -> None:
    _, finish = await whole(request(by_user("total sales"), files=(orders().file,), schema=PLANNER_SCHEMA))
    assert (finish.reason, finish.usage.input_tokens, finish.usage.output_tokens) == ("stop", 0, 0)


async def test_the_same_request_gets_the_same_answer() -> None:
    asked = request(by_user("total sales by region"), files=(orders().file,), schema=PLANNER_SCHEMA)
    assert await whole(asked) == await whole(asked)


async def test_any_other_part_is_told_in_plain_words_that_it_is_no_llm() -> None:
    text, _ = await whole(request(by_user("Review this SQL.")))
    assert text.startswith("I am no LLM")


@pytest.mark.parametrize("schema", [PLANNER_SCHEMA, INTERPRETER_SCHEMA], ids=["planner", "interpreter"])
async def test_its_answer_goes_through_the_translator_whole(schema: dict[str, object]) -> None:
    text, _ = await whole(request(by_user("total sales by region"), files=(orders().file,), schema=schema))
    draft = Draft("round-1", "Planner", lambda event: None)
    await PostTranslator.raw_text_to_post([text], draft)
    assert draft.complete
    assert draft.problem is None
    assert PostTranslator.post_to_raw_text(draft.post).startswith('{"response"')


@settings(deadline=None)
@given(TEXTS)
def test_whatever_a_user_says_the_planner_answers_by_its_schema(text: str) -> None:
    answer = planned(by_user(text))
    assert list(answer) == ["plan_reasoning", "init_plan", "plan", "current_plan_step", "stop", "send_to", "message"]
    assert answer["send_to"] in ("User", "CodeInterpreter")
    assert (answer["stop"] == "InProcess") == (answer["send_to"] == "CodeInterpreter")
    assert all(answer.values())


@settings(deadline=None)
@given(TEXTS)
def test_whatever_the_task_the_interpreter_answers_by_its_schema_and_its_code_compiles(text: str) -> None:
    answer = interpreted(task(text))
    assert list(answer) == ["thought", "reply_type", "reply_content"]
    assert all(answer.values())
    if answer["reply_type"] == "python":
        compile(answer["reply_content"], "cell", "exec")


@settings(deadline=None)
@given(TEXTS)
def test_what_the_planner_hands_on_the_interpreter_understands(text: str) -> None:
    handed = planned(by_user(text))
    if handed["send_to"] == "CodeInterpreter":
        assert interpreted(task(handed["message"]))["reply_type"] == "python"


@settings(deadline=None)
@given(st.text())
def test_whatever_a_worker_says_the_planner_ends_the_round(text: str) -> None:
    answer = planned(by_user("total sales"), own(), by_worker(text))
    assert answer["send_to"] == "User"
    assert answer["stop"] in ("Completed", "TaskFailure")


@settings(deadline=None)
@given(TEXTS)
def test_a_question_answered_has_no_word_that_the_model_does_not_know(text: str) -> None:
    assert planned(by_user(f"{text} flurbish"))["stop"] != "InProcess"
