"""Tool calls out of their fragments, whichever way a provider keys them."""

from __future__ import annotations

from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.sse import TooLongError

MAX_CALLS = 4096
"""Of one answer: a peer gone mad must not keep us busy for ever."""


class _Open:
    __slots__ = ("arguments", "call_id", "index", "name")

    def __init__(self, index: int | str | None, call_id: str) -> None:
        self.index, self.call_id, self.name = index, call_id, ""
        self.arguments: list[str] = []


class CallGatherer:
    """Puts the fragments of an answer's tool calls together.

    A fragment belongs to the open call of its index and id. A new id opens a new call, also under an index that is in
    use (servers exist that number every call 0); no id goes on with the last call of that index, and no index either
    with the last call of all, unless the name is another. Arguments are appended, always; a name is set once, since
    some servers repeat it in every fragment. Nothing is parsed here.
    """

    def __init__(self) -> None:
        self._calls: list[_Open] = []

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, *, index: int | str | None = None, call_id: str = "", name: str = "", arguments: str = "") -> None:
        """Takes a fragment.

        Raises:
            TooLongError: there are more calls than any model makes.
        """
        call = self._find(index, call_id, name)
        if call is None:
            call = self._opened(index, call_id)
        call.call_id = call.call_id or call_id
        call.name = call.name or name
        if arguments:
            call.arguments.append(arguments)

    def add_whole(self, *, call_id: str = "", name: str = "", arguments: str = "") -> None:
        """Takes a call that comes in one piece.

        Raises:
            TooLongError: there are more calls than any model makes.
        """
        call = self._opened(None, call_id)
        call.name, call.arguments = name, [arguments]

    def replace_arguments(self, arguments: str, *, index: int | str | None = None, call_id: str = "") -> None:
        """Takes the whole arguments, in place of the fragments so far; they are the same where nothing was lost."""
        call = self._find(index, call_id)
        if call is not None:
            call.arguments = [arguments]

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which they were opened; one without an id gets ``call-N``, N its place."""
        taken = {call.call_id for call in self._calls}
        whole = []
        for place, call in enumerate(self._calls):
            call_id = call.call_id
            number = place
            while not call_id or (call_id in taken and not call.call_id):
                call_id, number = f"call-{number}", number + 1
            taken.add(call_id)
            whole.append(ToolCall(call_id=call_id, name=call.name, arguments="".join(call.arguments)))
        return tuple(whole)

    def _opened(self, index: int | str | None, call_id: str) -> _Open:
        if len(self._calls) >= MAX_CALLS:
            raise TooLongError(f"more than {MAX_CALLS:,} tool calls")
        call = _Open(index, call_id)
        self._calls.append(call)
        return call

    def _find(self, index: int | str | None, call_id: str, name: str = "") -> _Open | None:
        for call in reversed(self._calls):
            if index is not None and call.index is not None and call.index != index:
                continue
            if call_id and call.call_id and call.call_id != call_id:
                # Another id under the same index is another call; that one, if it is open already, stands before.
                continue
            return None if name and call.name and name != call.name and not call_id else call
        return None
