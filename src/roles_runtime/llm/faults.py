"""A provider's error as one of ours: which class it is, in one line, and how long it asks to wait."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import groupby
from urllib.parse import quote

from pydantic import SecretStr

from roles_runtime.errors import (
    ContextWindowError,
    ModelError,
    ModelKeyError,
    ModelQuotaError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelUnavailableError,
)
from roles_runtime.llm.connection import MAX_ERROR_BYTES
from roles_runtime.llm.parts import mend_surrogates
from roles_runtime.llm.retry_after import retry_after_s

MAX_WORDS = 600
"""How much of what a provider says goes into a line."""

MAX_CODE = 100
"""And how much of its code."""

MIN_KEY_CHARS = 6
"""A shorter key is a word, of a server that wants any; to take it out would only spoil what is said."""

PIECE_CHARS = 8
"""How much of a key in a row is still a piece of it; fewer characters tell nothing."""

_WINDOW = re.compile(
    r"context.{0,12}(length|window|size)|maximum.{0,20}tokens|too many tokens|prompt is too long|"
    r"exceed_context|token count.{0,30}exceeds",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|billing|credit balance|quota.{0,30}exhaust|余额不足|欠费|AccountOverdue", re.IGNORECASE
)
_KEY_WORDS = re.compile(r"api[ _-]?key.{0,30}(not valid|invalid|expired|incorrect)", re.IGNORECASE)
_SECRETS = re.compile(r"\b(?:sk|rk|pk|ak)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|\bBearer\s+\S+")


def fault_of(name: str, status: int, headers: Mapping[str, str], body: bytes, said: tuple[str, str]) -> ModelError:
    """The error that stands for an answer with an HTTP status.

    Args:
        name: ``provider:model``.
        status: The HTTP status.
        headers: Names in lower case.
        body: Its body.
        said: Its code or type, and its words, as `Adapter.read_error` has them.
    """
    code, words = said
    wait = retry_after_s(headers, body, datetime.now(UTC))
    return fault_by_words(name, status, code, words, retry_after_s=wait)


def fault_by_words(name: str, status: int, code: str, words: str, *, retry_after_s: float | None = None) -> ModelError:
    """The error that stands for a status (0 where there is none, as inside a stream), a code and words."""
    code, told = one_line(code, MAX_CODE), one_line(words) or f"HTTP {status}"
    about = f"{code}: {told}" if code and code not in told else told
    line = f"HTTP {status}: {about}" if status else about
    both = f"{code} {words[:MAX_ERROR_BYTES]}"
    if status in (401, 403) or _KEY_WORDS.search(both) or code in ("authentication_error", "invalid_api_key"):
        return ModelKeyError(name, f"the provider refused the key: {line}. Check the key and what it may do.")
    if status in (400, 413, 422) and _WINDOW.search(both):
        return ContextWindowError(name, f"the prompt is longer than its window: {line}")
    if status in (402, 429) and _QUOTA.search(both):
        return ModelQuotaError(name, f"its quota is used up: {line}")
    if status == 429 or code in ("rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"):
        return ModelRateLimitError(name, f"it takes no more requests for now: {line}", retry_after_s=retry_after_s)
    if (
        status in (408, 409)
        or status >= 500
        or code in ("overloaded_error", "api_error", "server_error", "UNAVAILABLE")
    ):
        return ModelUnavailableError(name, f"it is not available: {line}", retry_after_s=retry_after_s)
    if 0 < status < 400:
        return ModelRefusedError(name, f"it answered with what is no stream: {line}. Check the base_url.")
    if status == 404:
        return ModelRefusedError(name, f"there is no such model or no such address: {line}. Check name and base_url.")
    return ModelRefusedError(name, f"it refused the request: {line}")


def without_key(error: ModelError, key: SecretStr | None) -> ModelError:
    """The same error, without the key where a provider repeated it, whatever the key looks like."""
    secret = "" if key is None else key.get_secret_value().strip()
    if len(secret) >= MIN_KEY_CHARS:
        error.problem = masked(error.problem, secret)
        error.args = tuple(masked(each, secret) if isinstance(each, str) else each for each in error.args)
    return error


def masked(text: str, secret: str) -> str:
    """The text with ``[key]`` for each piece of the key: it may have been cut, quoted, broken or half hidden before."""
    size = min(PIECE_CHARS, len(secret))
    hidden = bytearray(len(text))
    for form in {secret, quote(secret, safe="")}:
        for piece in {form[at : at + size] for at in range(len(form) - size + 1)}:
            found = text.find(piece)
            while found >= 0:
                hidden[found : found + size] = b"\1" * size
                found = text.find(piece, found + 1)
    runs = groupby(zip(text, hidden, strict=True), key=lambda each: each[1])
    return "".join("[key]" if is_hidden else "".join(letter for letter, _ in run) for is_hidden, run in runs)


def one_line(words: str, limit: int = MAX_WORDS) -> str:
    """The words on one line, bounded, without what looks like a key."""
    text = _SECRETS.sub("[key]", " ".join(mend_surrogates(words[: 4 * limit]).split()))
    return text if len(text) <= limit else text[:limit] + "…"
