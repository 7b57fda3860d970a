"""What the README's tables and sentences have a user write is there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
CODE = "\n".join(re.findall(r"`[^`\n]+`", README))
NAMED = sorted(set(re.findall(r"(?<![\w.\"])([A-Z][a-z]+[A-Za-z]*)\(", CODE)))
ELSEWHERE = {"OpenAIModel": "roles_runtime.llm.providers.openai"}
"""What does not come by the front door; the README says where it is."""


def test_middleware_is_named() -> None:
    assert {"Team", "PlanTasks", "UsageLimits", "Compaction", "ResultReduction", "Approval"} <= set(NAMED)
    assert all(home in CODE for home in ELSEWHERE.values())


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_can_be_imported(name: str) -> None:
    assert getattr(import_module(ELSEWHERE.get(name, "roles_runtime")), name).__name__ == name
