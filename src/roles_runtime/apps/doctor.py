"""``doctor``: looks at what the runtime needs; each line says ok, or how to mend it."""

from __future__ import annotations

import secrets
import stat
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from roles_runtime.apps.assemble import make_data_dir, make_kernels, make_store
from roles_runtime.apps.probing import Finding, model_findings, provider_findings
from roles_runtime.apps.roster import make_team
from roles_runtime.apps.text import one_line
from roles_runtime.apps.tracing import is_wanted
from roles_runtime.errors import ConfigError, RolesError
from roles_runtime.kernels.kernel import Kernels
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.telemetry import environment

if TYPE_CHECKING:
    from roles_runtime.apps.config import Config

CELL_TIMEOUT_S = 60.0
CONNECT_TIMEOUT_S = 3.0


async def examine(config: Config) -> int:
    """Prints a line for each thing; returns 0 if all are well, else 1."""
    well = True
    async for is_well, about, text in _findings(config):
        well = well and is_well
        print(f"{'ok  ' if is_well else 'FAIL'}  {about:<8}  {one_line(text, 2000)}", flush=True)
    return 0 if well else 1


async def _findings(config: Config) -> AsyncIterator[Finding]:
    yield True, "python", f"{sys.version.split()[0]} at {sys.executable}"
    async for finding in _team(config):
        yield finding
    yield await _tracing(config)
    yield _folder(config)
    store = await _store(config)
    yield store
    if store[0]:
        yield await _writing(config)
    try:
        kernels = make_kernels(config)
    except RolesError as error:
        yield False, "kernel", str(error)
        return
    if kernels is None:
        yield True, "kernel", "none is configured (kernel.type); this team runs no code."
        return
    yield await _sandbox(kernels)
    yield await _kernel(kernels)


async def _team(config: Config) -> AsyncIterator[Finding]:
    """The team, and the models that it thinks with."""
    try:
        team = make_team(config)
    except RolesError as error:
        yield False, "team", str(error)
        return
    yield True, "team", f"{', '.join(team.roles)}; {team.leader.name} leads."
    async for finding in model_findings(team.roles.values()):
        yield finding
    for finding in provider_findings(config.providers):
        yield finding


async def _tracing(config: Config) -> Finding:
    """Whether rounds are traced, and whether somebody is there who takes the traces."""
    if not is_wanted(config.settings.telemetry):
        return True, "tracing", "off; --trace or OTEL_EXPORTER_OTLP_ENDPOINT switches it on."
    try:
        if "otlp" not in environment.exporters("TRACES"):
            return True, "tracing", "on; OTEL_TRACES_EXPORTER sends nothing to a collector."
        host, port = environment.address("TRACES")
    except ConfigError as error:
        return False, "tracing", str(error)
    try:
        with anyio.fail_after(CONNECT_TIMEOUT_S):
            stream = await anyio.connect_tcp(host, port)
            await stream.aclose()
    except (OSError, TimeoutError, ValueError) as error:
        problem = str(error) or f"no answer within {CONNECT_TIMEOUT_S:g} s"
        return (
            False,
            "tracing",
            f"nobody takes traces at {host}:{port} ({problem}); start a collector, see README, Traces.",
        )
    return True, "tracing", f"on; something listens at {host}:{port}."


def _folder(config: Config) -> Finding:
    try:
        folder = make_data_dir(config)
        mode = stat.S_IMODE(folder.stat().st_mode)
    except (RolesError, OSError) as error:
        return False, "folder", str(error)
    if mode & 0o077:
        return False, "folder", f"{folder} is open to others (mode {mode:o}); close it: chmod 700 {folder}"
    return True, "folder", str(folder)


async def _store(config: Config) -> Finding:
    try:
        async with make_store(config, read_only=True) as store:
            count = len(await store.sessions())
    except RolesError as error:
        return False, "store", str(error)
    return True, "store", f"{config.store}, {count} sessions."


async def _writing(config: Config) -> Finding:
    try:
        async with make_store(config) as store:
            # A claim is written and leaves nothing; its name is new, so that doctors do not meet in it.
            await store.claim(f"doctor-{secrets.token_hex(8)}")
    except RolesError as error:
        return False, "writing", str(error)
    return True, "writing", "the store takes entries."


async def _sandbox(kernels: Kernels) -> Finding:
    try:
        walled = await to_thread.run_sync(lambda: kernels.sandboxed)
    except RolesError as error:
        return False, "sandbox", str(error)
    return (True, "sandbox", "code runs walled off.") if walled else (False, "sandbox", kernels.problem)


async def _kernel(kernels: Kernels) -> Finding:
    with tempfile.TemporaryDirectory(prefix="roles-doctor-") as folder:
        try:
            async with kernels:
                kernel = kernels.open("doctor", Workspace(Path(folder)), sandbox=kernels.sandboxed)
                with anyio.fail_after(2 * CELL_TIMEOUT_S):
                    execution = await kernel.execute("1 + 1", timeout_s=CELL_TIMEOUT_S)
        except RolesError as error:
            return False, "kernel", str(error)
        except TimeoutError:
            return False, "kernel", f"it gave no answer within {2 * CELL_TIMEOUT_S:g} s; see the logs (--verbose)."
    if execution.is_success and execution.output.strip() == "2":
        return True, "kernel", f"it computed 1 + 1 in {execution.duration_s:.2f} s."
    return False, "kernel", f"1 + 1 went wrong: {execution.error or execution.output or execution.outcome}"
