"""From a configuration to a Runtime."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import cast

from roles_runtime.apps.config import Config
from roles_runtime.apps.making import plugin
from roles_runtime.apps.roster import make_team
from roles_runtime.errors import StoreError, WorkspaceError
from roles_runtime.kernels.kernel import Kernels
from roles_runtime.runtime.coats import Coats
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team
from roles_runtime.stores.store import Store
from roles_runtime.telemetry.logs import LogTurns

NO_KERNEL = "none"
"""The kernel type of a team that runs no code."""


def make_runtime(config: Config, *, telemetry: Coats | None = None, unsafe_no_sandbox: bool = False) -> Runtime:
    """The Runtime that the configuration describes, not opened yet. The data folder is made, with mode 0700.

    Args:
        config: What the user said.
        telemetry: The coat that it wears, closed by whoever made it; see `roles_runtime.apps.tracing`.
        unsafe_no_sandbox: The user accepts, on the command line, that an LLM's code runs without a sandbox.

    Raises:
        ConfigError: something of it can not be made; the error names the key.
        WorkspaceError: the data folder can not be made.
    """
    team = make_team(config, LogTurns())
    return Runtime(
        team,
        store=make_store(config),
        telemetry=telemetry,
        kernels=make_kernels(config) if _may_run_code(team) else None,
        limits=config.limits,
        data_dir=make_data_dir(config),
        unsafe_no_sandbox=unsafe_no_sandbox,
    )


def make_store(config: Config, *, read_only: bool = False) -> Store:
    """The store of the configuration, not opened yet. See `Store.from_url`.

    Raises:
        ConfigError: it names no store.
        WorkspaceError: the data folder, where it stands, can not be made.
    """
    url = config.store
    if config.settings.store is None and not read_only:
        make_data_dir(config)
    maker = cast("type[Store]", plugin(config, ("store",), "store", url.partition(":")[0]))
    try:
        return maker.from_url(url, read_only=read_only)
    except StoreError as error:
        raise config.wrong(("store",), str(error)) from error


def make_kernels(config: Config) -> Kernels | None:
    """The kernels of the configuration, not opened yet; None where it wants none.

    Raises:
        ConfigError: no such kind is installed, or it takes other options.
    """
    settings = config.settings.kernel
    kind = settings.type
    if kind == NO_KERNEL:
        return None
    maker = cast("type[Kernels]", plugin(config, ("kernel", "type"), "kernel", kind, NO_KERNEL))
    for name in settings.options:
        if name not in inspect.signature(maker).parameters:
            raise config.wrong(("kernel", name), f"{kind!r} takes no {name!r}.")
    return maker(**settings.options)


def make_data_dir(config: Config) -> Path:
    """The data folder, made for this user alone where it is missing.

    Raises:
        WorkspaceError: it can not be made.
    """
    folder = config.data_dir
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else str(error)
        raise WorkspaceError(str(folder), f"the data folder can not be made: {problem}; name another.") from error
    return folder


def _may_run_code(team: Team) -> bool:
    # A role with a model is told what is in the user's files, and only a kernel may look into them.
    return any(role.needs_kernel or role.model is not None for role in team.roles.values())
