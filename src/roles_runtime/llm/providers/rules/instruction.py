"""What the Planner's part tells the CodeInterpreter's part: a task that a person or any other model reads as well."""

from __future__ import annotations

import re

import msgspec

_FIRST = "Answer this question by code, from the file {file}:"
_AGAIN = "It follows up on:"
_PATTERN = re.compile(
    r"\A" + re.escape(_FIRST).replace(re.escape("{file}"), r"([^\n]+)") + r"\n([^\n]+)"
    r"(?:\n" + re.escape(_AGAIN) + r"((?:\n- [^\n]+)+))?\s*\Z"
)


class Instruction(msgspec.Struct, frozen=True):
    """A question, the file that it is about, and the questions that it leans on, the oldest first."""

    file: str
    question: str
    before: tuple[str, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """All questions, in the order in which they were asked."""
        return (*self.before, self.question)

    def to_text(self) -> str:
        """The task as a message."""
        lines = [_FIRST.format(file=self.file), self.question]
        if self.before:
            lines += [_AGAIN, *(f"- {question}" for question in self.before)]
        return "\n".join(lines)

    @staticmethod
    def from_text(text: str) -> Instruction | None:
        """Reads a message of this form; None if it has another."""
        found = _PATTERN.match(text.strip())
        if found is None:
            return None
        before = tuple(line.removeprefix("- ") for line in (found[3] or "").strip().splitlines())
        return Instruction(found[1], found[2], before)
