"""What a table is made of, as words: the phrases by which a question may name its columns, values and rows."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from roles_runtime.llm.providers.rules.lexicon import Phrase, PhraseTable, Sense, concepts, row_translations
from roles_runtime.llm.providers.rules.names_en import ADDITIVE_EN
from roles_runtime.llm.providers.rules.names_zh import ADDITIVE_ZH
from roles_runtime.llm.providers.rules.phrases import column_phrases, ends_as_label, english_words, taken, values_of
from roles_runtime.llm.providers.rules.query import Filter
from roles_runtime.llm.providers.rules.tokens import keys, lemma, name_words
from roles_runtime.posts.shared import FileProfile

_STEM_NOISE = frozenset(
    {"data", "dataset", "table", "file", "sheet", "list", "csv", "record", "stat", "export", "sample", "test", "my"}
)
_EVENTS = frozenset({"death", "purchase", "transaction", "event", "visit", "incident", "accident", "order"})
_DEATHS = ("died", "die", "were killed", "was killed", "killed", "dead", "死亡", "死", "遇难")
_COSTS = (10, 11, 12, 14, 15)
_PERSONAL = frozenset({("first", "name"), ("last", "name"), ("employee",), ("student",), ("patient",), ("姓", "名")})
_HINTS: dict[str, frozenset[str]] = {
    "weight": frozenset({"weight", "mass"}),
    "length": frozenset({"length"}),
    "height": frozenset({"height"}),
    "age": frozenset({"age"}),
    "price": frozenset({"price", "cost"}),
    "power": frozenset({"horsepower", "power"}),
    "temperature": frozenset({"temperature", "temp"}),
    "wind": frozenset({"wind"}),
    "precipitation": frozenset({"precipitation", "rain", "rainfall"}),
    "population": frozenset({"population", "pop"}),
    "deep": frozenset({"depth"}),
}


class Schema:
    """One table's columns and the phrases that name them."""

    def __init__(self, file: FileProfile) -> None:
        self.file = file
        self.columns = {column.name: column for column in file.columns}
        self._words = {name: english_words(name) for name in self.columns}
        self.phrases: PhraseTable = self._phrases()

    # -- what a column is

    def numeric(self, name: str) -> bool:
        """Whether it can be added up and averaged."""
        return self.columns[name].dtype in ("integer", "number") and self._words[name][-1:] != ("id",)

    def dated(self, name: str) -> bool:
        """Whether it holds dates."""
        return self.columns[name].dtype == "date"

    def whole_years(self, name: str) -> bool:
        """Whether it holds years as whole numbers, or dates under the name of a year."""
        column = self.columns[name]
        return column.dtype in ("integer", "date") and "year" in self._words[name]

    def groupable(self, name: str) -> bool:
        """Whether rows can be told apart by it: no measured number."""
        column = self.columns[name]
        return column.dtype != "number" and (column.dtype != "integer" or 0 < column.distinct_count <= 50)

    def category(self, name: str) -> bool:
        """Whether its values are names of things."""
        return self.columns[name].dtype in ("text", "boolean", "mixed") or self._words[name][-1:] == ("id",)

    def additive(self, name: str) -> bool:
        """Whether "sales by region" plainly means their sum."""
        if not self.numeric(name):
            return False
        words = set(self._words[name])
        return name in ADDITIVE_ZH or bool(ADDITIVE_EN & words and "price" not in words)

    def repeats(self, name: str) -> bool:
        """Whether the same value stands in many rows."""
        return self.columns[name].distinct_count < self.file.rows * 0.7

    def unit_fits(self, name: str, unit: str) -> bool:
        """Whether a number with that unit can be compared to it."""
        if not unit:
            return True
        if unit == "age":
            return self.is_kind(name, "age")
        words = {"lb" if word == "lbs" else lemma(word) for word in name_words(name)}
        return unit in words or (unit == "hp" and "horsepower" in words)

    def time_column(self, part: str) -> str | None:
        """The one column that a date in the question can mean."""
        dates = [name for name in self.columns if self.dated(name)]
        if len(dates) == 1:
            return dates[0]
        years = [name for name in self.columns if self.whole_years(name)]
        return years[0] if not dates and len(years) == 1 and part == "year" else None

    def hinted(self, hint: str, direction: str) -> str | None:
        """The one column that a word such as "heaviest" speaks of."""
        if hint == "date":
            return self.time_column("year")
        found = [name for name, words in self._words.items() if self.numeric(name) and _HINTS[hint] & set(words)]
        if len(found) > 1 and hint == "temperature":
            found = [name for name in found if direction in self._words[name]]
        return found[0] if len(found) == 1 else None

    def is_kind(self, name: str, hint: str) -> bool:
        """Whether a column is of the kind that a word such as "longest" speaks of."""
        return self.dated(name) if hint == "date" else bool(_HINTS[hint] & set(self._words[name]))

    def per_unit(self, name: str) -> bool:
        """Whether it is the price of one piece, and so not what a whole row costs."""
        return "unit" in self._words[name]

    def one_year(self, name: str) -> bool:
        """Whether all its dates are of one year."""
        column = self.columns[name]
        return column.minimum[:4] == column.maximum[:4]

    def extreme_of(self, name: str) -> str:
        """``max`` or ``min`` where the column's own name says so, else empty."""
        words = set(self._words[name])
        return next((each for each in ("max", "min") if words & set(concepts()[each])), "")

    def labels(self) -> tuple[str, ...]:
        """The columns that tell a reader which row it is."""
        coded = tuple(name for name in self.columns if self.category(name) and self._one_a_row(name))
        named = tuple(name for name in self.columns if ends_as_label(name) or name in coded)
        if named:
            return named
        dates = tuple(name for name in self.columns if self.dated(name) and not self.repeats(name))
        return dates[:1] or tuple(name for name in self.columns if self.category(name))[:3]

    def labelled(self, name: str) -> bool:
        """Whether it is one of the columns that tell rows apart."""
        return name in self.labels() and (ends_as_label(name) or self._one_a_row(name))

    def _one_a_row(self, name: str) -> bool:
        return self.columns[name].distinct_count == self.file.rows

    # -- phrases

    def _phrases(self) -> PhraseTable:
        ranked: dict[Phrase, dict[Sense, int]] = {}
        for name in self.columns:
            for phrase, rank in column_phrases(name, self._words[name]):
                senses = ranked.setdefault(phrase, {})
                sense = Sense("C", column=name, cost=_COSTS[rank])
                if not any(other.column == name and other.cost <= sense.cost for other in senses):
                    senses[sense] = rank
        table: dict[Phrase, list[Sense]] = {}
        for phrase, senses in ranked.items():
            best = min(senses.values())
            if best >= 3 and taken(phrase):
                continue
            table[phrase] = [sense for sense, rank in senses.items() if rank == best]
        for phrase, cost in self._row_phrases():
            named = any(sense.kind == "C" and sense.cost <= 12 for sense in table.get(phrase, ()))
            if cost < 10 or not named:
                table.setdefault(phrase, []).append(Sense("R", "thing", cost=cost))
                if not phrase[0].isascii():
                    for counted in ("数量", "数", "总数"):
                        table.setdefault((*phrase, *counted), []).append(Sense("HR", "thing"))
        for phrase in self._file_phrases():
            table.setdefault(phrase, []).append(Sense("_"))
        for words in self._words.values():
            if len(words) == 2 and words[1] == "date":
                # "hired in 2020" says no more than the column hire_date does
                verb = words[0] + ("d" if words[0].endswith("e") else "ed")
                table.setdefault((verb,), []).append(Sense("w"))
        if "death" in self._row_nouns():
            # each row being a death, the verb adds nothing
            for verb in _DEATHS:
                table.setdefault(keys(verb), []).append(Sense("_"))
        for phrase, sense in self._value_phrases():
            table.setdefault(phrase, []).append(sense)
        return {phrase: tuple(senses) for phrase, senses in table.items()}

    def _row_phrases(self) -> Iterator[tuple[Phrase, int]]:
        for noun in sorted(set(self._row_nouns())):
            # "day" is also a part of a date; where each row is a day, that is what it means first
            cost = 9 if noun == self._row_span() else 10
            yield (noun,), cost
            yield from ((phrase, cost) for phrase in row_translations().get(noun, ()))

    def _file_phrases(self) -> Iterator[Phrase]:
        """How a question may say which file it is about; that adds nothing once the file is chosen."""
        base = self.file.name.rsplit("/", 1)[-1]
        yield keys(base)
        stem = keys(base.rsplit(".", 1)[0])
        for after in ("dataset", "data", "data set", "table", "file", "数据", "表", "数据集", "文件"):
            yield (*stem, *keys(after))
        yield ("in", *stem)
        yield ("in", "the", *stem)

    def _row_nouns(self) -> Iterator[str]:
        for words in self._words.values():
            if len(words) == 2 and words[1] in ("id", "no", "number"):
                yield words[0]
            if len(words) == 2 and words[1] == "date" and words[0] in _EVENTS:
                yield words[0]
        stem = [word for word in name_words(self.file.name.rsplit("/", 1)[-1].rsplit(".", 1)[0]) if word.isalpha()]
        stem = [word for word in stem if word not in _STEM_NOISE]
        if stem and self._rows_are_things():
            yield stem[-1]
        span = self._row_span()
        if span:
            yield span

    def _rows_are_things(self) -> bool:
        unique = any(self.category(name) and not self.repeats(name) for name in self.columns if ends_as_label(name))
        coded = any(self.category(name) and self._one_a_row(name) for name in self.columns)
        every = {word for words in self._words.values() for word in words}
        alive = bool(every & {"sex", "gender"}) and not self.rows_are_people() and bool(every & {"mass", "weight"})
        return (unique or coded or alive) and not self.rows_are_people()

    def rows_are_people(self) -> bool:
        """Whether a row is a person."""
        return any(words in _PERSONAL or words[:1] in _PERSONAL for words in self._words.values())

    def _row_span(self) -> str:
        """``day``, ``month`` or ``year`` where each row is one, without a gap to speak of."""
        dates = [column for name, column in self.columns.items() if self.dated(name)]
        if len(dates) != 1 or dates[0].distinct_count != self.file.rows or self.file.rows < 2:
            return ""
        try:
            first, last = (datetime.date.fromisoformat(each[:10]) for each in (dates[0].minimum, dates[0].maximum))
        except ValueError:
            return ""
        step = (last - first).days / (self.file.rows - 1)
        return next((span for span, days in (("day", 1.1), ("month", 31.1)) if days * 0.85 < step <= days), "")

    def one_row(self, filters: Iterable[Filter]) -> bool:
        """Whether dates pick out a single row, each row being a day or a month of its own."""
        size = {"day": 10, "month": 7}.get(self._row_span(), 0)
        return any(
            each.part == "date" and each.op == "between" and len({str(value)[:size] for value in each.values}) == 1
            for each in filters
            if size
        )

    def row_span_is(self, span: str) -> bool:
        """Whether each row is one day, month or year."""
        return self._row_span() == span

    def _value_phrases(self) -> Iterator[tuple[Phrase, Sense]]:
        for name, column in self.columns.items():
            if column.dtype in ("text", "boolean", "mixed"):
                yield from values_of(name, column, {word for words in self._words.values() for word in words})
