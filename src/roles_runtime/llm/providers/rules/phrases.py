"""The phrases by which a question may name a column or a value of one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from roles_runtime.llm.providers.rules.lexicon import (
    Phrase,
    Sense,
    concepts,
    lexicon,
    synonyms,
    translations,
    value_synonyms,
)
from roles_runtime.llm.providers.rules.tokens import keys, name_words, tokenize
from roles_runtime.posts.shared import ColumnProfile

_UNITS = frozenset((
    "mm", "cm", "m", "km", "g", "kg", "lb", "lbs", "in", "inch", "ft", "usd", "eur", "dollar", "c", "f", "mph", "kmh",
    "pct", "ms", "sec",
))  # fmt: skip
_HEADS = frozenset((
    "length", "depth", "width", "height", "mass", "weight", "rate", "size", "providing", "producing", "service", "name",
))  # fmt: skip
_MEANINGFUL = frozenset({"change", "growth", "rate", "ratio", "share", "difference", "percent", "pct", "percentage"})
_LABELS = ("name", "title", "label", "model", "名称", "姓名", "名字")


def values_of(name: str, column: ColumnProfile, named: set[str]) -> Iterator[tuple[Phrase, Sense]]:
    """The phrases for the values of a column, in any case of letters unless that would be another word."""
    exact: set[Phrase] = set()
    for value in column.distinct:
        phrase = keys(value)
        if not phrase or len(phrase) > 8 or all(not key[:1].isalpha() for key in phrase):
            continue
        guarded = (taken(phrase) or (len(phrase) == 1 and len(phrase[0]) == 1)) and value.isascii()
        if guarded and value == value.lower():
            continue
        exact.add(phrase)
        arg = "singular" if named & set(phrase) else ""
        surface = value if guarded else ""
        yield phrase, Sense("V", arg, name, value, 9 if guarded else 10, surface)
    for value in column.distinct:
        for other in value_synonyms().get(value.lower(), ()):
            phrase = keys(other)
            if phrase not in exact and not taken(phrase):
                yield phrase, Sense("V", column=name, value=value, cost=11, surface="")


def taken(phrase: Phrase) -> bool:
    """Whether the lexicon has a meaning for it."""
    return phrase in lexicon()


def ends_as_label(name: str) -> bool:
    """Whether a column is named as one that tells rows apart."""
    words = name_words(name)
    return words[-1:] != () and (words[-1] in _LABELS or name in _LABELS)


def english_words(name: str) -> Phrase:
    """A column's words; for a Chinese name, those of its translation."""
    words = name_words(name)
    for english, chinese in translations():
        if chinese == words:
            return english
    return words


def column_phrases(name: str, english: Phrase) -> Iterator[tuple[Phrase, int]]:
    """(phrase, rank): 0 the name itself, 1 the same in other words, 2 a synonym, 3 its end, 4 its beginning."""
    words = name_words(name)
    if not words:
        return
    yield words, 0
    yield keys(name), 0
    yield tuple(token.key for token in tokenize(name)), 0
    if len(words) > 1 and all(word.isascii() for word in words):
        yield ("".join(words),), 0
    base = _without_unit(english)
    yield from ((phrase, 1) for phrase in _variants(base))
    for key, phrases in synonyms().items():
        if key in (base, english):
            yield from ((phrase, 2) for phrase in phrases)
    yield from _translated(base)
    if base[-1:] != ("id",):
        yield from ((phrase, rank) for part, rank in _parts(base) for phrase in _variants(part))
    if not words[0].isascii():
        yield from ((words[start:], 3) for start in range(1, len(words) - 1))


def _translated(base: Phrase) -> Iterator[tuple[Phrase, int]]:
    for english, chinese in translations():
        if sorted(english) == sorted(_plain(base)):
            yield chinese, 1
        elif len(base) > len(english) and base[-len(english) :] == english:
            yield chinese, 3


def _plain(words: Phrase) -> Phrase:
    return tuple(
        {"temp": "temperature", "maximum": "max", "minimum": "min", "qty": "quantity"}.get(each, each) for each in words
    )


def _without_unit(words: Phrase) -> Phrase:
    base = words
    while len(base) > 1 and base[-1] in _UNITS:
        base = base[:-1]
    return base


def _parts(base: Phrase) -> Iterator[tuple[Phrase, int]]:
    for start in range(1, len(base)):
        if base[start] not in _MEANINGFUL:
            yield base[start:], 3
    if len(base) > 1 and base[-1] in _HEADS:
        for end in range(1, len(base)):
            yield base[:end], 4


def _variants(words: Phrase) -> Iterable[Phrase]:
    """The words, each by what means the same, and turned round: "max temp", "maximum temperature"."""
    choices = [concepts().get(word, (word,)) for word in words]
    spelled = itertools.islice(itertools.product(*choices), 64)
    turns = [tuple(each) for each in spelled]
    if len(words) in (2, 3):
        turns += [each[-1:] + each[:-1] for each in turns] + [each[1:] + each[:1] for each in turns]
    return dict.fromkeys(turns)
