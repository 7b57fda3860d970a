"""A question cut into tokens: words by their lemma, Chinese by the character, numbers, quoted text, signs."""

from __future__ import annotations

import re
import unicodedata

import msgspec

_TOKEN = re.compile(
    r"""
    (?P<quoted>"[^"\n]{1,200}"|“[^”\n]{1,200}”|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w))
  | (?P<date>(?<!\d)\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?![\d-]))
  | (?P<number>(?<![A-Za-z\d.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?
      (?:[kK](?![A-Za-z]))?(?![A-Za-z\d]|\.\d|,\d{3})|(?<![A-Za-z\d.])\d+(?=(?:mm|cm|km|kg|lbs?|mph|mpg|hp)\b))
  | (?P<han>[\u3400-\u9fff])
  | (?P<possessive>['’]s(?![A-Za-z]))
  | (?P<word>[^\W\d_\u3400-\u9fff]+(?:['’](?!s(?![A-Za-z]))[^\W\d_\u3400-\u9fff]+)*\d*|\d+[^\W\d_\u3400-\u9fff]+)
  | (?P<sign>>=|<=|==|!=|<>|\S)
    """,
    re.VERBOSE,
)
_PLURALS = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "criteria": "criterion",
    "maxima": "maximum", "minima": "minimum", "averages": "average", "indices": "index", "series": "series",
}  # fmt: skip
_KEPT = frozenset(
    {
        "is",
        "was",
        "has",
        "does",
        "this",
        "its",
        "us",
        "plus",
        "minus",
        "versus",
        "across",
        "always",
        "less",
        "unless",
        "species",
        "gas",
        "bus",
    }
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")


_JOINED = re.compile(r"(?<=\d)-(?=[A-Za-z])")
"""The hyphen of "4-cylinder"."""


class Token(msgspec.Struct, frozen=True):
    """One piece of a question.

    Attributes:
        text: As it was written.
        key: By which it is looked up: lower case, singular.
        kind: ``word``, ``han``, ``number``, ``date``, ``quoted`` or ``sign``.
    """

    text: str
    key: str
    kind: str


def lemma(word: str) -> str:
    """A word in lower case and in the singular, by rules that a lexicon and a question share."""
    low = word.lower().replace("’", "'")
    if low in _PLURALS:
        return _PLURALS[low]
    if len(low) < 4 or low in _KEPT or low.endswith(("ss", "us", "is")):
        return low
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    if low.endswith(("sses", "shes", "ches", "xes", "zes")):
        return low[:-2]
    return low[:-1] if low.endswith("s") else low


def tokenize(text: str) -> tuple[Token, ...]:
    """All tokens of a text, in order; nothing of it but white space and underscores is left out."""
    tokens = []
    plain = _JOINED.sub(" ", unicodedata.normalize("NFKC", text).replace("_", " "))
    for match in _TOKEN.finditer(plain):
        kind = match.lastgroup or "sign"
        tokens.append(_token(match.group(), kind))
    return tuple(tokens)


def _token(text: str, kind: str) -> Token:
    if kind == "possessive":
        return Token(text, "'s", "word")
    if kind == "quoted":
        return Token(text, text[1:-1], kind)
    if kind == "word":
        return Token(text, lemma(text), kind)
    return Token(text, text, kind)


def keys(phrase: str) -> tuple[str, ...]:
    """The keys of a phrase, as it is looked up."""
    return tuple(token.key.lower() if token.kind == "quoted" else token.key for token in tokenize(phrase))


def name_words(name: str) -> tuple[str, ...]:
    """The words of a column's or file's name: ``Miles_per_Gallon``, ``lifeExp`` and ``flipper length (mm)`` alike."""
    spaced = " ".join(_CAMEL.sub(" ", part) for part in re.split(r"[\s_\-./()\[\]{}:,;'\"]+", name) if part)
    return tuple(token.key for token in tokenize(spaced) if token.kind != "sign")
