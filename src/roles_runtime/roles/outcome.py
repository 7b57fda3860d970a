"""What came of a cell, in words: for the model that wrote it, and for whoever asked for it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from roles_runtime.kernels.kernel import Execution
from roles_runtime.posts.delimiters import remove_all_delimiters, remove_parts, wrap_text_with_delimiter

MAX_STREAM_CHARS = 1500
"""How much of stdout, and of stderr, is told: enough to see what it is, as TaskWeaver has it."""

MAX_ERROR_CHARS = 4000
"""How much of an error is told, from its end."""

LONG_CHARS = 600
"""A part longer than this is told in its round only."""

_FENCE = re.compile(r"\A\s*```[\w+-]*[ \t]*\n(.*?)\n?[ \t]*```\s*\Z", re.DOTALL)


class Outcome(msgspec.Struct, frozen=True):
    """The text about one cell, with its long parts between temporal delimiters."""

    marked: str

    @property
    def text(self) -> str:
        """The whole."""
        return remove_all_delimiters(self.marked)

    @property
    def summary(self) -> str:
        """Without its long parts, for later rounds."""
        return remove_parts(self.marked)


def outcome_of(execution: Execution) -> Outcome:
    """Says how a cell ended, what it gave, and which files came of it."""
    lines = [_verdict(execution)]
    if execution.output:
        lines += ["The result is:", part(execution.output)]
    elif execution.is_success:
        lines += _stream("stdout", execution.stdout) or ["The code gave no output."]
    if not execution.is_success:
        lines += _failure(execution)
    if execution.artifacts:
        lines.append("The following files were made:")
        lines += [
            f"- type: {each.mime}; uri: {each.name or each.path}; size: {each.size_bytes:,} bytes"
            for each in execution.artifacts
        ]
    return Outcome("\n".join(lines))


def fenced(code: str) -> str:
    """Code in a Markdown fence, longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code.rstrip()}\n{fence}"


def unfenced(code: str) -> str:
    """The code inside the Markdown fence that some models put round it."""
    inside = _FENCE.match(code)
    return inside[1] if inside else code


def last_line(text: str) -> str:
    """The last line that says something: of a traceback, the error itself."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _verdict(execution: Execution) -> str:
    match execution.outcome:
        case "timeout":
            return "The code took too long and was interrupted."
        case "lost":
            return "The code ended the kernel; its variables are gone, and a new one starts with the next code."
        case "cancelled":
            return "The code was cancelled."
    return "The execution was successful." if execution.is_success else "The execution failed."


def _failure(execution: Execution) -> list[str]:
    lines = [f"- [{tag}] {level}: {message}" for level, tag, message in execution.log]
    if lines:
        lines.insert(0, "The log is:")
    if execution.error:
        # The end of a traceback is what tells.
        lines += ["The error is:", part(execution.error[-MAX_ERROR_CHARS:])]
    return lines + _stream("stdout", execution.stdout) + _stream("stderr", execution.stderr)


def _stream(name: str, pieces: Iterable[str]) -> list[str]:
    text = "".join(pieces)
    if not text:
        return []
    heading = f"The {name} is:" if len(text) <= MAX_STREAM_CHARS else f"The {name} begins with:"
    return [heading, part(text[:MAX_STREAM_CHARS])]


def part(text: str) -> str:
    """A part of what is told: between temporal delimiters where it is long. What looks like one in it is taken out."""
    text = remove_all_delimiters(text).rstrip()
    return wrap_text_with_delimiter(text) if len(text) > LONG_CHARS else text


def joined(lines: Iterable[str]) -> str:
    """Faults as a list, one a line."""
    return "\n".join(f"- {line}" for line in lines)
