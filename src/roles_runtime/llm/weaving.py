"""What a model said, with its thoughts in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from roles_runtime.llm.calls import Reasoning, ToolCall

Strand: TypeAlias = str | Reasoning | ToolCall


def woven(
    text: str, calls: Sequence[ToolCall], thoughts: Iterable[Reasoning], cuts: Iterable[int] = ()
) -> Iterator[Strand]:
    """The text in pieces, thoughts and calls, in the order in which the model had them.

    Text stands before the calls. Thoughts keep their order where they claim the same place; one that claims a place
    behind the end stands at the end.

    Args:
        text: All of it; no piece of it is empty, or lost.
        calls: In order.
        thoughts: Those that the provider shall have back.
        cuts: Where the text is cut beside, in characters.
    """
    length, total = len(text), len(calls)
    marks: list[tuple[int, int, Reasoning | None]] = [(0, min(cut, length), None) for cut in cuts]
    marks += [(min(each.after_calls, total), min(each.after_chars, length), each) for each in thoughts]
    marks.sort(key=lambda mark: mark[:2])
    written = called = 0
    for after_calls, after_chars, thought in (*marks, (total, length, None)):
        end = length if after_calls else after_chars
        if end > written:
            yield text[written:end]
            written = end
        yield from calls[called:after_calls]
        called = max(called, after_calls)
        if thought is not None:
            yield thought
