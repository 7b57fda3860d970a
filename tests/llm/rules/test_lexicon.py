from __future__ import annotations

import pytest

from roles_runtime.llm.providers.rules.lexicon import language, lexicon
from roles_runtime.llm.providers.rules.lexicon_en import ENGLISH
from roles_runtime.llm.providers.rules.lexicon_zh import CHINESE
from roles_runtime.llm.providers.rules.tokens import keys

HARMLESS = {"_", "w", "o"}
CHANGES_THE_MEANING = (
    "not", "no", "never", "none", "nor", "neither", "except", "excluding", "exclude", "without", "unless", "but",
    "other", "else", "non", "minus", "plus", "times", "divided", "percent", "percentage", "%", "ratio", "share",
    "proportion", "rate", "growth", "change", "increase", "decrease", "difference", "differ", "gap", "versus",
    "second", "third", "fourth", "2nd", "3rd", "nth", "cumulative", "running", "rolling", "moving", "weighted",
    "normalized", "adjusted", "per", "capita", "predict", "forecast", "future", "next", "previous", "last", "past",
    "current", "today", "yesterday", "why", "because", "cause", "should", "would", "will", "or", "either", "both",
    "only", "if", "until", "almost", "nearly", "approximately", "about", "roughly", "estimate", "outlier",
    "variance", "deviation", "better", "worse", "best", "worst", "more", "less", "same", "different", "similar",
    "each", "every", "half", "double", "twice", "random", "不", "没", "没有", "非", "除", "除了", "除外", "以外",
    "不是", "不含", "占比", "比例", "百分比", "百分之", "增长", "增加", "减少", "差", "差值", "第二", "累计",
    "累积", "加权", "预测", "为什么", "原因", "或", "如果", "下个月", "上个月", "大约", "左右",
)  # fmt: skip


def senses() -> list[tuple[str, str]]:
    return [(kind, phrase) for kind, _, phrases in (*ENGLISH, *CHINESE) for phrase in phrases.split(" | ")]


@pytest.mark.parametrize("word", CHANGES_THE_MEANING)
def test_a_word_that_changes_a_meaning_is_never_harmless(word: str) -> None:
    assert not HARMLESS & {sense.kind for sense in lexicon().get(keys(word), ())}


def test_every_kind_is_one_that_the_rules_know() -> None:
    known = set("OHUDSMTBp@K~FtZzGAEXIQJjhRP#uN&|xcow_")
    assert {letter for kind, _ in senses() for letter in kind.rstrip("?")} <= known


def test_no_phrase_is_listed_twice_with_the_same_meaning() -> None:
    listed = [(kind, arg, phrase) for kind, arg, phrases in (*ENGLISH, *CHINESE) for phrase in phrases.split(" | ")]
    assert len(listed) == len(set(listed))


def test_every_phrase_can_be_looked_up_and_is_short_enough_to_be_found() -> None:
    for _, phrase in senses():
        assert keys(phrase) in lexicon()
        assert len(keys(phrase)) <= 12, phrase


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("total sales", "en"),
        ("总销售额", "zh"),
        ("各 Origin 的平均 Horsepower", "zh"),
        ("", "en"),
        ("sales of 茶", "en"),
    ],
)
def test_the_language_is_that_of_the_question(text: str, spoken: str) -> None:
    assert language(text) == spoken
