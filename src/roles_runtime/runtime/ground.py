"""What all sessions of a runtime stand on, and what a round may know of its session. It knows neither of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from pathlib import Path
from typing import Protocol

from platformdirs import user_data_path

from roles_runtime.kernels.kernel import Kernel, Kernels
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.model import Usage
from roles_runtime.mail.transport import Transport
from roles_runtime.memory.traces import Step, Traces
from roles_runtime.posts.conversation import ArtifactRef, Conversation
from roles_runtime.posts.post import RoleName
from roles_runtime.runtime.approvals import Approvals
from roles_runtime.runtime.children import Children
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.journal import Journal, Keyed
from roles_runtime.runtime.limits import Limits
from roles_runtime.runtime.listeners import Listeners
from roles_runtime.runtime.seats import Seat
from roles_runtime.runtime.setbacks import Setbacks
from roles_runtime.runtime.team import Team
from roles_runtime.stores.store import Store
from roles_runtime.tools.tasks.board import TaskBoard


class Ground:
    """What all sessions of a runtime share.

    Attributes:
        team, limits: As given.
        store: Where the journals are.
        transport: What carries Posts.
        kernels: Where code runs, or None.
        coats: What watches, or None.
        seats: The team's roles, ready to be asked.
        may_run_unsandboxed: Whether code may run without a sandbox where none can be had.
        data_dir: Where the sessions' files are.
        children: All tasks that were started.
        context: What each turn's fresh context is a copy of.
        awake: The sessions that are awake, by id; a sleeping one is kept only as long as somebody holds it.
        closed: Whether no more questions are taken.
    """

    def __init__(
        self,
        team: Team,
        limits: Limits,
        store: Store,
        transport: Transport,
        kernels: Kernels | None,
        coats: Coats | None,
        seats: dict[RoleName, Seat],
        *,
        unsafe_no_sandbox: bool,
        data_dir: Path | None,
    ) -> None:
        self.team, self.limits = team, limits
        self.store, self.transport, self.kernels = store, transport, kernels
        self.coats, self.seats = coats, seats
        self.may_run_unsandboxed = unsafe_no_sandbox or all(
            seat.model is None or not seat.model.writes_code for seat in seats.values()
        )
        self.data_dir = data_dir or user_data_path("roles_runtime")
        self._sessions = self.data_dir / "sessions"
        self.children = Children(Context())
        self.context = Context()
        self.awake: dict[str, Home] = {}
        self.closed = True

    def workspace(self, session_id: str) -> Workspace:
        """The files of a session."""
        return Workspace(self._sessions / session_id)


class Home(Protocol):
    """A session as its rounds know it."""

    ground: Ground
    conversation: Conversation
    journal: Journal
    listeners: Listeners
    usage: Usage
    sandbox: bool | None
    setbacks: Setbacks | None
    unprofiled: tuple[str, ...]
    traces: Traces | None

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def workspace(self) -> Workspace:
        """Its files."""
        ...

    @property
    def tasks(self) -> TaskBoard:
        """Its board of tasks."""
        ...

    def kernel_for(self, role: RoleName, round_id: str, turn_id: Callable[[], str]) -> Kernel | None:
        """The kernel as one role of a round sees it; None where the runtime has none."""
        ...

    @property
    def desk(self) -> Approvals:
        """Where roles ask the user."""
        ...

    def keep_trace(self, step: Step) -> None:
        """Keeps what a turn thought, called or got back for the role's later turns."""
        ...

    def runs(self, round_id: str) -> bool:
        """Whether that round is open."""
        ...

    def begin_cell(self, cell_id: str, cancelled: Keyed) -> None:
        """Notes that a cell runs, and what is written of it where its round ends first."""
        ...

    def end_cell(self, cell_id: str) -> None:
        """Notes that it ended."""
        ...

    def keep_artifacts(self, artifacts: Sequence[ArtifactRef]) -> None:
        """Counts files that a cell made among those of the round."""
        ...

    def set_back(self, role: RoleName) -> None:
        """Notes that a role raised."""
        ...
