"""Which file a question is about, and what it asks of it."""

from __future__ import annotations

import msgspec

from roles_runtime.llm.providers.rules.follow import leans, understand_in_turn
from roles_runtime.llm.providers.rules.grammar import NotUnderstood, Understood, understand
from roles_runtime.llm.providers.rules.query import Query
from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.llm.providers.rules.tokens import keys
from roles_runtime.posts.shared import FileProfile

_MOST_BEFORE = 8


class Chosen(msgspec.Struct, frozen=True):
    """A question with its file.

    Attributes:
        schema: Of the file.
        query: What is asked.
        before: The questions that it leans on, the oldest first.
    """

    schema: Schema
    query: Query
    before: tuple[str, ...] = ()


class Unclear(msgspec.Struct, frozen=True):
    """Why nothing was chosen.

    Attributes:
        words: That mean nothing in any of the files.
        files: That the question could be about, where there are several.
        meanings: How many meanings it could have, where there are several.
    """

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    meanings: int = 0


def choose(
    question: str, before: tuple[str, ...], tables: tuple[FileProfile, ...], added: tuple[str, ...]
) -> Chosen | Unclear:
    """The file that a question is about, with what it asks.

    Args:
        question: On one line.
        before: What was asked before it, the oldest first.
        tables: The files there are.
        added: Names of those that came with the question.
    """
    candidates = _named(question, tables) or tables
    results = [(file, *_in_file(question, before[-_MOST_BEFORE:], file)) for file in candidates]
    good = [(file, result, used) for file, result, used in results if isinstance(result, Understood)]
    if len(good) > 1:
        fresh = [each for each in good if each[0].name in added]
        good = fresh if len(fresh) == 1 else good
    if len(good) == 1:
        file, result, used = good[0]
        return Chosen(Schema(file), result.query, used)
    if good:
        return Unclear(files=tuple(file.name for file, _, _ in good))
    failures = [result for _, result, _ in results if isinstance(result, NotUnderstood)]
    best = min(failures, key=lambda failure: len(failure.words), default=NotUnderstood())
    return Unclear(words=best.words, meanings=best.meanings)


def _named(question: str, tables: tuple[FileProfile, ...]) -> tuple[FileProfile, ...]:
    said = " " + " ".join(keys(question)) + " "
    full = tuple(file for file in tables if f" {' '.join(keys(file.name))} " in said)
    return full or tuple(file for file in tables if f" {' '.join(keys(file.name.rsplit('.', 1)[0]))} " in said)


def _in_file(
    question: str, before: tuple[str, ...], file: FileProfile
) -> tuple[Understood | NotUnderstood, tuple[str, ...]]:
    """What the question asks of one file, and the questions that it leans on."""
    schema = Schema(file)
    alone = understand(question, schema)
    if isinstance(alone, Understood) and not leans(question):
        return alone, ()
    for start in range(len(before) - 1, -1, -1):
        chain = before[start:]
        if isinstance(understand(chain[0], schema), Understood) and not leans(chain[0]):
            followed = understand_in_turn((*chain, question), schema)
            return (followed, chain) if isinstance(followed, Understood) else (alone, ())
    return alone, ()
