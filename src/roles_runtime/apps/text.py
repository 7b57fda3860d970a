"""Text from elsewhere, made fit for a terminal: models, files and users may write escape sequences into anything."""

from __future__ import annotations

import json
import re

from roles_runtime.posts.attachment import Json

MAX_SHOWN_CHARS = 20_000
"""How much of one text is shown."""

# Whole sequences are taken out (CSI; OSC, DCS and their kin where they end; two-character ones), so that no rest of
# them stays behind as text.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-Z\\^-~]"
)

# Control characters, what turns the direction of writing, what hides text, and halves of surrogate pairs.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_NEWLINES = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def clean(text: str) -> str:
    """The text without anything that a terminal would obey or that hides from the eye; lines and tabs stay."""
    return _UNSAFE.sub("", _NEWLINES.sub("\n", _SEQUENCE.sub("", text)))


def one_line(text: str, longest: int = 500) -> str:
    """The text, clean, in one line of at most ``longest`` characters."""
    joined = " ".join(clean(text[: 4 * longest]).split())
    return joined if len(joined) <= longest else f"{joined[: longest - 1]}…"


def shortened(text: str) -> str:
    """The text, clean, cut where it is very long; it says how much is left out."""
    left = len(text) - MAX_SHOWN_CHARS
    if left <= 0:
        return clean(text)
    return f"{clean(text[:MAX_SHOWN_CHARS])}\n… and {left:,} more characters."


def json_text(document: Json, *, ascii_only: bool = False) -> str:
    """A document as one line of JSON that is safe to show: what `clean` takes out is escaped."""
    # A text that no UTF-8 can hold is escaped with the rest, so that the line is always valid.
    line = json.dumps(document, ensure_ascii=ascii_only)
    for pattern in (_NEWLINES, _UNSAFE):
        line = pattern.sub(lambda found: json.dumps(found[0])[1:-1], line)
    return line
