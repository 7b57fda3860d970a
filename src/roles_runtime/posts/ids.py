"""Ids: ``<prefix>-YYYYMMDD-HHMMSS-<8 hex>`` in UTC, ordered by time, also within a second."""

from __future__ import annotations

import os
import secrets
import time
from itertools import count


class _Minter:
    """Hands out ids of one process: a random start, then a counter, so that order is kept and none repeats."""

    def __init__(self) -> None:
        self.reseed()

    def reseed(self) -> None:
        # A quarter of the range is left for counting: 2**30 ids before the hex digits would wrap.
        self._next = count(secrets.randbelow(3 << 30)).__next__
        self._second, self._stamp = -1, ""

    def mint(self) -> str:
        second = int(time.time())
        if second != self._second:
            self._second, self._stamp = second, time.strftime("%Y%m%d-%H%M%S-", time.gmtime(second))
        return self._stamp + f"{self._next():08x}"


_minter = _Minter()
# A forked child must not mint its parent's next ids.
os.register_at_fork(after_in_child=_minter.reseed)


def create_id() -> str:
    """A new id without prefix, as sessions have it: ``YYYYMMDD-HHMMSS-<8 hex>``, UTC."""
    return _minter.mint()


def reload_id() -> str:
    """The bare part (12 hex) of an id given to what was loaded from a document as an example."""
    return secrets.token_hex(6)
