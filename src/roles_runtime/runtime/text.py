"""Text that can be written down: the rest is refused where it comes in, and mended in an error's line."""

from __future__ import annotations

from roles_runtime.errors import RolesError
from roles_runtime.llm.parts import mend_surrogates


def can_be_kept(text: object) -> bool:
    """Whether it is a plain str that UTF-8 can hold."""
    if type(text) is not str:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fault_of(text: object) -> str:
    """Why it can not be kept, as a clause: ``is of type bytes and no text``; empty where it can."""
    if can_be_kept(text):
        return ""
    kind = "None" if text is None else f"of type {type(text).__name__}"
    if not isinstance(text, str):
        return f"is {kind} and no text"
    if type(text) is not str:
        return f"is {kind} and no plain str; make it one with str(...)"
    return "holds half a surrogate pair, which no UTF-8 can hold"


def line_of(error: BaseException) -> str:
    """An error in one line, for the reader of a round. Whatever the error is, there is one."""
    name = type(error).__name__
    try:
        text = " ".join(str(error).split())
    except (Exception, SystemExit):  # it is anybody's, and may fail at telling what it is
        text = "(it can not say what went wrong)"
    if not isinstance(error, RolesError):
        text = f"{name}: {text}" if text else name
    return mend_surrogates(text)
