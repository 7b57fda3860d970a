"""What a model is told of the four tools, in one language; and which language that is where nobody says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Language: TypeAlias = Literal["en", "zh"]


class Words(msgspec.Struct, frozen=True):
    """The words of one language.

    Attributes:
        descriptions: Of each tool.
        parameters: Of each parameter, by its own name; by the tool's too where they differ: ``TaskUpdate.metadata``.
        reminder: Stands before the open tasks in a prompt.
        more: Says how many open tasks are not shown: ``{count}``.
        unfinished: Stands before the tasks in progress, where the user is answered all the same.
    """

    descriptions: Mapping[str, str]
    parameters: Mapping[str, str]
    reminder: str
    more: str
    unfinished: str
