"""The lexicons of both languages as one table: phrase -> senses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from roles_runtime.llm.providers.rules.lexicon_en import ENGLISH, SCALES_EN
from roles_runtime.llm.providers.rules.lexicon_zh import CHINESE, SCALES_ZH
from roles_runtime.llm.providers.rules.names_en import CONCEPTS_EN, SYNONYMS_EN, VALUES_EN
from roles_runtime.llm.providers.rules.names_zh import CONCEPTS_ZH, ROWS_ZH, VALUES_ZH
from roles_runtime.llm.providers.rules.tokens import keys

Phrase: TypeAlias = tuple[str, ...]


class Sense(msgspec.Struct, frozen=True):
    """One meaning of a phrase.

    Attributes:
        kind: Letters of `grammar`, one an item; an argument belongs to the last.
        arg: What the letter needs besides: the operation, the direction, the unit.
        column: Where it names a column or a value of one.
        value: The value, as it stands in the file.
        cost: How far-fetched the reading is; 10 is plain.
        surface: The spelling without which it does not hold, or empty.
    """

    kind: str
    arg: str = ""
    column: str = ""
    value: str = ""
    cost: int = 10
    surface: str = ""


PhraseTable: TypeAlias = Mapping[Phrase, tuple[Sense, ...]]


def _split(phrases: str) -> Iterator[str]:
    return (phrase.strip() for phrase in phrases.split(" | ") if phrase.strip())


@cache
def lexicon() -> PhraseTable:
    """All phrases of both languages, by their keys."""
    table: dict[Phrase, list[Sense]] = {}
    for kind, arg, phrases in (*ENGLISH, *CHINESE):
        for phrase in _split(phrases):
            sense = Sense(kind.rstrip("?"), arg, cost=12 if kind.endswith("?") else 10)
            known = table.setdefault(keys(phrase), [])
            if sense not in known:
                known.append(sense)
    return MappingProxyType({phrase: tuple(_priced(senses)) for phrase, senses in table.items()})


def _priced(senses: list[Sense]) -> Iterator[Sense]:
    """A reading that says something comes before one that says nothing, "different" as a list before a group."""
    kinds = {sense.kind for sense in senses}
    for sense in senses:
        empty = sense.kind in ("_", "w", "o") and not kinds <= {"_", "w", "o"}
        listed = sense.kind == "B" and "D" in kinds
        yield msgspec.structs.replace(sense, cost=12) if empty or listed else sense


@cache
def concepts() -> Mapping[str, tuple[str, ...]]:
    """Each word that has others of the same meaning, with all of them."""
    table: dict[str, tuple[str, ...]] = {}
    for line in CONCEPTS_EN:
        group = tuple(key for word in line.split() for key in keys(word))
        for word in group:
            table[word] = tuple(dict.fromkeys((*table.get(word, ()), *group)))
    return MappingProxyType(table)


@cache
def synonyms() -> Mapping[Phrase, tuple[Phrase, ...]]:
    """Other phrases for the words of a column's name."""
    table: dict[Phrase, tuple[Phrase, ...]] = {}
    for line in SYNONYMS_EN:
        name, _, phrases = line.partition(" = ")
        table[keys(name)] = tuple(keys(phrase) for phrase in _split(phrases))
    return MappingProxyType(table)


@cache
def translations() -> tuple[tuple[Phrase, Phrase], ...]:
    """(English words, Chinese characters) of a column's name."""
    return tuple((keys(english), keys(phrase)) for english, chinese in CONCEPTS_ZH for phrase in _split(chinese))


@cache
def row_translations() -> Mapping[str, tuple[Phrase, ...]]:
    """Chinese phrases for a noun of a table's rows."""
    return MappingProxyType({english: tuple(map(keys, _split(chinese))) for english, chinese in ROWS_ZH})


@cache
def value_synonyms() -> Mapping[str, tuple[str, ...]]:
    """Other words for a value, by the value in lower case."""
    table: dict[str, tuple[str, ...]] = {}
    for value, phrases in (*VALUES_EN, *VALUES_ZH):
        table[value] = (*table.get(value, ()), *_split(phrases))
    return MappingProxyType(table)


SCALES: Mapping[str, float] = MappingProxyType({**SCALES_EN, **SCALES_ZH})
Language = Literal["en", "zh"]


def language(text: str) -> Language:
    """Chinese where at least two characters, and a fifth of the letters, are Chinese."""
    han = sum("\u3400" <= char <= "\u9fff" for char in text)
    letters = sum(char.isalpha() for char in text)
    return "zh" if han >= 2 and han * 5 >= letters else "en"
