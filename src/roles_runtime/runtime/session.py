"""A Session: one conversation, alive. Asked one question at a time; idle, it holds no task."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from functools import partial
from pathlib import Path

from roles_runtime.errors import SessionClosedError, StoreError
from roles_runtime.kernels.kernel import Kernel
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.model import Usage
from roles_runtime.memory.traces import Step, Traces
from roles_runtime.posts.conversation import ArtifactRef, Conversation, Round, RoundState
from roles_runtime.posts.event import ApprovalAsked, Entry, Event, RoundClosed, RoundOpened
from roles_runtime.posts.post import RoleName
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.approvals import Approvals, Verdict
from roles_runtime.runtime.cells import JournaledKernel
from roles_runtime.runtime.coats import Asked, Play
from roles_runtime.runtime.ground import Ground
from roles_runtime.runtime.journal import Journal, Keyed
from roles_runtime.runtime.line import Line
from roles_runtime.runtime.listeners import Handled, Handler, Listener, Listeners, Watcher
from roles_runtime.runtime.opening import run_round
from roles_runtime.runtime.restore import Restored, read_session
from roles_runtime.runtime.setbacks import Setbacks
from roles_runtime.runtime.supervisor import give_up
from roles_runtime.runtime.task_store import KeptTasks, board_of
from roles_runtime.runtime.text import check_question
from roles_runtime.runtime.uploads import paths_of, take_files
from roles_runtime.tools.tasks.board import TaskBoard


class Session:
    """One conversation, alive: opened by `Runtime.session`. All calls come from the runtime's event loop.

    Attributes:
        ground: What it shares with the other sessions.
        active: The round that runs, or None.
        conversation: All rounds, the running one included; read it, do not change it.
        traces: What its turns thought and called, or None where that is nothing.
        usage: Calls and tokens of all its rounds, those of earlier processes included.
        journal: Where its events are written.
        listeners: Who listens to them.
        sandbox: Whether its code runs walled off; None until that is decided, once.
        setbacks: Of its roles, or None where none raised.
        unprofiled: Names of files that came with a question and that no role was told of yet.
        touched_s: When a round last ended, by the loop's clock.
    """

    __slots__ = (
        "__weakref__",
        "_board",
        "_desk",
        "_line",
        "active",
        "conversation",
        "ground",
        "journal",
        "listeners",
        "sandbox",
        "setbacks",
        "touched_s",
        "traces",
        "unprofiled",
        "usage",
    )

    _board: TaskBoard | KeptTasks | None
    conversation: Conversation
    journal: Journal
    touched_s: float
    unprofiled: tuple[str, ...]
    traces: Traces | None
    usage: Usage

    def __init__(self, ground: Ground, session_id: str) -> None:
        """Made by `Runtime.session`, asleep."""
        self.ground = ground
        self.listeners = Listeners()
        self.sandbox: bool | None = None
        self.setbacks: Setbacks | None = None
        self.active: ActiveRound | None = None
        self._line: Line | None = None
        self._desk: Approvals | None = None
        self._load(session_id, Restored(Conversation("")))

    @property
    def id(self) -> str:
        """Its id."""
        return self.journal.session_id

    @property
    def dormant(self) -> bool:
        """Whether its journal must be read before it goes on."""
        return self.id not in self.ground.awake

    # --- what users call -------------------------------------------------------------------------------------

    async def ask(self, query: str, *, files: Sequence[str | Path] = (), on_event: Handler | None = None) -> Round:
        """Asks the team, after the questions that were asked before; returns when the round is over.

        Being cancelled cancels the round, or gives up its place in the line.

        Args:
            query: The question.
            files: A list of paths; the files are copied into the workspace, and named in the question.
            on_event: Called with each event of the round; it must not block, and harms nobody if it raises.

        Returns:
            The round: finished, or failed with a reason.

        Raises:
            PostRefusedError: the question is empty, too large, or no text that UTF-8 can hold.
            WorkspaceError: ``files`` is no list of paths, or a file can not be taken.
            SessionBusyError: too many questions wait, or another process owns the session.
            SessionClosedError: the runtime is closed.
            StoreError: the journal could not be written; nothing that it acknowledged is lost.
        """
        paths = self._checked(query, files)
        return await self._ask(query, paths, None if on_event is None else Handled(on_event))

    def stream(self, query: str, *, files: Sequence[str | Path] = ()) -> AsyncGenerator[Event, None]:
        """Asks the team and yields the events of the round as they come, RoundClosed last.

        Leaving it early cancels nothing. Close it (``contextlib.aclosing``) if you leave it early.

        Raises:
            RolesError: as `ask`; for a wrong question at once, for all else while it is iterated.
        """
        return self._stream(query, self._checked(query, files))

    async def _stream(self, query: str, paths: tuple[Path, ...]) -> AsyncGenerator[Event, None]:
        listener = Listener()

        async def asked() -> None:
            try:
                await self._ask(query, paths, listener)
            finally:
                listener.end()

        round_under_way = self.ground.children.start(asked())
        async with aclosing(listener.events(self._reread)) as events:
            async for event in events:
                yield event
                if isinstance(event, RoundClosed):
                    break
        await round_under_way

    async def cancel(self) -> None:
        """Ends the running round as failed, ``cancelled``; the session stays. Without a running round it does nothing.

        Returns when the end is written down. A role that does not heed its cancellation is abandoned after the
        grace, and its result is dropped.
        """
        if self.active is not None:
            await self.active.close(RoundState.failed, "cancelled", "The round was cancelled.")

    def attended(self) -> AbstractContextManager[None]:
        """Says that somebody is there to `approve` what roles ask, while the block runs: ``with session.attended():``.

        A role that asks waits then, and no time limit counts meanwhile. Without anybody there, each answer is no.
        """
        return self.desk.attended()

    @property
    def approvals(self) -> tuple[ApprovalAsked, ...]:
        """What roles ask and nobody has answered yet; each came as an event too."""
        return () if self._desk is None else self._desk.questions

    def approve(self, approval_id: str, yes: bool, comment: str = "") -> None:
        """Answers what a role asked; the answer is written down before the role goes on.

        Args:
            approval_id: Of the `ApprovalAsked`.
            yes: The answer.
            comment: What is kept with it in the journal.

        Raises:
            ApprovalNotFoundError: it is not open: answered already, or of a round that is over.
        """
        # What no journal can hold is mended here: it is not the role's fault.
        self.desk.answer(approval_id, Verdict(bool(yes), comment.encode("utf-8", "replace").decode()))

    @asynccontextmanager
    async def listen(self) -> AsyncGenerator[AsyncGenerator[Event, None], None]:
        """Follows the session's events from now on, whoever asks: ``async with session.listen() as events``."""
        listener = Listener()
        self.listeners.add(listener)
        try:
            async with aclosing(listener.events(self._reread)) as events:
                yield events
        finally:
            self.listeners.remove(listener)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All rounds, in order."""
        return tuple(self.conversation.rounds)

    @property
    def running(self) -> bool:
        """Whether a round runs."""
        return self.active is not None

    @property
    def busy(self) -> bool:
        """Whether a question is being answered, or about to be."""
        return self._line is not None and self._line.busy

    @property
    def workspace(self) -> Workspace:
        """Its files."""
        return self.ground.workspace(self.id)

    @property
    def tasks(self) -> TaskBoard:
        """Its board of tasks. It can be read while no round runs; what was taken off stands in the journal."""
        if not isinstance(self._board, TaskBoard):
            self._board = board_of(self, self._board or KeptTasks())
        return self._board

    async def _ask(self, query: str, paths: tuple[Path, ...], watcher: Watcher | None) -> Round:
        self._check_open()
        if self._line is None:
            self._line = Line(self.id)
        await self._line.enter(self.ground.limits.max_queued_asks)
        try:
            self._check_open()
            if self.dormant:
                await self.wake()
            names = await take_files(self, paths) if paths else ()
            if watcher is not None:
                self.listeners.add(watcher)
            active = self._begin(query, names)
        except BaseException:
            self._end(watcher)
            raise
        try:
            await active.over
        except asyncio.CancelledError:
            # The end is written down by a task of the runtime, for this one may wait no longer.
            active.renew()
            self.ground.children.start(self._abort(active, watcher))
            raise
        self._end(watcher)
        if active.failure is not None:
            raise active.failure
        return active.round

    def _checked(self, query: str, files: Sequence[str | Path]) -> tuple[Path, ...]:
        """The paths of the files, where the question can be asked."""
        check_question(query, self.ground.limits.max_post_bytes)
        return paths_of(files)

    def _check_open(self) -> None:
        if self.ground.closed:
            raise SessionClosedError(f"The runtime of session {self.id} is closed; open the session in a new one.")

    def _begin(self, query: str, names: tuple[str, ...]) -> ActiveRound:
        if names:
            query = f"files added: {', '.join(names)}.\n{query}"
            self.unprofiled = tuple(dict.fromkeys((*self.unprofiled, *names)))
        ground = self.ground
        record = Round.create(query)
        active = self.active = ActiveRound(self, record, asyncio.get_running_loop().create_future())
        active.opening.append((RoundOpened(record.id, query, names), record.id))
        self.conversation.rounds.append(record)
        run: Play = partial(run_round, active, names)
        if ground.coats is not None:
            before = self.conversation.rounds[:-1]
            previous = before[-1].traceparent if before else ""
            run = ground.coats.wrap_round(run, Asked(self.id, len(before), ground.coats.caller(), previous))
        active.task = ground.children.start(run(record))
        active.task.add_done_callback(partial(self._task_ended, active))
        return active

    def _task_ended(self, active: ActiveRound, task: asyncio.Task[None]) -> None:
        """Also where it was cancelled before it began, or a coat round it failed."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.ground.children.start(give_up(active, error))
        active.end()
        if not active.is_open:
            active.let_go()

    def _end(self, watcher: Watcher | None) -> None:
        self.journal.tell_owed()
        if self._desk is not None:
            # A role that was abandoned may still wait.
            self._desk.refuse()
        self.listeners.remove(watcher)
        self.active = None
        if self.journal.broken:
            self.sleep()
        self.touched_s = asyncio.get_running_loop().time()
        if self._line is not None and self._line.leave():
            self._line = None

    async def _abort(self, active: ActiveRound, watcher: Watcher | None) -> None:
        try:
            await active.close(RoundState.failed, "cancelled", "Whoever asked went away.")
            await active.over
        finally:
            self._end(watcher)

    def _reread(self, seq: int) -> AsyncGenerator[Entry, None]:
        return self.ground.store.read(self.id, seq)

    # --- what the runtime and the roles use ------------------------------------------------------------------

    def kernel_for(self, role: RoleName, round_id: str, turn_id: Callable[[], str]) -> Kernel | None:
        """The session's kernel as one role of a round sees it; None where the runtime has none."""
        if self.ground.kernels is None:
            return None
        kernel: Kernel = JournaledKernel(self, role, round_id, turn_id)
        return kernel if self.ground.coats is None else self.ground.coats.wrap_kernel(kernel, role)

    @property
    def desk(self) -> Approvals:
        """Where roles ask the user; made when it is first needed."""
        self._desk = self._desk or Approvals()
        return self._desk

    def runs(self, round_id: str) -> bool:
        """Whether that round is open."""
        return self.active is not None and self.active.is_open and self.active.round.id == round_id

    def begin_cell(self, cell_id: str, cancelled: Keyed) -> None:
        """Notes that a cell of the running round runs, and what is written of it where the round ends first."""
        if self.active is not None:
            self.active.cells[cell_id] = cancelled

    def end_cell(self, cell_id: str) -> None:
        """Notes that it ended."""
        if self.active is not None:
            self.active.cells.pop(cell_id, None)

    def keep_artifacts(self, artifacts: Sequence[ArtifactRef]) -> None:
        """Counts files that a cell made among those of the round."""
        if self.active is not None:
            self.active.round.artifacts.extend(artifacts)

    def set_back(self, role: RoleName) -> None:
        """Notes that a role raised."""
        self.setbacks = self.setbacks or Setbacks()
        self.setbacks.note(role)

    def keep_trace(self, step: Step) -> None:
        """Keeps what a turn thought, called or got back for the role's later turns."""
        self.traces = self.traces or Traces()
        self.traces.take(step)

    async def wake(self) -> None:
        """Claims the session and takes up what its journal tells; a round that its process left open is closed.

        Raises:
            SessionBusyError: another process owns it.
            StoreError: its journal can not be read.
        """
        await self.ground.store.claim(self.id)
        restored = await read_session(self.ground.store, self.id)
        if not self.dormant:
            return
        self._load(self.id, restored)
        self.ground.awake[self.id] = self
        left = restored.open_round
        if left is not None:
            left.state, left.reason = RoundState.failed, "interrupted"
            left.detail = "The process that ran this round ended before the round did."
            event = RoundClosed(left.id, left.state, left.reason, left.detail)
            try:
                await self.journal.write(event, f"{left.id}/closed")
            except StoreError:
                self.sleep()
                raise

    def _load(self, session_id: str, restored: Restored) -> None:
        self.touched_s = asyncio.get_running_loop().time()
        self.conversation = restored.conversation
        self.usage = restored.usage
        self.traces = restored.traces
        # Made a board of when it is first asked for.
        self._board = restored.tasks
        self.unprofiled = restored.unprofiled
        self.journal = Journal(self.ground, session_id, restored.seq, self.listeners)

    def sleep(self) -> None:
        """Lets the runtime go of it: whoever holds it may read on, and the next question reads the journal again."""
        self.ground.awake.pop(self.id, None)

    def close(self) -> None:
        """Refuses the questions that wait."""
        if self._line is not None:
            self._line.refuse()
