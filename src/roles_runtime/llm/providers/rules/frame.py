"""A question with its clauses taken out of the way, and what the cores make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from roles_runtime.llm.providers.rules.clauses import group_by_part, plain_group
from roles_runtime.llm.providers.rules.query import Filter, Group, Kind, Measure, PlotKind, Query
from roles_runtime.llm.providers.rules.reduce import Items, only
from roles_runtime.llm.providers.rules.schema import Schema


class Frame(msgspec.Struct, frozen=True):
    """A question with its clauses taken out of the way.

    Attributes:
        schema: The table.
        core: What is left of the items.
        sorts, groups, filters, plot: The clauses.
        over_time: Whether the group is "over time".
        per_period: Whether the group is "per month" and the like.
        joined: Whether columns side by side were joined by "and", "against" and the like.
    """

    schema: Schema
    core: Items
    sorts: Items
    groups: tuple[Group, ...]
    filters: tuple[Filter, ...]
    plot: PlotKind | None
    over_time: bool
    per_period: bool = False
    joined: bool = True

    def query(
        self,
        kind: Kind,
        *,
        measures: tuple[Measure, ...] = (),
        groups: tuple[Group, ...] = (),
        columns: tuple[str, ...] = (),
        order: str | None = None,
        descending: bool = True,
        limit: int = 0,
        scalar: bool = False,
    ) -> Query:
        """A query of this file with these filters and this plot."""
        return Query(
            self.schema.file.name,
            kind,
            measures,
            groups,
            self.filters,
            columns,
            order,
            descending,
            limit,
            scalar,
            self.plot,
        )

    def columns(self) -> tuple[str, ...]:
        """The columns of the core, each once."""
        return tuple(dict.fromkeys(item.column for item in only(self.core, "C")))

    def number(self) -> int | None:
        """How many are asked for; one where no number stands, None where it is no count."""
        numbers = [item.number for item in only(self.core, "N")]
        if not numbers:
            return 1
        first = numbers[0]
        return first if len(numbers) == 1 and isinstance(first, int) and 1 <= first <= 100_000 else None


Builder: TypeAlias = Callable[[Frame], "Query | None"]
"""Makes the query of one core, or declines."""


def sort(frame: Frame, default: Literal["asc", "desc"] = "asc") -> tuple[str | None, bool]:
    """(column or "" for the value, descending) of the sort clause."""
    if not frame.sorts:
        return None, True
    item = frame.sorts[0]
    return item.column, (item.arg or default) == "desc"


def entity_groups(frame: Frame) -> tuple[Group, ...] | None:
    """The group whose best is asked for: the core's one column or part of a date."""
    entity = only(frame.core, "CP")[0]
    if entity.letter == "P":
        column = frame.schema.time_column(entity.arg)
        return None if column is None else (group_by_part(frame.schema, column, entity.arg),)
    if not frame.schema.groupable(entity.column):
        return None
    return (plain_group(frame.schema, entity.column),)
