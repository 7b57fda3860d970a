"""What looks like a secret is masked, in whatever leaves the process to be looked at."""

from __future__ import annotations

import re

MASK = "[masked]"

_PATTERNS = (
    # A key's own form tells it, wherever it stands.
    r"\b(?:sk|pk|rk|xai|gsk|AIza|ya29|hf|glpat|xox[abprs])[-_][A-Za-z0-9_\-.]{12,}",
    r"\bAIza[A-Za-z0-9_\-]{20,}",
    r"\bgh[pousr]_[A-Za-z0-9]{16,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}",
    r"\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{4,}(?:\.[A-Za-z0-9_\-]*)?",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
)
_FORMS = re.compile("|".join(_PATTERNS), re.DOTALL)
# The words before it tell it: they stay, so that a reader sees what was there.
_NAMED = re.compile(
    r"""(?i)(\b(?:authorization|proxy-authorization)["']?\s*[:=]\s*["']?(?:bearer|basic|token)?\s*"""
    r"""|\bbearer\s+"""
    r"""|\b[\w-]*(?:password|passwd|secret|api[_-]?key|apikey|access[_-]?token|auth[_-]?token)["']?\s*[:=]\s*["']?)"""
    r"""([^\s"',;&}\]]{4,})"""
)
_USERINFO = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+(@)", re.IGNORECASE)


def mask(text: str) -> str:
    """The text with `MASK` in place of all that looks like a secret."""
    text = _FORMS.sub(MASK, text)
    text = _NAMED.sub(rf"\1{MASK}", text)
    return _USERINFO.sub(rf"\1{MASK}\2", text)
