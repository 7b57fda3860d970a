"""The words of the roles by language."""

from __future__ import annotations

from roles_runtime.roles.words import RoleWords
from roles_runtime.roles.words_en import ENGLISH
from roles_runtime.roles.words_zh import CHINESE
from roles_runtime.tools.tasks.words import Language

_WORDS: dict[Language, RoleWords] = {"en": ENGLISH, "zh": CHINESE}


def words(language: Language) -> RoleWords:
    """What the roles of a team of that language tell their models."""
    return _WORDS[language]
