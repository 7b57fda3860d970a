"""Kernels as roles see them: one a session, every cell in the journal; and files, looked at in the sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from roles_runtime.errors import KernelError, KernelLostError, WorkspaceError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.scripted import ScriptedKernel, ScriptedKernels
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.conversation import ArtifactRef, Round, RoundState
from roles_runtime.posts.event import CellDone, CellStarted, PostSent, RoundOpened
from roles_runtime.posts.post import USER
from roles_runtime.posts.shared import FileProfile, FileProfiles, SharedMemoryEntry
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.stores.local import LocalStore
from runtime.casting import Cast, Gate, cast, events_of, folded, running

pytestmark = pytest.mark.anyio

PLOT = ArtifactRef("/artifacts/x.png", "image/png", "plot.png")


def coding(*cells: str, name: str = "Planner", to: str | None = USER) -> Cast:
    async def act(turn: Turn) -> Answer:
        assert turn.kernel is not None
        outputs = [(await turn.kernel.execute(cell)).output for cell in cells]
        return turn.answer(" ".join(outputs), to)

    role = Cast(name, act)
    role.needs_kernel = True
    return role


async def test_every_cell_is_journalled_with_its_execution_and_its_artifacts() -> None:
    step = Execution("", "", True, output="42", artifacts=(PLOT,))
    async with running(coding("6 * 7"), kernels=ScriptedKernels([step])) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("hey")
        assert round_.state is RoundState.finished, round_.detail
        assert round_.artifacts == [PLOT]
        started, done = (event for event in await events_of(runtime, "s") if isinstance(event, CellStarted | CellDone))
        assert isinstance(started, CellStarted)
        assert isinstance(done, CellDone)
        assert (started.code, started.role, started.cell_id) == ("6 * 7", "Planner", done.cell_id)
        assert (done.outcome, done.artifacts) == ("ok", (PLOT,))
        assert done.started_at > 0
        assert msgspec.json.decode(done.execution, type=Execution).output == "42"
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


async def test_a_kernel_that_is_lost_is_told_to_the_role_and_journalled() -> None:
    told: list[str] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        assert turn.kernel is not None
        try:
            await turn.kernel.execute("x")
        except KernelLostError as error:
            told.append(str(error))
        return turn.answer((await turn.kernel.execute("y")).outcome, USER)

    planner.needs_kernel = True
    async with running(planner, kernels=ScriptedKernels([KernelLostError("it was idle")])) as runtime:
        round_ = await (await runtime.session("s")).ask("hey")
        outcomes = [event.outcome for event in await events_of(runtime, "s") if isinstance(event, CellDone)]
    assert round_.state is RoundState.finished
    assert "variables are gone" in told[0]
    assert outcomes == ["error", "ok"]


async def test_a_kernel_that_can_not_start_fails_the_round() -> None:  # TW-81
    async with running(coding("x"), kernels=ScriptedKernels([KernelError("no room for a kernel")])) as runtime:
        round_ = await (await runtime.session()).ask("hey")
    assert (round_.state, round_.reason) == (RoundState.failed, "role_error")
    assert "no room for a kernel" in round_.detail


async def test_the_kernel_is_one_a_session_and_shared_by_its_roles() -> None:
    kernels = ScriptedKernels()
    team = [coding("a", name="A", to=None), coding("b", name="B", to=None)]

    @cast("Lead")
    async def lead(turn: Turn) -> Answer:
        steps = {USER: "A", "A": "B"}
        return turn.answer("go", steps.get(turn.post.send_from, USER))

    async with running(lead, *team, kernels=kernels) as runtime:
        one, other = await runtime.session("one"), await runtime.session("other")
        assert (await one.ask("hey")).state is RoundState.finished
        await one.ask("hey")
        await other.ask("hey")
        assert kernels.open("one", Workspace(Path("unused"))).cells == ["a", "b", "a", "b"]
        assert kernels.open("other", Workspace(Path("unused"))).cells == ["a", "b"]


async def test_a_role_that_needs_no_kernel_has_none_and_a_team_without_kernels_neither() -> None:
    seen: list[object] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen.append(turn.kernel)
        return turn.answer("done", USER)

    async with running(planner, kernels=ScriptedKernels()) as runtime:
        await (await runtime.session()).ask("hey")
    planner.needs_kernel = True
    async with running(planner, kernels=None) as runtime:
        await (await runtime.session()).ask("hey")
    assert seen == [None, None]


async def test_a_cell_that_ends_after_its_round_is_dropped_and_no_other_is_begun() -> None:
    gate, refused = Gate(), []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        if turn.post.message == "second":
            gate.opened.set()
            await asyncio.sleep(0.05)
            return turn.answer("done", USER)
        assert turn.kernel is not None
        await gate.wait_stubbornly()
        try:
            await turn.kernel.execute("too late")
        except KernelError as error:
            refused.append(str(error))
        return turn.answer("late", USER)

    planner.needs_kernel = True
    async with running(planner, kernels=ScriptedKernels([Execution("", "", True, artifacts=(PLOT,))])) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("first"))
        await gate.reached.wait()
        await session.cancel()
        await asked
        second = await session.ask("second")
        assert second.artifacts == []
        assert len(refused) == 1
        assert not [event for event in await events_of(runtime, "s") if isinstance(event, CellStarted | CellDone)]


# --- files ---------------------------------------------------------------------------------------------------


class Profiling:
    """Answers the profile cell as the sandbox would."""

    def __init__(self) -> None:
        self.cells: list[str] = []

    def __call__(self, code: str) -> Execution:
        self.cells.append(code)
        profiles = FileProfiles((FileProfile(f"file{len(self.cells)}.csv", 10, "csv", rows=len(self.cells)),))
        return Execution("", "", True, stdout=(f"file profiles: {profiles.to_json()}\n",))


async def test_files_are_profiled_by_one_cell_before_the_users_post_is_sent(tmp_path: Path) -> None:
    seen: list[str] = []

    @cast("Planner")
    async def planner(turn: Turn) -> Answer:
        seen.extend(entry.content for entry in turn.memory.get_shared_memory_entries("file_profile"))
        return turn.answer("done", USER)

    source = tmp_path / "a" / "b.txt"
    await asyncio.to_thread(write, source)
    profiling = Profiling()
    async with running(planner, kernels=ScriptedKernels([profiling, profiling]), data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        first = await session.ask("q", files=[source])
        assert first.state is RoundState.finished, first.detail
        assert first.user_query == "files added: b.txt.\nq"  # TW-83
        kinds = [type(event) for event in await events_of(runtime, "s")][:4]
        assert kinds == [RoundOpened, CellStarted, CellDone, PostSent]
        assert "b.txt" in profiling.cells[0]
        await session.ask("without a file")
        await session.ask("and another", files=[source])
        assert len(profiling.cells) == 2
        entries = [
            attachment.extra
            for each in session.rounds
            for attachment in each.post_list[0].get_attachment(AttachmentType.shared_memory_entry)
        ]
        assert [entry.scope for entry in entries] == ["conversation"] * 2  # type: ignore[union-attr]
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)
    names = [[each.name for each in FileProfiles.from_json(content).files] for content in seen]
    assert names == [["file1.csv"], ["file1.csv"], ["file1.csv", "file2.csv"]], "all files so far"


def write(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("x,y\n1,2\n", encoding="utf-8")


async def test_a_file_that_can_not_be_taken_refuses_the_question_and_the_session_goes_on(tmp_path: Path) -> None:
    async with running(coding(), kernels=ScriptedKernels(), data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        for bad in (tmp_path / "missing.csv", tmp_path, "", "a\0b", "/dev/null"):
            with pytest.raises(WorkspaceError):
                await session.ask("q", files=[bad])
        assert session.rounds == ()
        assert (await session.ask("q")).state is RoundState.finished


async def test_files_that_can_not_be_profiled_fail_the_round_with_the_reason(tmp_path: Path) -> None:
    source = tmp_path / "a" / "b.csv"
    await asyncio.to_thread(write, source)
    kernels = ScriptedKernels([Execution("", "", False, error="MemoryError: too large")])
    async with running(coding(), kernels=kernels, data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        round_ = await session.ask("q", files=[source])
        assert (round_.state, round_.reason) == (RoundState.failed, "role_error")
        assert "MemoryError: too large" in round_.detail
        assert (await session.ask("q")).state is RoundState.finished
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


async def test_cancelling_while_files_are_profiled_opens_and_closes_the_round(tmp_path: Path) -> None:
    source = tmp_path / "a" / "b.csv"
    await asyncio.to_thread(write, source)
    async with running(coding(), kernels=ScriptedKernels([Profiling()]), data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        for ticks in (0, 1, 2, 5, 10):
            asked = asyncio.create_task(session.ask("q", files=[source]))
            while not session.running:  # noqa: ASYNC110
                await asyncio.sleep(0)
            for _ in range(ticks):
                await asyncio.sleep(0)
            await session.cancel()
            assert (await asked).state is not RoundState.created
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


def profiled(*names: str) -> Execution:
    profiles = FileProfiles(tuple(FileProfile(name, 8, "csv", rows=1) for name in names))
    return Execution("", "", True, stdout=(f"file profiles: {profiles.to_json()}\n",))


class Stuck(ScriptedKernels):
    """Its cells wait for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()

    def open(self, session_id: str, workspace: Workspace, *, sandbox: bool = True) -> ScriptedKernel:
        return StuckKernel(self.gate)


