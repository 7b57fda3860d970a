"""Ids: ``<prefix>-YYYYMMDD-HHMMSS-<8 hex>`` in UTC, ordered by time, also within a second."""

from __future__ import annotations

import os
import re
import secrets
from calendar import timegm
from collections.abc import Callable, Iterator
from functools import lru_cache
from time import gmtime, strftime, time


class _Minter:
    """Hands out ids of one process: a random start, then a counter, so that order is kept and none repeats."""

    __slots__ = ("_head", "_next", "_prefix", "_since", "_stamp", "_tail", "_until")

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self.reseed()
        # A forked child must not mint its parent's next ids.
        os.register_at_fork(after_in_child=self.reseed)

    def reseed(self) -> None:
        # A quarter of the range is left for counting: 2**30 ids before the hex digits would wrap.
        self._next = secrets.randbelow(3 << 30)
        self._tail: Iterator[str] = iter(())
        self._since = self._until = 0.0
        self._stamp = self._head = ""

    def mint(self) -> str:
        now = time()
        if not self._since <= now < self._until:
            self._begin_second(int(now))
        for tail in self._tail:
            return self._head + tail
        return self._turn_over()

    def _begin_second(self, second: int) -> None:
        self._since, self._until = float(second), second + 1.0
        self._stamp = self._prefix + strftime("%Y%m%d-%H%M%S-", gmtime(second))
        self._head = self._stamp + self._head[-6:]

    def _turn_over(self) -> str:
        """Takes the next 256 numbers: their last two digits are ready made, since every Post needs an id or two."""
        self._next = (self._next | 0xFF) + 1
        self._head = self._stamp + f"{self._next >> 8:06x}"
        self._tail = iter(_TAILS)
        return self._head + next(self._tail)


_STAMP = re.compile(r"-\d{8}-\d{6}-", re.ASCII)
_TAILS = tuple(f"{n:02x}" for n in range(256))

create_id: Callable[[], str] = _Minter().mint
"""A new id without prefix, as sessions have it: ``YYYYMMDD-HHMMSS-<8 hex>``, UTC."""

create_post_id: Callable[[], str] = _Minter("post-").mint
"""A new id of a Post, with its prefix: every hop needs one."""


def reload_id() -> str:
    """The bare part (12 hex) of an id given to what was loaded from a document as an example."""
    return secrets.token_hex(6)


def time_of(id: str) -> int:
    """When an id was made, in milliseconds since the epoch, to the second; 0 for what was loaded as an example."""
    found = _STAMP.search(id)
    return 0 if found is None else _time_of_stamp(found[0])


@lru_cache(maxsize=1024)
def _time_of_stamp(stamp: str) -> int:
    """Posts of one second share a stamp, and every prompt asks for the times of all of its Posts."""
    _, day, clock, _ = stamp.split("-")
    parts = [int(each) for each in (day[:4], day[4:6], day[6:], clock[:2], clock[2:4], clock[4:])]
    # timegm counts the 31st of February on; what is no time at all is none of ours.
    return timegm((*parts, 0, 0, 0)) * 1000 if 1 <= parts[1] <= 12 and 1 <= parts[0] <= 9999 else 0
