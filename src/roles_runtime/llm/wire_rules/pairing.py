"""Every call is answered once, right after it, and in order."""

from __future__ import annotations

from collections import deque

from roles_runtime.llm.wire_rules.fault import Fault


class Pairing:
    """Follows the calls and results of one body.

    A call is known by its id; on a wire without ids by its name, which may come again.
    """

    def __init__(self, *, unique: bool = True) -> None:
        self._unique = unique
        self._seen: set[str] = set()
        self._waiting: deque[str] = deque()
        self._answering = False

    def call(self, key: str, call: str) -> None:
        """A call stands here.

        Raises:
            Fault: its id was another call's, or results of earlier calls are still missing.
        """
        self.unbegun()
        if self._unique:
            if call in self._seen:
                raise Fault(key, f"{call!r} is the id of another call already")
            self._seen.add(call)
        self._waiting.append(call)

    def result(self, key: str, call: str) -> None:
        """A result stands here.

        Raises:
            Fault: no call is waiting, or another one is first.
        """
        if not self._waiting:
            raise Fault(key, f"is a result of {call!r}, which no call right before it asks for")
        if self._waiting[0] != call:
            raise Fault(key, f"must be the result of {self._waiting[0]!r}, which is next in order, not of {call!r}")
        self._waiting.popleft()
        self._answering = bool(self._waiting)

    def settled(self) -> None:
        """Something else stands here, or nothing more.

        Raises:
            Fault: a call is not answered.
        """
        if self._waiting:
            raise Fault("", self._missing())

    def unbegun(self) -> None:
        """Something stands here that may stand among calls, but not among their results.

        Raises:
            Fault: results have begun, and some are missing.
        """
        if self._answering:
            raise Fault("", self._missing())

    def _missing(self) -> str:
        return f"the result of {self._waiting[0]!r} is missing; it must stand here, before anything else"
