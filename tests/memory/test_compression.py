from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from roles_runtime.errors import ConfigError
from roles_runtime.memory.compression import Compression, RoundCompressor, Summary
from roles_runtime.posts.conversation import Round
from roles_runtime.posts.post import Post

pytestmark = pytest.mark.anyio

_TEMPLATE = "So far: {PREVIOUS_SUMMARY}\n"


class _Summariser:
    """Answers S1, S2, … and keeps the prompts."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    async def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return f"S{len(self.prompts)}"


def _rounds(count: int) -> list[Round]:
    return [
        Round(f"r{number}", f"query {number}", post_list=[Post.create(f"m{number}", "User", "Planner")])
        for number in range(1, count + 1)
    ]


def _ids(compression: Compression) -> list[str]:
    return [each.id for each in compression.rounds]


async def test_rounds_are_summarised_as_soon_as_enough_are_there() -> None:  # TW-44
    compressor, summarise, summary = RoundCompressor(2, 3, _TEMPLATE), _Summariser(), Summary()
    seen = {}
    for count in range(1, 10):
        result = await compressor.compress(_rounds(count), summary, summarise)
        summary = result.summary
        seen[count] = (summary.text, _ids(result), len(summarise.prompts))
    assert seen == {
        1: ("None", ["r1"], 0),
        2: ("None", ["r1", "r2"], 0),
        3: ("None", ["r1", "r2", "r3"], 0),
        4: ("None", ["r1", "r2", "r3", "r4"], 0),
        5: ("S1", ["r3", "r4", "r5"], 1),
        6: ("S1", ["r3", "r4", "r5", "r6"], 1),
        7: ("S2", ["r5", "r6", "r7"], 2),
        8: ("S2", ["r5", "r6", "r7", "r8"], 2),
        9: ("S3", ["r7", "r8", "r9"], 3),
    }
    assert summary.round_ids == ("r1", "r2", "r3", "r4", "r5", "r6")
    assert summarise.prompts[1] == (
        "So far: S1\n\nQuery: query 3\nUser -> Planner: m3\nQuery: query 4\nUser -> Planner: m4"
    )


async def test_all_but_those_retained_are_summarised_at_once() -> None:  # TW-46
    result = await RoundCompressor(2, 3).compress(_rounds(9), Summary(), _Summariser())
    assert result.summary == Summary("S1", ("r1", "r2", "r3", "r4", "r5", "r6"))
    assert _ids(result) == ["r7", "r8", "r9"]


async def test_one_and_one_keeps_the_last_round_only() -> None:  # TW-47
    compressor, summarise = RoundCompressor(1, 1), _Summariser()
    second = await compressor.compress(_rounds(2), Summary(), summarise)
    assert (second.summary.text, _ids(second)) == ("S1", ["r2"])
    third = await compressor.compress(_rounds(3), second.summary, summarise)
    assert (third.summary.text, _ids(third)) == ("S2", ["r3"])


async def test_a_broken_formatter_loses_nothing() -> None:  # TW-43
    def broken(rounds: Sequence[Round]) -> str:
        raise KeyError("no such field")

    for count in (1, 2, 3, 4):
        result = await RoundCompressor(2, 2).compress(_rounds(count), Summary(), _Summariser(), broken)
        assert result.summary == Summary()
        assert _ids(result) == [f"r{number}" for number in range(1, count + 1)]
        assert result.problem == ("KeyError: 'no such field'" if count == 4 else "")


@pytest.mark.parametrize("answer", ["", " \n"])
async def test_an_empty_summary_loses_nothing_and_is_tried_again(answer: str) -> None:
    async def empty(prompt: str) -> str:
        return answer

    compressor, before = RoundCompressor(2, 3), Summary("S0", ("r1", "r2"))
    failed = await compressor.compress(_rounds(7), before, empty)
    assert (failed.summary, _ids(failed)) == (before, ["r3", "r4", "r5", "r6", "r7"])
    assert failed.problem == "the summary came back empty"
    again = await compressor.compress(_rounds(8), failed.summary, _Summariser())
    assert again.summary == Summary("S1", ("r1", "r2", "r3", "r4", "r5"))
    assert _ids(again) == ["r6", "r7", "r8"]


async def test_a_failing_model_loses_nothing() -> None:
    async def failing(prompt: str) -> str:
        raise ConnectionError("no route")

    result = await RoundCompressor(1, 1).compress(_rounds(4), Summary(), failing)
    assert (result.summary, _ids(result)) == (Summary(), ["r1", "r2", "r3", "r4"])
    assert result.problem == "ConnectionError: no route"


async def test_a_cancellation_goes_through() -> None:
    async def cancelled(prompt: str) -> str:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await RoundCompressor(1, 1).compress(_rounds(4), Summary(), cancelled)


async def test_every_round_is_in_the_summary_or_kept() -> None:
    for compress in (1, 2, 3):
        for retain in (1, 2, 3):
            compressor, summary, summarise = RoundCompressor(compress, retain), Summary(), _Summariser()
            for count in range(12):
                result = await compressor.compress(_rounds(count), summary, summarise)
                summary = result.summary
                assert [*summary.round_ids, *_ids(result)] == [f"r{number}" for number in range(1, count + 1)]


def test_a_template_without_the_placeholder_is_refused() -> None:  # TW-49
    with pytest.raises(ConfigError, match=r"template: it must contain \{PREVIOUS_SUMMARY\}"):
        RoundCompressor(template="Summarise this.")


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0), (-1, 3)])
def test_numbers_below_one_are_refused(numbers: tuple[int, int]) -> None:
    with pytest.raises(ConfigError, match="must be 1 or more"):
        RoundCompressor(*numbers)


async def test_braces_in_the_conversation_and_the_summary_do_no_harm() -> None:
    rounds = _rounds(2)
    rounds[0].user_query = "what is {PREVIOUS_SUMMARY} and {x}"
    summarise = _Summariser()
    await RoundCompressor(1, 1, _TEMPLATE).compress(rounds, Summary("{y}"), summarise)
    assert summarise.prompts[0].startswith("So far: {y}\n\nQuery: what is {PREVIOUS_SUMMARY} and {x}")
