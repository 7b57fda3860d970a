"""Entry point -> object. This is the only place in the house where a string becomes code."""

from __future__ import annotations

from importlib.metadata import entry_points

from roles_runtime.errors import PluginLoadError, PluginNotFoundError

GROUPS = {
    "role": "roles_runtime.roles",
    "provider": "roles_runtime.providers",
    "middleware": "roles_runtime.middleware",
    "tool": "roles_runtime.tools",
    "store": "roles_runtime.stores",
    "transport": "roles_runtime.transports",
    "kernel": "roles_runtime.kernels",
}


def names(kind: str) -> tuple[str, ...]:
    """The names of all installed plugins of one kind, sorted.

    Args:
        kind: One of the keys of ``GROUPS``.
    """
    return tuple(sorted({point.name for point in entry_points(group=GROUPS[kind])}))


def load(kind: str, name: str) -> object:
    """Imports the plugin of that kind and name.

    The caller checks that what it gets fulfils the contract it needs; a plugin is code that the user installed.

    Raises:
        PluginNotFoundError: nothing of that name is installed.
        PluginLoadError: its import failed; the cause is chained.
    """
    for point in entry_points(group=GROUPS[kind], name=name):
        try:
            return point.load()
        except Exception as error:
            raise PluginLoadError(kind, name, f"{type(error).__name__}: {error}") from error
    raise PluginNotFoundError(kind, name, names(kind))
