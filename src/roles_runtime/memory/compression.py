"""Old rounds as a summary, so that a prompt stays short."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile

import msgspec

from roles_runtime.errors import ConfigError
from roles_runtime.posts.conversation import Round

PLACEHOLDER = "{PREVIOUS_SUMMARY}"
"""Where the summary so far stands in the prompt."""

TEMPLATE = f"""\
Summarise the conversation below for those who go on with it. Keep what the user wants, what was decided, what was
found (names, numbers and paths exactly), and what is still open. Take the summary so far into the new one.

Summary so far:
{PLACEHOLDER}

Conversation:"""

Summarise = Callable[[str], Awaitable[str]]
"""Asks a model with this prompt, and gives its answer."""


class Summary(msgspec.Struct, frozen=True):
    """What stands for the rounds that are no longer shown.

    Attributes:
        text: The summary; ``None``, as a word for the model, while there is none.
        round_ids: The rounds that it covers, in order.
    """

    text: str = "None"
    round_ids: tuple[str, ...] = ()


class Compression(msgspec.Struct, frozen=True):
    """What came of `RoundCompressor.compress`.

    Attributes:
        summary: The new summary, or the previous one where nothing was summarised.
        rounds: The rounds that it does not cover: every round given is here or there.
        problem: Why a summary that was due was not made, in one line; else empty.
    """

    summary: Summary
    rounds: list[Round]
    problem: str = ""


class RoundCompressor:
    """Summarises rounds once enough have come together. It keeps no state: the caller keeps the summary."""

    def __init__(self, rounds_to_compress: int = 2, rounds_to_retain: int = 3, template: str = TEMPLATE) -> None:
        """Sets when and how.

        Args:
            rounds_to_compress: How many rounds must be there beyond those retained before a summary is made.
            rounds_to_retain: How many of the last rounds are always kept as they are.
            template: The prompt; the rounds follow it.

        Raises:
            ConfigError: a number is below 1, or the template lacks ``{PREVIOUS_SUMMARY}``.
        """
        for key, number in (("rounds_to_compress", rounds_to_compress), ("rounds_to_retain", rounds_to_retain)):
            if number < 1:
                raise ConfigError("RoundCompressor", key, f"it is {number} and must be 1 or more.")
        if PLACEHOLDER not in template:
            raise ConfigError("RoundCompressor", "template", f"it must contain {PLACEHOLDER}.")
        self._compress, self._retain, self._template = rounds_to_compress, rounds_to_retain, template

    async def compress(
        self,
        rounds: Sequence[Round],
        previous: Summary,
        summarise: Summarise,
        formatter: Callable[[Sequence[Round]], str] | None = None,
    ) -> Compression:
        """Summarises all uncovered rounds but the last ones, if enough are there.

        Nothing is lost: where the formatter or the model fails, or answers nothing, the previous summary and all
        rounds that it does not cover are given back.

        Args:
            rounds: All rounds of the role's view, in order.
            previous: The last `Compression`'s summary.
            summarise: Asks the model; its time limit is its own.
            formatter: The rounds as text; by default who said what to whom.
        """
        covered = frozenset(previous.round_ids)
        done = sum(1 for _ in takewhile(lambda each: each.id in covered, rounds))
        remaining = list(rounds[done:])
        if len(remaining) < self._compress + self._retain:
            return Compression(previous, remaining)
        old, kept = remaining[: -self._retain], remaining[-self._retain :]
        try:
            text = await summarise(self._prompt(previous, (formatter or format_rounds)(old)))
        except Exception as error:
            # Whatever a model or formatter fails with, the answer is the same: the rounds stay as they are.
            return Compression(previous, remaining, f"{type(error).__name__}: {error}")
        if not text.strip():
            return Compression(previous, remaining, "the summary came back empty")
        return Compression(Summary(text, previous.round_ids + tuple(each.id for each in old)), kept)

    def _prompt(self, previous: Summary, conversation: str) -> str:
        return f"{self._template.replace(PLACEHOLDER, previous.text)}\n{conversation}"


def format_rounds(rounds: Sequence[Round]) -> str:
    """Rounds as text: the query, then who said what to whom."""
    return "\n".join(
        "\n".join([f"Query: {each.user_query}", *(str(post) for post in each.post_list)]) for each in rounds
    )