class StuckKernel(ScriptedKernel):
    def __init__(self, gate: Gate) -> None:
        super().__init__((), {})
        self._gate = gate

    async def execute(self, code: str, *, timeout_s: float | None = None, traceparent: str = "") -> Execution:
        await self._gate.wait()
        return await super().execute(code, timeout_s=timeout_s, traceparent=traceparent)


def profiles_of(round_: Round) -> list[str]:
    entries = [each.extra for each in round_.post_list[0].get_attachment(AttachmentType.shared_memory_entry)]
    return [
        profile.name
        for entry in entries
        if isinstance(entry, SharedMemoryEntry)
        for profile in FileProfiles.from_json(entry.content).files
    ]


async def test_a_profile_that_was_interrupted_is_made_with_the_next_question(tmp_path: Path) -> None:
    source = tmp_path / "a" / "b.csv"
    await asyncio.to_thread(write, source)
    kernels = ScriptedKernels([KernelLostError("it died"), profiled("b.csv")])
    async with running(coding(), kernels=kernels, data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        assert (await session.ask("q", files=[source])).reason == "role_error"
        assert profiles_of(await session.ask("again")) == ["b.csv"]
        assert profiles_of(await session.ask("and again")) == [], "once"
        assert (await folded(runtime, "s")).conversation.rounds == list(session.rounds)


async def test_a_profile_that_was_cancelled_is_made_by_the_runtime_that_goes_on(tmp_path: Path) -> None:
    source = tmp_path / "a" / "b.csv"
    await asyncio.to_thread(write, source)
    store, stuck = LocalStore(), Stuck()
    async with running(coding(), store=store, kernels=stuck, data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        asked = asyncio.create_task(session.ask("q", files=[source]))
        await stuck.gate.reached.wait()
        await session.cancel()
        assert (await asked).reason == "cancelled"
    kernels = ScriptedKernels([profiled("b.csv")])
    async with running(coding(), store=store, kernels=kernels, data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        assert profiles_of(await session.ask("again")) == ["b.csv"]
        assert profiles_of(await session.ask("and again")) == [], "once"


async def test_a_file_that_ends_its_kernel_each_time_fails_one_question_and_no_other(tmp_path: Path) -> None:
    bad, good = tmp_path / "a" / "bad.csv", tmp_path / "b" / "good.csv"
    await asyncio.to_thread(write, bad)
    await asyncio.to_thread(write, good)
    died = KernelLostError("out of memory")
    async with running(
        coding(), kernels=ScriptedKernels([died, died, profiled("good.csv")]), data_dir=tmp_path
    ) as runtime:
        session = await runtime.session("s")
        assert "out of memory" in (await session.ask("q", files=[bad])).detail
        second = await session.ask("q", files=[good])
        assert second.state is RoundState.finished, second.detail
        assert profiles_of(second) == ["good.csv"]
        code = [event.code for event in await events_of(runtime, "s") if isinstance(event, CellStarted)]
        assert [("bad.csv" in each, "good.csv" in each) for each in code] == [
            (True, False),
            (True, False),
            (False, True),
        ]
        await session.ask("q")
        assert len([event for event in await events_of(runtime, "s") if isinstance(event, CellStarted)]) == 3


async def test_a_file_that_is_handed_over_again_is_looked_at_once(tmp_path: Path) -> None:
    source = tmp_path / "a" / "b.csv"
    await asyncio.to_thread(write, source)
    kernels = ScriptedKernels([KernelLostError("it died"), profiled("b.csv")])
    async with running(coding(), kernels=kernels, data_dir=tmp_path) as runtime:
        session = await runtime.session("s")
        await session.ask("q", files=[source])
        assert profiles_of(await session.ask("q", files=[source])) == ["b.csv"]
        assert sum(isinstance(event, CellStarted) for event in await events_of(runtime, "s")) == 2


# --- with a sandbox or without -------------------------------------------------------------------------------


class Sandboxes(ScriptedKernels):
    """Notes how each kernel is asked for."""

    def __init__(self, *, sandboxed: bool) -> None:
        super().__init__(sandboxed=sandboxed)
        self.asked: list[bool] = []

    def open(self, session_id: str, workspace: Workspace, *, sandbox: bool = True) -> ScriptedKernel:
        self.asked.append(sandbox)
        return super().open(session_id, workspace, sandbox=sandbox)


class Writer(ScriptedModel):
    """As an LLM: what it writes may be run."""

    writes_code = True


@pytest.mark.parametrize(
    ("sandboxed", "writes_code", "asked_for"),
    [(True, True, True), (True, False, True), (False, True, True), (False, False, False)],
)
async def test_only_a_team_whose_models_write_no_code_runs_without_a_sandbox_where_none_can_be_had(
    sandboxed: bool, writes_code: bool, asked_for: bool
) -> None:
    role = coding("x")
    role.model = Writer([]) if writes_code else ScriptedModel([])
    kernels = Sandboxes(sandboxed=sandboxed)
    async with running(role, kernels=kernels) as runtime:
        session = await runtime.session("s")
        await session.ask("one")
        await session.ask("two")
    assert kernels.asked == [asked_for] * 2, "decided once a session, for each of its cells"
