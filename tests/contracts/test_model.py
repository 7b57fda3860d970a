"""What every Model of ours keeps to, whoever makes it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

import pytest

from roles_runtime.llm.message import SystemMessage, TextMessage
from roles_runtime.llm.model import Chunk, Finish, Model, TextChunk
from roles_runtime.llm.providers.rules import RulesModel
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.reliable import ReliableModel
from roles_runtime.llm.request import LLMRequest

pytestmark = pytest.mark.anyio

MAKERS: dict[str, Callable[[], Model]] = {
    "rules": RulesModel,
    "reliable": lambda: ReliableModel([ScriptedModel(['{"response": {"message": "There are 42 rows."}}'])]),
    "scripted": lambda: ScriptedModel(['{"response": {"message": "There are 42 rows."}}']),
}

REQUEST = LLMRequest((SystemMessage(content="You answer."), TextMessage(content="How many rows?", creator="User")))


@pytest.fixture(params=sorted(MAKERS))
def model(request: pytest.FixtureRequest) -> Model:
    return MAKERS[request.param]()


async def chunks_of(model: Model, request: LLMRequest = REQUEST) -> list[Chunk]:
    async with aclosing(model.stream(request)) as stream:
        return [chunk async for chunk in stream]


def test_it_fulfils_the_contract_and_has_a_name(model: Model) -> None:
    assert isinstance(model, Model)
    assert model.name
    assert isinstance(model.writes_code, bool)


async def test_the_last_chunk_and_no_other_is_the_terminal_signal(model: Model) -> None:
    chunks = await chunks_of(model)
    assert [index for index, chunk in enumerate(chunks) if isinstance(chunk, Finish)] == [len(chunks) - 1]


async def test_it_writes_text_and_counts_one_call(model: Model) -> None:
    chunks = await chunks_of(model)
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk)).strip()
    last = chunks[-1]
    assert isinstance(last, Finish)
    assert last.usage.calls == 1


async def test_it_keeps_no_state_so_the_same_request_is_answered_the_same_way_in_any_session(model: Model) -> None:
    first, second = model.stream(REQUEST), model.stream(REQUEST)
    async with aclosing(first), aclosing(second):
        interleaved = [(await anext(first), await anext(second)) for _ in range(2)]
    assert all(one == other for one, other in interleaved)
    assert await chunks_of(model) == await chunks_of(model)


async def test_a_call_that_is_left_early_ends(model: Model) -> None:
    stream = model.stream(REQUEST)
    await anext(stream)
    await stream.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
