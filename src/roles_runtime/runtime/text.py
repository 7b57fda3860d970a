"""Text that can be written down: the rest is refused where it comes in, and mended in an error's line."""

from __future__ import annotations

from roles_runtime.errors import PostRefusedError, RolesError
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


def check_question(query: str, most_chars: int) -> None:
    """Checks that a question can be asked.

    Args:
        query: What the user asks; it may be anything in truth.
        most_chars: How many characters it may have.

    Raises:
        PostRefusedError: it is empty, too large, or no text that UTF-8 can hold.
    """
    if fault := fault_of(query):
        # It is not mended: what was asked would be another question then, and the journal would say otherwise.
        raise PostRefusedError(f"The question {fault}; ask in text.")
    if not query.strip():
        raise PostRefusedError("The question is empty; ask something.")
    if len(query) > most_chars:
        raise PostRefusedError(
            f"The question has {len(query)} characters, more than a Post may have; hand it over as a file."
        )


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
