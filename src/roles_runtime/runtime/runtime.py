"""The Runtime: keeps the sessions of one team alive."""

from __future__ import annotations

import asyncio
import contextvars
import re
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, cast
from weakref import WeakValueDictionary

from roles_runtime.errors import RuntimeReopenedError, SessionClosedError, SessionNotFoundError, TeamError
from roles_runtime.kernels.kernel import Kernels
from roles_runtime.mail.transport import Transport
from roles_runtime.plugins import load
from roles_runtime.posts.conversation import Conversation, RoundState
from roles_runtime.posts.ids import create_id
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.children import Children
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.ground import Ground
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.restore import read_session
from roles_runtime.runtime.seats import close_models, take_seats
from roles_runtime.runtime.session import Session
from roles_runtime.runtime.sweeper import Sweeper
from roles_runtime.runtime.team import Team
from roles_runtime.stores.store import SessionInfo, Store
from roles_runtime.tools.source import sources_of

_SESSION_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


class Runtime:
    """Keeps the sessions of one team alive. Opened and closed by ``async with``, once, in one event loop.

    It closes the roles' models that have an ``aclose()``, a user's own too: they open anew when they are asked again.
    """

    def __init__(
        self,
        team: Team,
        *,
        store: Store | str = "local:",
        telemetry: Coats | None = None,
        kernels: Kernels | str | None = "local",
        transport: Transport | str = "local",
        limits: Limits | None = None,
        data_dir: Path | str | None = None,
        unsafe_no_sandbox: bool = False,
    ) -> None:
        """Puts a runtime together; nothing is opened yet.

        Args:
            team: Who answers.
            store: A Store, or its URL: ``sqlite:///roles.db``; ``local:`` keeps journals in memory.
            telemetry: A coat, or None: then nothing is wrapped.
            kernels: Kernels, or the name of an installed kind, or None for a team that runs no code.
            transport: A Transport, or the name of an installed kind.
            limits: Bounds; the defaults where left out.
            data_dir: Where the sessions' files are; the user's data folder where left out. Made with mode 0700.
            unsafe_no_sandbox: Lets code written by an LLM run without a sandbox where none can be had.

        Raises:
            PluginNotFoundError: a name is not installed.
            StoreError: the URL is wrong.
            ModelError, ToolDefinitionError, TeamError: a role can not work as it was described.
        """
        if not isinstance(team, Team):
            raise TeamError(f"{team!r} is no Team; make one: Team(leader=Planner(...), workers=[...]).")
        seats = take_seats(team, telemetry)
        opened = _made("transport", transport) if isinstance(transport, str) else transport
        carrier = cast("Transport", opened)
        self._ground = Ground(
            team,
            limits or Limits(),
            _store(store),
            carrier if telemetry is None else telemetry.wrap_transport(carrier),
            cast("Kernels", _made("kernel", kernels)) if isinstance(kernels, str) else kernels,
            telemetry,
            seats,
            unsafe_no_sandbox=unsafe_no_sandbox,
            data_dir=None if data_dir is None else Path(data_dir),
        )
        self._handles: WeakValueDictionary[str, Session] = WeakValueDictionary()
        self._resources = AsyncExitStack()
        self._was_opened = False

    @property
    def team(self) -> Team:
        """Who answers."""
        return self._ground.team

    @property
    def limits(self) -> Limits:
        """The bounds."""
        return self._ground.limits

    @property
    def ground(self) -> Ground:
        """What all sessions share."""
        return self._ground

    async def __aenter__(self) -> Self:
        ground = self._ground
        if self._was_opened:
            # A transport that was closed carries nothing any more.
            raise RuntimeReopenedError(
                "A Runtime is opened once, and this one was; share it while it is open, or make a new Runtime(...)."
            )
        self._was_opened = True
        try:
            await self._resources.enter_async_context(ground.store)
            if ground.kernels is not None:
                await self._resources.enter_async_context(ground.kernels)
            self._resources.push_async_callback(ground.transport.aclose)
            for source in sources_of(each for role in ground.team.roles.values() for each in role.tools):
                await self._resources.enter_async_context(source)
            for seat in ground.seats.values():
                seat.equip()
            self._resources.push_async_callback(close_models, ground.seats.values())
        except BaseException:
            self._was_opened = False
            await self._resources.aclose()
            raise
        ground.context = contextvars.copy_context()
        ground.children = Children(ground.context)
        sweeper = Sweeper(ground.limits, ground.children, self._active_rounds, self._rest_idle)
        ground.children.start(sweeper.sweep_forever())
        ground.closed = False
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ground = self._ground
        ground.closed = True
        try:
            for session in tuple(self._handles.values()):
                session.close()
            active_rounds = self._active_rounds()
            for active in active_rounds:
                await active.close(RoundState.failed, "cancelled", "The runtime was closed.")
            if active_rounds:
                # Whoever asked hears of the end before tasks are cancelled.
                await asyncio.wait([active.over for active in active_rounds], timeout=ground.limits.grace_s)
            await ground.children.end(ground.limits.grace_s)
        finally:
            ground.awake.clear()
            await self._resources.aclose()

    async def session(self, session_id: str | None = None) -> Session:
        """Opens a session, or restores it from its journal; the same object each time while it lives.

        Args:
            session_id: Up to 128 letters, digits, ``.``, ``_``, ``-``; a new id where left out.

        Raises:
            SessionBusyError: another process owns it.
            SessionClosedError: the runtime is not open.
            TeamError: the id can not be one.
            StoreError: its journal can not be read.
        """
        if self._ground.closed:
            raise SessionClosedError("The runtime is not open; use it by `async with Runtime(...) as runtime`.")
        if session_id is None:
            session_id = create_id()
        elif not isinstance(session_id, str) or not _SESSION_ID.fullmatch(session_id):
            raise TeamError(
                f"{session_id!r} can not be a session's id: up to 128 letters, digits, dots, dashes, no dot first."
            )
        session = self._handles.get(session_id)
        if session is None:
            session = self._handles[session_id] = Session(self._ground, session_id)
        if session.dormant:
            await session.wake()
        return session

    async def sessions(self) -> list[SessionInfo]:
        """All sessions of the store, the one last written to first."""
        return await self._ground.store.sessions()

    async def read(self, session_id: str) -> Conversation:
        """A session's conversation as its journal tells it, whoever owns it.

        Raises:
            SessionNotFoundError: there is no such session.
            StoreError: its journal can not be read.
        """
        restored = await read_session(self._ground.store, session_id)
        if not restored.seq:
            raise SessionNotFoundError(session_id)
        return restored.conversation

    def _awake(self) -> list[Session]:
        return [each for each in self._ground.awake.values() if isinstance(each, Session)]

    def _active_rounds(self) -> list[ActiveRound]:
        return [session.active for session in self._awake() if session.active is not None]

    async def _rest_idle(self, now_s: float) -> None:
        for session in self._awake():
            busy = session.busy or session.listeners.watchers
            if not busy and now_s - session.touched_s > self.limits.session_idle_s:
                session.sleep()
                await self._ground.store.release(session.id)


def _store(store: Store | str) -> Store:
    if not isinstance(store, str):
        return store
    maker = load("store", store.partition(":")[0])
    return cast("type[Store]", maker).from_url(store)


def _made(kind: str, name: str) -> object:
    maker = load(kind, name)
    return cast("type[object]", maker)()
