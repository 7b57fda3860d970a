"""Which language the tools speak."""

from __future__ import annotations

from contextvars import ContextVar

from roles_runtime.tools.tasks.words import Language, Words
from roles_runtime.tools.tasks.words_en import ENGLISH
from roles_runtime.tools.tasks.words_zh import CHINESE

_WORDS: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}

LANGUAGES = tuple(_WORDS)
"""All there are."""

_language: ContextVar[Language] = ContextVar("roles_runtime_task_language", default="en")


def set_language(language: Language) -> None:
    """Sets the language of what is put together after this, in this context; what is there keeps its own.

    Raises:
        ValueError: there is no such language.
    """
    _language.set(known(language))


def known(language: str | None = None) -> Language:
    """The language of that name; the default where none is given.

    Raises:
        ValueError: there is no such language.
    """
    wanted = _language.get() if language is None else language
    for each in LANGUAGES:
        if each == wanted:
            return each
    raise ValueError(f"invalid language: {language!r}; it is one of {', '.join(_WORDS)}")


def words(language: Language) -> Words:
    """What a model is told in that language."""
    return _WORDS[language]
