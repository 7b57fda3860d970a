"""Becomes a kernel: gives up what it may not keep, finds the packages, then hands over to `shell`.

It is copied next to the kernel and runs there as a script, with the standard library alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import site
import sys

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
SIGKILL = 9


def confine(limits: dict[str, int]) -> None:
    """Lowers the resource limits, by the names that `resource` knows them by."""
    for name, value in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def yield_memory() -> None:
    """Where the machine runs out of memory, this and all it starts end first: a limit of each process bounds no sum."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")


def become(uid: int) -> None:
    """Turns from root, who set the walls up, into a user without a name and without any capability."""
    libc = ctypes.CDLL(None, use_errno=True)
    capability = 0
    while libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities could not be dropped")
    # A change of user makes /proc/self unreadable to oneself; that is for programs with secrets.
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def die_with(parent: int) -> None:
    """Outside a sandbox nothing else ends us when the runtime is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def check_company() -> None:
    """Ends where the runtime is gone: killed in the instant before the wall was bound to it, it can end nobody.

    The runtime alone reads what is written to stderr here.
    """
    reader = select.poll()
    reader.register(sys.stderr.fileno(), 0)
    if any(state & select.POLLERR for _, state in reader.poll(0)):
        os._exit(1)


def main() -> None:
    """Reads its settings, gives up its rights, becomes a kernel."""
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    check_company()
    if settings["parent"]:
        die_with(settings["parent"])
    yield_memory()
    confine(settings["limits"])
    if settings["uid"]:
        become(settings["uid"])
    os.chdir(settings["folder"])
    # Started without `site`, so that no folder but these is looked into; only what exists in here counts.
    site.sethelper()
    for folder in settings["packages"]:
        site.addsitedir(folder)
    if settings.get("probe"):
        import ipykernel  # noqa: F401

        print("ready")
        return
    here = os.path.dirname(sys.argv[0])
    sys.argv = [""]
    sys.path.insert(0, here)
    import shell  # type: ignore[import-not-found]

    sys.path.remove(here)
    shell.serve(settings["address"], settings["key"], settings["parent"])


if __name__ == "__main__":
    main()
