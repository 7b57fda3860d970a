"""A question as items: every word covered by a sense, in the cheapest ways first; or the words nobody knows."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping

import msgspec

from roles_runtime.llm.providers.rules.lexicon import SCALES, Phrase, Sense, lexicon
from roles_runtime.llm.providers.rules.query import Filter, Group, Measure, Value
from roles_runtime.llm.providers.rules.tokens import Token

_LONGEST = 12
_MOST_READINGS = 400
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d|21\d\d")


class Item(msgspec.Struct, frozen=True):
    """One part of the question, read in one way; what `grammar` reduces.

    Attributes:
        letter: Its kind.
        arg, column, value: As in `Sense`.
        number: Of ``N``.
        date: Of ``Y``: (year,), (year, month) or (year, month, day).
        filter, measure, groups: What a reduced item stands for.
    """

    letter: str
    arg: str = ""
    column: str = ""
    value: str = ""
    number: Value = 0
    date: tuple[int, ...] = ()
    filter: Filter | None = None
    measure: tuple[Measure, ...] = ()
    groups: tuple[Group, ...] = ()


class Reading(msgspec.Struct, frozen=True):
    """All items of one way to read the question; cheap is plain."""

    cost: int
    items: tuple[Item, ...]


def readings(tokens: tuple[Token, ...], phrases: Mapping[Phrase, tuple[Sense, ...]]) -> Iterator[Reading]:
    """The ways to cover every token, the cheapest first, at most a few hundred."""
    spans = [_spans(tokens, start, phrases) for start in range(len(tokens))]
    rest = _cheapest_rest(spans, len(tokens))
    if rest[0] is None:
        return
    heap: list[tuple[int, int, int, int, tuple[Item, ...]]] = [(rest[0], 0, 0, 0, ())]
    made = yielded = 0
    while heap and yielded < _MOST_READINGS:
        _, _, cost, start, items = heapq.heappop(heap)
        if start == len(tokens):
            yielded += 1
            yield Reading(cost, items)
            continue
        for length, sense_cost, more in spans[start]:
            after = rest[start + length]
            if after is not None and made < _MOST_READINGS * 40:
                made += 1
                step = cost + sense_cost
                heapq.heappush(heap, (step + after, made, step, start + length, items + more))


def unknown_words(tokens: tuple[Token, ...], phrases: Mapping[Phrase, tuple[Sense, ...]]) -> tuple[str, ...]:
    """The words that no sense covers, in order, each once; runs of Chinese together."""
    covered = [False] * len(tokens)
    for start in range(len(tokens)):
        for length, _, _ in _spans(tokens, start, phrases):
            covered[start : start + length] = [True] * length
    words: list[str] = []
    open_run = False
    for token, known in zip(tokens, covered, strict=True):
        if not known and open_run and token.kind == "han":
            words[-1] += token.text
        elif not known:
            words.append(token.text)
        open_run = not known and token.kind == "han"
    return tuple(dict.fromkeys(words))


def _cheapest_rest(spans: list[list[tuple[int, int, tuple[Item, ...]]]], count: int) -> list[int | None]:
    rest: list[int | None] = [None] * count + [0]
    for start in reversed(range(count)):
        costs = [cost + after for length, cost, _ in spans[start] if (after := rest[start + length]) is not None]
        rest[start] = min(costs, default=None)
    return rest


def _spans(
    tokens: tuple[Token, ...], start: int, phrases: Mapping[Phrase, tuple[Sense, ...]]
) -> list[tuple[int, int, tuple[Item, ...]]]:
    """(length, cost, items) of every sense that begins here."""
    found = _literals(tokens, start)
    for length in range(1, min(_LONGEST, len(tokens) - start) + 1):
        piece = tokens[start : start + length]
        phrase = tuple(_key(token) for token in piece)
        own = phrases.get(phrase, ())
        named = any(sense.kind == "C" and sense.cost == 10 for sense in own)
        for sense in own:
            if _spelled(piece, sense):
                found.append((length, sense.cost, _items(sense)))
        for sense in lexicon().get(phrase, ()):
            # "orders" are things; only "order" is what one does to them
            plural = sense.kind == "Z" and piece[0].text.lower().endswith("s")
            if not plural and not (named and sense.kind == "P"):
                found.append((length, sense.cost, _items(sense)))
    return found


def _key(token: Token) -> str:
    return token.key.lower() if token.kind == "quoted" else token.key


def _spelled(piece: tuple[Token, ...], sense: Sense) -> bool:
    if sense.kind != "V":
        return True
    said = "".join(token.text for token in piece)
    if sense.surface:
        return said.replace(" ", "") == re.sub(r"[\s_]", "", sense.surface)
    # where a column is named "death_date", "deaths" are not the value "Death"
    return sense.arg != "singular" or len(said) <= len(re.sub(r"[\s_]", "", sense.value))


def _items(sense: Sense) -> tuple[Item, ...]:
    before, last = sense.kind[:-1], sense.kind[-1]
    if last == "N":
        return (Item("N", number=int(sense.arg)),)
    return (*(Item(letter) for letter in before), Item(last, sense.arg, sense.column, sense.value))


def _literals(tokens: tuple[Token, ...], start: int) -> list[tuple[int, int, tuple[Item, ...]]]:
    token = tokens[start]
    if token.kind == "number":
        return list(_numbers(tokens, start))
    if token.kind == "date":
        date = tuple(int(part) for part in re.split(r"[-/.]", token.text))
        valid = len(date) in (2, 3) and 1 <= date[1] <= 12 and all(1 <= day <= 31 for day in date[2:])
        return [(1, 10, (Item("Y", date=date),))] if valid else []
    if token.kind == "quoted":
        return [(1, 12, (Item("'", value=token.key),))]
    return []


def _numbers(tokens: tuple[Token, ...], start: int) -> Iterator[tuple[int, int, tuple[Item, ...]]]:
    text = tokens[start].text
    number = _number(text)
    yield 1, 10, (Item("N", number=number),)
    if _YEAR.fullmatch(text):
        yield 1, 10, (Item("Y", date=(int(text),)),)
    scale = SCALES.get(tokens[start + 1].key) if start + 1 < len(tokens) else None
    if scale:
        yield 2, 10, (Item("N", number=_whole(float(number) * scale)),)


def _number(text: str) -> int | float:
    plain = text.replace(",", "")
    if plain[-1] in "kK":
        return _whole(float(plain[:-1]) * 1000)
    return float(plain) if "." in plain else int(plain)


def _whole(number: float) -> int | float:
    return int(number) if number.is_integer() else number
